//! The log: where it goes, what it looks like, and what gets into it.
//!
//! Every request is told of, so a line has to be cheap: lines are made without the layers of a general
//! formatter, and written by a thread that does nothing else, in batches while there are many (`writer`). A
//! log that nobody reads never holds anybody up: lines that find no room are dropped, and a line says how
//! many. A process that is killed by SIGKILL loses the lines of its last 20 ms; one that ends, also by a panic,
//! loses nothing that stderr takes within a second. Bodies of requests never get into the log; they may hold
//! secrets. Who logs uses `tracing` alone; only the composition root calls [`init`]. Spans are not told of.

mod line;
mod stamp;
mod writer;

use std::{fmt, io::IsTerminal as _, panic, str::FromStr, sync::Arc, time::SystemTime};

use tracing::error;
use tracing_subscriber::{
    EnvFilter, filter::LevelFilter, layer::SubscriberExt as _, util::SubscriberInitExt as _,
};

use self::{
    line::{Lines, Look},
    writer::Writer,
};

/// What a line of the log looks like.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LogFormat {
    /// For people.
    #[default]
    Text,
    /// One JSON object a line, fields beside the message.
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

/// Which events get into the log: a level, or directives such as `info,reviser=debug`.
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
        // A word alone would be a target, of which everything is logged and of nothing else anything.
        let word = |directive: &&str| !directive.is_empty() && !directive.contains(['=', '[']);
        let mut words = text.split(',').map(str::trim).filter(word);
        if let Some(word) = words.find(|word| word.parse::<LevelFilter>().is_err()) {
            return Err(LogOptionError(format!(
                "{word:?} is no level; use off, error, warn, info, debug or trace, or {word}=debug for a target"
            )));
        }
        if text.split(',').any(|directive| directive.trim().ends_with('=')) {
            return Err(LogOptionError(format!(
                "failed to parse {text:?} as a log level: a level is missing after `=`"
            )));
        }
        match EnvFilter::builder().parse(text) {
            Ok(_) if !text.trim().is_empty() => Ok(Self(text.to_owned())),
            Ok(_) => Err(LogOptionError("failed to parse a log level: it is empty".to_owned())),
            Err(error) => Err(LogOptionError(format!("failed to parse {text:?} as a log level: {error}"))),
        }
    }
}

impl fmt::Display for LogFilter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Why an option of the log can't be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct LogOptionError(String);

/// There is a log already.
#[derive(Debug, thiserror::Error)]
#[error("failed to set up the log")]
pub struct InitError(#[source] tracing_subscriber::util::TryInitError);

/// Keeps the log from being cut off: to drop this waits until all lines are written, and so does every later
/// line. Neither waits for more than a second, or for a stderr that was waited for in vain before.
///
/// To be held until the process ends.
#[must_use = "without it the last lines are lost, or every line is waited for"]
pub struct LogGuard(Arc<Writer>);

impl fmt::Debug for LogGuard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LogGuard").finish_non_exhaustive()
    }
}

impl Drop for LogGuard {
    fn drop(&mut self) {
        self.0.close();
    }
}

/// Sets up the log of the process, and has panics told in it.
///
/// Text is coloured if stderr is a terminal and `NO_COLOR` is not set to anything.
pub fn init(format: LogFormat, filter: &LogFilter) -> Result<LogGuard, InitError> {
    let no_color = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    let colour = std::io::stderr().is_terminal() && !no_color;
    let look = Look { format, colour, clock: SystemTime::now };
    let writer = Writer::new(std::io::stderr(), look);
    let guard = LogGuard(Arc::clone(&writer));
    subscriber(filter, Lines { look, writer }).try_init().map_err(InitError)?;
    panic::set_hook(Box::new(|panic| {
        let payload = panic.payload_as_str().unwrap_or("no message");
        let location = panic.location().map(ToString::to_string).unwrap_or_default();
        // An error does not wait for others. If this ends the process, its guard waits for the line.
        error!(payload, location, "panic");
    }));
    Ok(guard)
}

/// Libraries whose warnings come to us as errors, which we log ourselves, once each. A directive for one of them wins.
const QUIET: &str = "kube_client=off,kube_runtime=off";

fn subscriber(filter: &LogFilter, lines: Lines) -> impl tracing::Subscriber + Send + Sync + 'static {
    let directives = format!("{QUIET},{}", filter.0);
    tracing_subscriber::registry().with(EnvFilter::new(directives)).with(lines)
}

#[cfg(test)]
mod tests;
