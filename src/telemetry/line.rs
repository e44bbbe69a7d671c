//! What a line of the log looks like, and the layer that makes one of each event.
//!
//! Whatever the values hold, an event is one line: in JSON by the rules of JSON, in text because a value that
//! holds anything but plain words is quoted, and control characters are escaped everywhere. Spans are not told
//! of; what an event has to say, it has in its own fields.

use std::{
    cell::Cell,
    error::Error,
    fmt::{self, Write as _},
    sync::Arc,
    time::SystemTime,
};

use tracing::{
    Event, Level, Subscriber,
    field::{Field, Visit},
};
use tracing_subscriber::layer::{Context, Layer};

use super::{LogFormat, stamp::Stamp, writer::Writer};
use crate::json::write_string;

/// What a thread keeps between its lines. A line that needed more room than this does not keep it.
const KEPT_BYTES: usize = 16 * 1024;

const MESSAGE: &str = "message";

thread_local! {
    static SCRATCH: Cell<Scratch> = Cell::default();
}

/// Taken out while a line is being made, so that a value which logs while it is written finds a fresh one.
#[derive(Default)]
struct Scratch {
    line: String,
    stamp: Stamp,
}

/// What all lines have in common.
#[derive(Clone, Copy)]
pub(super) struct Look {
    pub(super) format: LogFormat,
    /// Whether text has colours. JSON has none.
    pub(super) colour: bool,
    pub(super) clock: fn() -> SystemTime,
}

/// Makes a line of each event.
pub(super) struct Lines {
    pub(super) look: Look,
    pub(super) writer: Arc<Writer>,
}

impl<S: Subscriber> Layer<S> for Lines {
    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        // A thread that is about to end may have no scratch any more, but still something to say.
        let mut scratch = SCRATCH.try_with(Cell::take).unwrap_or_default();
        scratch.line.clear();
        self.look.write(event, &mut scratch);
        self.writer.line(&scratch.line, *event.metadata().level() <= Level::WARN);
        if scratch.line.capacity() > KEPT_BYTES {
            scratch.line = String::new();
        }
        let _ = SCRATCH.try_with(|kept| kept.set(scratch));
    }
}

impl Look {
    /// The line that stands for `count` others that there was no room for.
    pub(super) fn dropped(self, count: u64) -> String {
        let mut scratch = Scratch::default();
        self.write_head(Level::WARN, module_path!(), &mut scratch);
        let mut line = scratch.line;
        match self.format {
            LogFormat::Json => append(
                &mut line,
                format_args!(",\"message\":\"dropped lines of the log\",\"count\":{count}}}\n"),
            ),
            LogFormat::Text => append(&mut line, format_args!(" dropped lines of the log count={count}\n")),
        }
        line
    }

    fn write(self, event: &Event<'_>, scratch: &mut Scratch) {
        self.write_head(*event.metadata().level(), event.metadata().target(), scratch);
        let line = &mut scratch.line;
        let head = line.len();
        event.record(&mut Fields { line, format: self.format, head, has_message: false });
        line.push_str(if self.format == LogFormat::Json { "}\n" } else { "\n" });
    }

    /// Writes what is before the message and the fields.
    fn write_head(self, level: Level, target: &str, scratch: &mut Scratch) {
        let Scratch { line, stamp } = scratch;
        match self.format {
            LogFormat::Json => {
                line.push_str("{\"timestamp\":\"");
                stamp.write((self.clock)(), line);
                line.push_str("\",\"level\":\"");
                line.push_str(level.as_str());
                line.push_str("\",\"target\":");
                write_string(target, line);
            }
            LogFormat::Text => {
                let (dim, bright, plain) =
                    if self.colour { ("\u{1b}[2m", colour(level), "\u{1b}[0m") } else { ("", "", "") };
                line.push_str(dim);
                stamp.write((self.clock)(), line);
                line.push_str(plain);
                line.push_str(if level.as_str().len() == 4 { "  " } else { " " });
                line.push_str(bright);
                line.push_str(level.as_str());
                line.push_str(plain);
            }
        }
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

/// Writes the fields of an event to its line.
struct Fields<'l> {
    line: &'l mut String,
    format: LogFormat,
    /// Where the fields begin, and in text the message goes.
    head: usize,
    has_message: bool,
}

impl Fields<'_> {
    /// Writes a number or a boolean, which look the same everywhere.
    fn bare(&mut self, field: &Field, value: fmt::Arguments<'_>) {
        match (self.format, name(field)) {
            // Whatever it is, the message is text.
            (_, MESSAGE) => return self.string(field, |line| append(line, value)),
            (LogFormat::Json, name) => self.json_name(name),
            (LogFormat::Text, name) => self.text_name(name),
        }
        append(self.line, value);
    }

