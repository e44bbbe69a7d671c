//! The log: its format, its filter and how it reaches stderr.
//!
//! Lines are formatted by [`tracing_subscriber`] with an event format of our own (`line`) and written by the
//! thread of [`tracing_appender`], so that a stderr that is not read holds up no request. Lines beyond
//! `QUEUED_LINES` are dropped, and a line says how many (`stderr`). Bodies of requests are never logged: they
//! may hold secrets. Modules log with `tracing`; only the command line calls [`init`].

mod line;
mod stderr;

use std::io::IsTerminal as _;
use std::str::FromStr;
use std::{fmt, panic};

use tracing::{Subscriber, error};
use tracing_appender::non_blocking::NonBlockingBuilder;
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::fmt::time::{FormatTime, SystemTime};
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::{SubscriberInitExt as _, TryInitError};

use self::line::Line;
pub use self::stderr::LogGuard;
use self::stderr::Stderr;

/// How many lines wait for stderr at most.
const QUEUED_LINES: usize = 8192;

/// The format of the log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LogFormat {
    /// `TIME LEVEL MESSAGE FIELD=VALUE ...`.
    #[default]
    Text,
    /// One JSON object a line, with the fields as members beside `message`.
    Json,
}

impl FromStr for LogFormat {
    type Err = LogOptionError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "text" => Ok(Self::Text),
            "json" => Ok(Self::Json),
            _ => Err(LogOptionError(format!("failed to parse {text:?} as a log format: it is text or json"))),
        }
    }
}

/// Which events are logged: a level, or directives such as `info,reviser=debug`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogFilter(String);

impl Default for LogFilter {
    fn default() -> Self {
        Self("info".to_owned())
    }
}

impl FromStr for LogFilter {
    type Err = LogOptionError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let directives: Vec<&str> =
            text.split(',').map(str::trim).filter(|directive| !directive.is_empty()).collect();
        if directives.is_empty() {
            return Err(LogOptionError("failed to parse a log level: it is empty".to_owned()));
        }
        for directive in &directives {
            match directive.split_once('=') {
                // `Targets` takes a word that is no level for a target.
                None if directive.parse::<LevelFilter>().is_err() => {
                    return Err(LogOptionError(format!(
                        "{directive:?} is not a level; use off, error, warn, info, debug or trace, or \
                         {directive}=debug for a target"
                    )));
                }
                Some((_, "")) => {
                    return Err(LogOptionError(format!(
                        "failed to parse {text:?} as a log level: a level is missing after `=`"
                    )));
                }
                None | Some(_) => {}
            }
        }
        let directives = directives.join(",");
        match directives.parse::<Targets>() {
            Ok(_) => Ok(Self(directives)),
            Err(error) => Err(LogOptionError(format!("failed to parse {text:?} as a log level: {error}"))),
        }
    }
}

impl fmt::Display for LogFilter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A log format or filter that cannot be parsed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct LogOptionError(String);

/// A log has been set up in this process before.
#[derive(Debug, thiserror::Error)]
#[error("failed to set up the log")]
pub struct InitError(#[source] TryInitError);

/// Sets up the log of the process and a panic hook that logs. Hold the guard until the process ends.
///
/// Text has colours if stderr is a terminal and `NO_COLOR` is empty or not set.
pub fn init(format: LogFormat, filter: &LogFilter) -> Result<LogGuard, InitError> {
    let no_color = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    let line = Line { format, colour: std::io::stderr().is_terminal() && !no_color, timer: SystemTime };
    let (stderr, drops) = Stderr::new();
    let builder = NonBlockingBuilder::default().lossy(true).buffered_lines_limit(QUEUED_LINES);
    let (writer, worker) = builder.thread_name("log").finish(stderr);
    drops.watch(writer.error_counter());
    let guard = LogGuard::new(worker, drops);
    subscriber(filter, line, writer).try_init().map_err(InitError)?;
    panic::set_hook(Box::new(|panic| {
        let payload = panic.payload_as_str().unwrap_or("no message");
        let location = panic.location().map(ToString::to_string).unwrap_or_default();
        error!(payload, location, "panic");
    }));
    Ok(guard)
}

/// `kube` logs errors that it also returns. reviser logs those once. A directive for one of these targets
/// wins.
const QUIET: &str = "kube_client=off,kube_runtime=off";

fn subscriber<T, W>(filter: &LogFilter, line: Line<T>, writer: W) -> impl Subscriber + Send + Sync + 'static
where
    T: FormatTime + Send + Sync + 'static,
    W: for<'w> MakeWriter<'w> + Send + Sync + 'static,
{
    let filter: Targets = format!("{QUIET},{}", filter.0).parse().unwrap_or_default();
    let layer = tracing_subscriber::fmt::layer().with_ansi(false).event_format(line).with_writer(writer);
    tracing_subscriber::registry().with(filter).with(layer)
}

#[cfg(test)]
mod tests;
