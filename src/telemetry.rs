//! The log: where it goes, what it looks like, and what gets into it.
//!
//! Events are written to stderr, one line each, in one write, by the thread that they are from: what the log
//! of a process that died ends with is what it did last. Bodies of requests never get into it; they may hold
//! secrets. Who logs uses `tracing` alone; only the composition root calls [`init`].

use std::{fmt, io::IsTerminal as _, panic, str::FromStr};

use tracing::error;
use tracing_subscriber::{
    EnvFilter, filter::LevelFilter, fmt::MakeWriter, layer::SubscriberExt as _, util::SubscriberInitExt as _,
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

/// Sets up the log of the process, and has panics told in it.
///
/// Text is coloured if stderr is a terminal and `NO_COLOR` is not set to anything.
pub fn init(format: LogFormat, filter: &LogFilter) -> Result<(), InitError> {
    let no_color = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    let colour = std::io::stderr().is_terminal() && !no_color;
    subscriber(format, filter, colour, std::io::stderr).try_init().map_err(InitError)?;
    panic::set_hook(Box::new(|panic| {
        let message = panic.payload_as_str().unwrap_or("no message");
        let location = panic.location().map(ToString::to_string).unwrap_or_default();
        error!(message, location, "panic");
    }));
    Ok(())
}

fn subscriber<W>(
    format: LogFormat,
    filter: &LogFilter,
    colour: bool,
    writer: W,
) -> Box<dyn tracing::Subscriber + Send + Sync>
where
    W: for<'w> MakeWriter<'w> + Send + Sync + 'static,
{
    let lines = tracing_subscriber::fmt::layer().with_writer(writer);
    let registry = tracing_subscriber::registry().with(EnvFilter::new(&filter.0));
    match format {
        LogFormat::Text => Box::new(registry.with(lines.with_ansi(colour))),
        LogFormat::Json => Box::new(registry.with(lines.json().flatten_event(true).with_current_span(false))),
    }
}

#[cfg(test)]
mod tests {
    use std::{
        io,
        sync::{Arc, Mutex},
    };

    use tracing::{debug, info, subscriber::with_default};

    use super::*;

    #[derive(Clone, Default)]
    struct Lines(Arc<Mutex<Vec<u8>>>);

    impl Lines {
        fn text(&self) -> String {
            String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
        }
    }

    impl io::Write for Lines {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().map_err(|_poisoned| io::ErrorKind::Other)?.extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn logged(format: LogFormat, filter: &str, colour: bool) -> String {
        let lines = Lines::default();
        let writer = lines.clone();
        let subscriber = subscriber(format, &filter.parse().unwrap(), colour, move || writer.clone());
        with_default(subscriber, || {
            info!(uid = "a-1", "answered");
            debug!("not for everybody");
        });
        lines.text()
    }

    #[test]
    fn text_is_plain_unless_it_may_be_coloured() {
        let plain = logged(LogFormat::Text, "info", false);
        assert!(plain.contains("INFO") && plain.ends_with("answered uid=\"a-1\"\n"), "{plain}");
        assert!(!plain.contains('\u{1b}'));
        assert!(logged(LogFormat::Text, "info", true).contains('\u{1b}'));
    }

    #[test]
    fn json_has_the_fields_beside_the_message() {
        let line = logged(LogFormat::Json, "info", false);
        let event: serde_json::Value = serde_json::from_str(&line).unwrap();
        assert_eq!(event["message"], "answered");
        assert_eq!(event["uid"], "a-1");
        assert_eq!(event["level"], "INFO");
    }

    #[test]
    fn the_filter_takes_levels_and_directives() {
        assert!(!logged(LogFormat::Text, "info", false).contains("not for everybody"));
        assert!(logged(LogFormat::Text, "error,reviser=debug", false).contains("not for everybody"));
        assert_eq!(logged(LogFormat::Text, "off", false), "");
        for wrong in ["", "reviser=loud", "info,=,", "loud", "info,reviser"] {
            assert!(wrong.parse::<LogFilter>().is_err(), "{wrong}");
        }
        assert!("yaml".parse::<LogFormat>().is_err());
    }
}
