//! Writes trees as text: compact, in the order of the tree, with as few escapes as RFC 8259 allows.

use std::fmt::{self, Write as _};

use super::{Object, Value};

impl Value<'_> {
    /// Appends the compact text to `out`.
    pub fn write_to(&self, out: &mut String) {
        match self {
            Self::Null => out.push_str("null"),
            Self::Bool(true) => out.push_str("true"),
            Self::Bool(false) => out.push_str("false"),
            Self::Number(number) => out.push_str(number.as_str()),
            Self::String(text) => write_string(text, out),
            Self::Array(items) => {
                out.push('[');
                for (position, item) in items.iter().enumerate() {
                    if position > 0 {
                        out.push(',');
                    }
                    item.write_to(out);
                }
                out.push(']');
            }
            Self::Object(object) => object.write_to(out),
        }
    }
}

impl Value<'_> {
    /// The approximate number of bytes of the compact text, without escapes. Counting stops at `limit`.
    pub fn size_up_to(&self, limit: usize) -> usize {
        let mut size = 0;
        let mut pending = vec![self];
        while let Some(value) = pending.pop() {
            size += match value {
                Self::Null | Self::Bool(_) => 5,
                Self::Number(number) => number.as_str().len(),
                Self::String(text) => text.len() + 2,
                Self::Array(items) => {
                    pending.extend(items.iter());
                    items.len() + 2
                }
                Self::Object(members) => {
                    pending.extend(members.iter().map(|(_, value)| value));
                    members.iter().map(|(name, _)| name.len() + 4).sum::<usize>() + 2
                }
            };
            if size > limit {
                break;
            }
        }
        size
    }

    /// Appends readable text: a line for each member and item, indented by two spaces for each level.
    pub fn write_pretty_to(&self, out: &mut String) {
        self.write_indented(0, out);
    }

    fn write_indented(&self, level: usize, out: &mut String) {
        let line = |level: usize, first: bool, out: &mut String| {
            out.push_str(if first { "\n" } else { ",\n" });
            out.extend(std::iter::repeat_n("  ", level));
        };
        match self {
            Self::Array(items) if !items.is_empty() => {
                out.push('[');
                for (position, item) in items.iter().enumerate() {
                    line(level + 1, position == 0, out);
                    item.write_indented(level + 1, out);
                }
                line(level, true, out);
                out.push(']');
            }
            Self::Object(object) if !object.is_empty() => {
                out.push('{');
                for (position, (name, value)) in object.iter().enumerate() {
                    line(level + 1, position == 0, out);
                    write_string(name, out);
                    out.push_str(": ");
                    value.write_indented(level + 1, out);
                }
                line(level, true, out);
                out.push('}');
            }
            flat => flat.write_to(out),
        }
    }
}

impl Object<'_> {
    /// Appends the compact text to `out`.
    pub fn write_to(&self, out: &mut String) {
        out.push('{');
        for (position, (name, value)) in self.iter().enumerate() {
            if position > 0 {
                out.push(',');
            }
            write_string(name, out);
            out.push(':');
            value.write_to(out);
        }
        out.push('}');
    }
}

/// Appends `text` as a JSON string.
pub fn write_string(text: &str, out: &mut String) {
    out.push('"');
    let mut rest = text;
    while let Some(at) = rest.bytes().position(|byte| byte < b' ' || byte == b'"' || byte == b'\\') {
        out.push_str(&rest[..at]);
        match rest.as_bytes()[at] {
            b'"' => out.push_str("\\\""),
            b'\\' => out.push_str("\\\\"),
            b'\n' => out.push_str("\\n"),
            b'\r' => out.push_str("\\r"),
            b'\t' => out.push_str("\\t"),
            0x08 => out.push_str("\\b"),
            0x0c => out.push_str("\\f"),
            control => {
                write!(out, "\\u{control:04x}")
                    .unwrap_or_else(|fmt::Error| unreachable!("a String takes it"));
            }
        }
        rest = &rest[at + 1..];
    }
    out.push_str(rest);
    out.push('"');
}

impl fmt::Display for Value<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = String::new();
        self.write_to(&mut text);
        f.write_str(&text)
    }
}

impl fmt::Debug for Value<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Debug for Object<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = String::new();
        self.write_to(&mut text);
        f.write_str(&text)
    }
}