    /// Writes what `write` appends to the line as a string.
    fn string(&mut self, field: &Field, write: impl FnOnce(&mut String)) {
        let name = name(field);
        let message = name == MESSAGE && !self.has_message;
        match self.format {
            LogFormat::Json => {
                self.json_name(name);
                json_string(self.line, write);
            }
            LogFormat::Text if message => self.text_message(write),
            LogFormat::Text => {
                self.text_name(name);
                text_string(self.line, write);
            }
        }
        self.has_message |= message;
    }

    fn json_name(&mut self, name: &str) {
        let taken = is_key(name) && (name != MESSAGE || self.has_message);
        self.line.push(',');
        json_string(self.line, |line| {
            if taken {
                line.push_str("field.");
            }
            line.push_str(name);
        });
        self.line.push(':');
    }

    fn text_name(&mut self, name: &str) {
        self.line.push(' ');
        text_string(self.line, |line| line.push_str(name));
        self.line.push('=');
    }

    /// Writes the message before the fields, wherever it is among them.
    fn text_message(&mut self, write: impl FnOnce(&mut String)) {
        let fields = self.line.split_off(self.head);
        self.line.push(' ');
        let start = self.line.len();
        write(self.line);
        if !is_printable(&self.line[start..]) {
            let raw = self.line.split_off(start);
            text_escape(&raw, self.line);
        }
        self.line.push_str(&fields);
    }
}

/// The name of a field, without what Rust needs to take a keyword for a name.
fn name(field: &Field) -> &'static str {
    let name = field.name();
    name.strip_prefix("r#").unwrap_or(name)
}

/// Whether a JSON line has a key of its own of this name, or one that a field of that name was given instead.
/// So what looks as if it had got a prefix gets another, and no two names ever become one.
fn is_key(mut name: &str) -> bool {
    while let Some(rest) = name.strip_prefix("field.") {
        name = rest;
    }
    matches!(name, "timestamp" | "level" | "target" | MESSAGE)
}

impl Visit for Fields<'_> {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.string(field, |line| append(line, format_args!("{value:?}")));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.string(field, |line| line.push_str(value));
    }

    fn record_error(&mut self, field: &Field, value: &(dyn Error + 'static)) {
        self.string(field, |line| {
            append(line, format_args!("{value}"));
            let mut cause = value.source();
            while let Some(error) = cause {
                append(line, format_args!(": {error}"));
                cause = error.source();
            }
        });
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.bare(field, format_args!("{value}"));
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.bare(field, format_args!("{value}"));
    }

    fn record_i128(&mut self, field: &Field, value: i128) {
        self.bare(field, format_args!("{value}"));
    }

    fn record_u128(&mut self, field: &Field, value: u128) {
        self.bare(field, format_args!("{value}"));
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.bare(field, format_args!("{value}"));
    }

    fn record_f64(&mut self, field: &Field, value: f64) {
        if value.is_finite() {
            self.bare(field, format_args!("{value:?}"));
        } else {
            // JSON has no number for it.
            self.record_debug(field, &value);
        }
    }
}

/// Appends what a value says of itself. If it fails to, the line goes on after what it did say.
fn append(line: &mut String, value: fmt::Arguments<'_>) {
    let _ = line.write_fmt(value);
}

/// Appends what `write` appends as a JSON string.
fn json_string(line: &mut String, write: impl FnOnce(&mut String)) {
    let start = line.len();
    line.push('"');
    write(line);
    // Few values need an escape, so they are written in place and looked at afterwards.
    if has(&line[start + 1..], |byte| byte < b' ' || byte == b'"' || byte == b'\\') {
        let raw = line.split_off(start);
        write_string(&raw[1..], line);
    } else {
        line.push('"');
    }
}

/// Appends what `write` appends, in quotes if that is more than a plain word.
fn text_string(line: &mut String, write: impl FnOnce(&mut String)) {
    let start = line.len();
    write(line);
    let word = &line[start..];
    let plain = !word.is_empty() && !has(word, |byte| matches!(byte, b' ' | b'"' | b'=' | b'\\'));
    if !plain || !is_printable(word) {
        let raw = line.split_off(start);
        line.push('"');
        text_escape(&raw, line);
        line.push('"');
    }
}

fn text_escape(text: &str, line: &mut String) {
    for character in text.chars() {
        match character {
            '"' | '\\' => line.extend(['\\', character]),
            '\n' => line.push_str("\\n"),
            '\r' => line.push_str("\\r"),
            '\t' => line.push_str("\\t"),
            _ if misleads(character) => line.extend(character.escape_unicode()),
            _ => line.push(character),
        }
    }
}

fn is_printable(text: &str) -> bool {
    !has(text, |byte| !matches!(byte, b' '..=b'~')) || !text.chars().any(misleads)
}

/// Whether one of the bytes is `such`. Without an early end, so that many bytes are looked at in one step.
fn has(text: &str, such: impl Fn(u8) -> bool) -> bool {
    text.bytes().fold(0, |found, byte| found | u8::from(such(byte))) != 0
}

/// Whether a terminal or an editor could do something else with it than to show it: end the line, turn the
/// direction of writing, move the cursor.
fn misleads(character: char) -> bool {
    character.is_control()
        || matches!(character, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}
