//! Writes block style, as kubectl prints it.

use std::fmt::{self, Write as _};

use crate::json::Value;

use super::scalar::{self, Plain};

/// Longer keys, in bytes as written, are written on a line of their own (`? key`). Readers may limit how far
/// they search for the `:`.
const MAX_SIMPLE_KEY: usize = 128;

/// Appends `value` to `out` as one YAML document, without `---`, and with a final line break.
///
/// Indentation is two spaces per level, lists are not indented below their key, and members keep their order.
/// Strings are plain where readers of YAML 1.1 and 1.2 both take them for strings. Multi-line strings are
/// literal (`|`) where that is exact; all others are in double quotes. Numbers keep their spelling.
///
/// [`documents`](super::documents) returns the same value, except for `null`, which it skips.
pub fn write(value: &Value<'_>, out: &mut String) {
    match value {
        Value::Array(items) if !items.is_empty() => list(value, 0, false, out),
        Value::Object(object) if !object.is_empty() => map(value, 0, false, out),
        _ => {
            scalar(value, 0, out);
            out.push('\n');
        }
    }
}

/// Writes the items, each on a new line. `inline`: the first has already been indented.
fn list(value: &Value<'_>, indent: usize, inline: bool, out: &mut String) {
    for (n, item) in value.as_array().unwrap_or_default().iter().enumerate() {
        if n > 0 || !inline {
            spaces(indent, out);
        }
        out.push_str("- ");
        match item {
            Value::Array(items) if !items.is_empty() => list(item, indent + 2, true, out),
            Value::Object(object) if !object.is_empty() => map(item, indent + 2, true, out),
            _ => {
                scalar(item, indent, out);
                out.push('\n');
            }
        }
    }
}

/// Writes the members, each on a new line. `inline`: the first has already been indented.
fn map(value: &Value<'_>, indent: usize, inline: bool, out: &mut String) {
    let Value::Object(object) = value else { return };
    for (n, (name, member)) in object.iter().enumerate() {
        if n > 0 || !inline {
            spaces(indent, out);
        }
        key(name, indent, out);
        match member {
            Value::Array(items) if !items.is_empty() => {
                out.push('\n');
                list(member, indent, false, out);
            }
            Value::Object(members) if !members.is_empty() => {
                out.push('\n');
                map(member, indent + 2, false, out);
            }
            _ => {
                out.push(' ');
                scalar(member, indent, out);
                out.push('\n');
            }
        }
    }
}

fn key(name: &str, indent: usize, out: &mut String) {
    let start = out.len();
    line(name, out);
    if out.len() - start > MAX_SIMPLE_KEY {
        out.insert_str(start, "? ");
        out.push('\n');
        spaces(indent, out);
    }
    out.push(':');
}

/// Writes a scalar, or an empty list or map. `indent` is that of its line.
fn scalar(value: &Value<'_>, indent: usize, out: &mut String) {
    match value {
        Value::Null => out.push_str("null"),
        Value::Bool(flag) => out.push_str(if *flag { "true" } else { "false" }),
        Value::Number(number) => out.push_str(number.as_str()),
        Value::String(text) if is_literal(text) => literal(text, indent + 2, out),
        Value::String(text) => line(text, out),
        Value::Array(_) => out.push_str("[]"),
        Value::Object(_) => out.push_str("{}"),
    }
}

/// Writes a string on one line.
fn line(text: &str, out: &mut String) {
    if is_plain(text) {
        out.push_str(text);
    } else {
        quoted(text, out);
    }
}

/// Writes `|` and the lines of `text`, without the last line break, which the caller writes.
fn literal(text: &str, indent: usize, out: &mut String) {
    let body = text.strip_suffix('\n');
    out.push_str(match body {
        None => "|-",
        Some(body) if body.ends_with('\n') => "|+",
        Some(_) => "|",
    });
    for line in body.unwrap_or(text).split('\n') {
        out.push('\n');
        if !line.is_empty() {
            spaces(indent, out);
            out.push_str(line);
        }
    }
}

/// Whether `text` has several lines and can be written exactly as a literal scalar for all readers.
fn is_literal(text: &str) -> bool {
    text.contains('\n')
        && !text.starts_with([' ', '\n'])
        && text.chars().all(|c| c == '\n' || is_printable(c))
        // Readers differ in lines that have only spaces.
        && text.split('\n').all(|line| line.is_empty() || !line.trim_matches(' ').is_empty())
}

/// Whether `text` needs no quotes: it is one line without characters that have a meaning in YAML, and no
/// reader takes it for a number, a boolean, null or a date.
fn is_plain(text: &str) -> bool {
    let (Some(first), Some(last)) = (text.chars().next(), text.chars().next_back()) else {
        return false;
    };
    let second = text.chars().nth(1);
    let starts_well = match first {
        ' ' | ',' | '[' | ']' | '{' | '}' | '#' | '&' | '*' | '!' | '|' | '>' | '\'' | '"' | '%' | '@'
        | '`' => false,
        '-' | '?' | ':' => second.is_some_and(|c| c != ' '),
        _ => true,
    };
    starts_well
        && last != ' '
        && last != ':'
        && text.chars().all(is_printable)
        && !text.contains(": ")
        && !text.contains(" #")
        && !text.starts_with("---")
        && !text.starts_with("...")
        && !looks_typed(text)
}

/// Whether all readers accept the character unescaped.
fn is_printable(c: char) -> bool {
    !c.is_control() && !matches!(c, '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}')
}

/// Whether some reader takes the plain `text` for something other than a string. May be true for other text
/// too.
fn looks_typed(text: &str) -> bool {
    const WORDS: [&str; 17] = [
        "y", "n", "yes", "no", "on", "off", "true", "false", "null", "~", "=", "<<", ".nan", ".inf", "+.inf",
        "-.inf", "none",
    ];
    scalar::resolve(text) != Plain::Text
        || WORDS.iter().any(|word| text.eq_ignore_ascii_case(word))
        || scalar::is_date(text)
        || is_odd_number(text)
}

/// Numbers that only some readers accept: with underscores anywhere (`1_0.5_0`), and of base 60 (`12:30`).
fn is_odd_number(text: &str) -> bool {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let (whole, fraction) = unsigned.split_once('.').unwrap_or((unsigned, ""));
    unsigned.starts_with(|c: char| c.is_ascii_digit() || c == '.')
        && whole.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'_' | b':'))
        && fraction.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'_' | b'e' | b'E' | b'+' | b'-'))
        || ["0x", "0o", "0b"].iter().any(|prefix| {
            let rest =
                unsigned.get(..2).filter(|start| start.eq_ignore_ascii_case(prefix)).map(|_| &unsigned[2..]);
            rest.is_some_and(|rest| rest.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'_'))
        })
}

/// Writes `text` in double quotes, with the escapes of JSON, which are valid in YAML.
fn quoted(text: &str, out: &mut String) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            _ if is_printable(c) => out.push(c),
            // Characters that are not printable are all in the basic multilingual plane, so four digits are
            // enough.
            _ => write!(out, "\\u{:04x}", u32::from(c))
                .unwrap_or_else(|fmt::Error| unreachable!("a String takes it")),
        }
    }
    out.push('"');
}

fn spaces(count: usize, out: &mut String) {
    out.extend(std::iter::repeat_n(' ', count));
}
