//! The format of a line of the log.
//!
//! An event is one line whatever its values hold. In JSON they are escaped by the rules of JSON. In text a
//! value that is not a plain word is quoted, and control characters are escaped everywhere. Spans are not
//! shown.

use std::borrow::Cow;
use std::error::Error;
use std::fmt::{self, Debug, Write as _};

use tracing::field::{Field, Visit};
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::fmt::format::{FormatEvent, FormatFields, Writer};
use tracing_subscriber::fmt::{FmtContext, time::FormatTime};
use tracing_subscriber::registry::LookupSpan;

use super::LogFormat;
use crate::json::write_string;

const MESSAGE: &str = "message";
const RESET: &str = "\u{1b}[0m";
const DIM: &str = "\u{1b}[2m";

/// Formats an event as one line.
pub(super) struct Line<T> {
    pub(super) format: LogFormat,
    /// Whether text has colours. JSON has none.
    pub(super) colour: bool,
    pub(super) timer: T,
}

impl<T, S, N> FormatEvent<S, N> for Line<T>
where
    T: FormatTime,
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
{
    fn format_event(&self, _: &FmtContext<'_, S, N>, mut line: Writer<'_>, event: &Event<'_>) -> fmt::Result {
        let mut fields = Fields { format: self.format, message: None, text: String::new() };
        event.record(&mut fields);
        match self.format {
            LogFormat::Json => self.json(&mut line, event, &fields),
            LogFormat::Text => self.text(&mut line, event, &fields),
        }
    }
}

impl<T: FormatTime> Line<T> {
    fn json(&self, line: &mut Writer<'_>, event: &Event<'_>, fields: &Fields) -> fmt::Result {
        let metadata = event.metadata();
        line.write_str("{\"timestamp\":\"")?;
        self.timer.format_time(line)?;
        write!(line, "\",\"level\":\"{}\",\"target\":{}", metadata.level(), json_string(metadata.target()))?;
        if let Some(message) = &fields.message {
            write!(line, ",\"message\":{}", json_string(message))?;
        }
        writeln!(line, "{}}}", fields.text)
    }

    fn text(&self, line: &mut Writer<'_>, event: &Event<'_>, fields: &Fields) -> fmt::Result {
        let level = *event.metadata().level();
        let (dim, bright, reset) = if self.colour { (DIM, colour(level), RESET) } else { ("", "", "") };
        line.write_str(dim)?;
        self.timer.format_time(line)?;
        write!(line, "{reset} {}{bright}{level}{reset}", if level.as_str().len() == 4 { " " } else { "" })?;
        if let Some(message) = &fields.message {
            let plain = !message.chars().any(misleads);
            write!(line, " {}", if plain { Cow::Borrowed(message) } else { Cow::Owned(escaped(message)) })?;
        }
        writeln!(line, "{}", fields.text)
    }
}

fn colour(level: Level) -> &'static str {
    match level {
        Level::ERROR => "\u{1b}[31m",
        Level::WARN => "\u{1b}[33m",
        Level::INFO => "\u{1b}[32m",
        Level::DEBUG => "\u{1b}[34m",
        Level::TRACE => "\u{1b}[35m",
    }
}

/// The message of an event, and the other fields as they are written.
struct Fields {
    format: LogFormat,
    message: Option<String>,
    text: String,
}

impl Fields {
    /// Writes a number or a boolean, which JSON does not quote.
    fn bare(&mut self, field: &Field, value: &dyn fmt::Display) {
        let value = shown(format_args!("{value}"));
        match (self.format, field.name()) {
            (LogFormat::Json, name) if name != MESSAGE => self.named(name, &value),
            _ => self.string(field, &value),
        }
    }

    fn string(&mut self, field: &Field, value: &str) {
        let name = field.name();
        if name == MESSAGE && self.message.is_none() {
            self.message = Some(value.to_owned());
            return;
        }
        match self.format {
            LogFormat::Json => self.named(name, &json_string(value)),
            LogFormat::Text => self.named(name, &word(value)),
        }
    }

    fn named(&mut self, name: &str, value: &str) {
        // `r#type` is how Rust spells a field whose name is a keyword.
        let name = name.strip_prefix("r#").unwrap_or(name);
        let text = &mut self.text;
        text.push_str(if self.format == LogFormat::Json { "," } else { " " });
        match self.format {
            LogFormat::Json if matches!(name, "timestamp" | "level" | "target" | MESSAGE) => {
                text.push_str(&json_string(&format!("field.{name}")));
            }
            LogFormat::Json => text.push_str(&json_string(name)),
            LogFormat::Text => text.push_str(&word(name)),
        }
        text.push_str(if self.format == LogFormat::Json { ":" } else { "=" });
        text.push_str(value);
    }
}

impl Visit for Fields {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.string(field, &shown(format_args!("{value:?}")));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.string(field, value);
    }

    fn record_error(&mut self, field: &Field, value: &(dyn Error + 'static)) {
        let mut chain = shown(format_args!("{value}"));
        let mut cause = value.source();
        while let Some(error) = cause {
            chain.push_str(&shown(format_args!(": {error}")));
            cause = error.source();
        }
        self.string(field, &chain);
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.bare(field, &value);
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.bare(field, &value);
    }

    fn record_i128(&mut self, field: &Field, value: i128) {
        self.bare(field, &value);
    }

    fn record_u128(&mut self, field: &Field, value: u128) {
        self.bare(field, &value);
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.bare(field, &value);
    }

    fn record_f64(&mut self, field: &Field, value: f64) {
        if value.is_finite() {
            self.bare(field, &format_args!("{value:?}"));
        } else {
            // JSON has no number for it.
            self.record_debug(field, &value);
        }
    }
}

/// What a value prints of itself, up to where it reports an error.
fn shown(value: fmt::Arguments<'_>) -> String {
    let mut text = String::new();
    let _ = text.write_fmt(value);
    text
}

fn json_string(text: &str) -> String {
    let mut string = String::with_capacity(text.len() + 2);
    write_string(text, &mut string);
    string
}

/// `text`, in quotes unless it is a plain word.
fn word(text: &str) -> String {
    let plain = |character: char| !matches!(character, ' ' | '"' | '=' | '\\') && !misleads(character);
    if text.is_empty() || !text.chars().all(plain) {
        format!("\"{}\"", escaped(text))
    } else {
        text.to_owned()
    }
}

/// `text` with escapes for quotes, backslashes, line ends and other control characters.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '"' | '\\' => escaped.extend(['\\', character]),
            '\n' => escaped.push_str("\\n"),
            '\r' => escaped.push_str("\\r"),
            '\t' => escaped.push_str("\\t"),
            _ if misleads(character) => escaped.extend(character.escape_unicode()),
            _ => escaped.push(character),
        }
    }
    escaped
}

/// Whether a terminal or an editor may act on the character: end the line, move the cursor, turn the
/// direction of writing.
fn misleads(character: char) -> bool {
    character.is_control()
        || matches!(character, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}
