//! Resolves scalars: the types of plain scalars, tags, and the text of keys.

use saphyr_parser::Tag;

use crate::json::{Number, Value};

use super::YamlErrorKind;

/// The prefix of YAML's own tags, `!!` in short.
const CORE: &str = "tag:yaml.org,2002:";

/// The type of a plain scalar.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Plain {
    Null,
    Bool(bool),
    /// A number, in JSON's spelling.
    Number(Number<'static>),
    /// Infinity or not-a-number.
    NotFinite,
    Text,
}

/// The type of the plain scalar `text`, by the rules of go-yaml v2, which are close to YAML 1.1.
pub(super) fn resolve(text: &str) -> Plain {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => Plain::Null,
        "y" | "Y" | "yes" | "Yes" | "YES" | "on" | "On" | "ON" | "true" | "True" | "TRUE" => {
            Plain::Bool(true)
        }
        "n" | "N" | "no" | "No" | "NO" | "off" | "Off" | "OFF" | "false" | "False" | "FALSE" => {
            Plain::Bool(false)
        }
        ".nan" | ".NaN" | ".NAN" | ".inf" | ".Inf" | ".INF" | "+.inf" | "+.Inf" | "+.INF" | "-.inf"
        | "-.Inf" | "-.INF" => Plain::NotFinite,
        _ => number(text).map_or(Plain::Text, Plain::Number),
    }
}

/// `text` as a number in JSON's spelling.
fn number(text: &str) -> Option<Number<'static>> {
    if let Some(number) = Number::parse(text) {
        return Some(number.into_owned());
    }
    let spelling = match text.as_bytes().first()? {
        b'.' => decimal(&joined(text)?),
        b'+' | b'-' | b'0'..=b'9' => {
            let text = text.replace('_', "");
            other_base(&text).or_else(|| decimal(&text))
        }
        _ => None,
    }?;
    Number::parse(&spelling).map(Number::into_owned)
}

/// Digits without the underscores between them; `None` if an underscore is elsewhere.
fn joined(text: &str) -> Option<String> {
    let bytes = text.as_bytes();
    let is_digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    let misplaced = text.match_indices('_').any(|(at, _)| at == 0 || !is_digit(at - 1) || !is_digit(at + 1));
    (!misplaced).then(|| text.replace('_', ""))
}

/// An integer of base 2, 8 or 16 that fits into 64 bits.
fn other_base(text: &str) -> Option<String> {
    let (sign, unsigned) = split_sign(text);
    let rest = unsigned.strip_prefix('0')?;
    let (base, digits) = match rest.as_bytes().first()? {
        b'x' | b'X' => (16, &rest[1..]),
        b'o' | b'O' => (8, &rest[1..]),
        b'b' | b'B' => (2, &rest[1..]),
        _ => (8, rest),
    };
    // Rust's parser accepts a sign here. It would be a second one.
    if !digits.starts_with(|c: char| c.is_digit(base)) {
        return None;
    }
    let size = u64::from_str_radix(digits, base).ok()?;
    match sign {
        "-" => i64::try_from(-i128::from(size)).ok().map(|number| number.to_string()),
        "+" => i64::try_from(size).ok().map(|number| number.to_string()),
        _ => Some(size.to_string()),
    }
}

/// A decimal number in JSON's form, with the same digits: no `+`, no leading zeros, digits on both sides of
/// the point.
fn decimal(text: &str) -> Option<String> {
    let (sign, unsigned) = split_sign(text);
    let end = unsigned.find(['e', 'E']).unwrap_or(unsigned.len());
    let (mantissa, exponent) = unsigned.split_at(end);
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let exponent_digits = exponent.get(1..).map(|digits| split_sign(digits).1);
    if !(are_digits(whole) && are_digits(fraction) && exponent_digits.is_none_or(are_digits))
        || (whole.is_empty() && fraction.is_empty())
        || exponent_digits == Some("")
    {
        return None;
    }
    let whole = match whole.trim_start_matches('0') {
        "" => "0",
        digits => digits,
    };
    let point = if fraction.is_empty() { "" } else { "." };
    let sign = if sign == "-" { "-" } else { "" };
    Some(format!("{sign}{whole}{point}{fraction}{exponent}"))
}

fn are_digits(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit())
}

fn split_sign(text: &str) -> (&str, &str) {
    text.split_at(usize::from(text.starts_with(['+', '-'])))
}

/// Whether `text` starts like a date: four digits, one or two, one or two, and then nothing or a time.
pub(super) fn is_date(text: &str) -> bool {
    let mut parts = text.splitn(3, '-');
    let (year, month, rest) = (parts.next(), parts.next(), parts.next());
    let rest = rest.unwrap_or_default();
    let day = rest.bytes().take_while(u8::is_ascii_digit).count();
    year.is_some_and(|year| year.len() == 4 && are_digits(year))
        && month.is_some_and(|month| matches!(month.len(), 1 | 2) && are_digits(month))
        && matches!(day, 1 | 2)
        && matches!(rest.as_bytes().get(day), None | Some(b'T' | b't' | b' ' | b'\t'))
}

/// The value of a scalar without a tag.
pub(super) fn untagged(text: &str, plain: bool) -> Result<Value<'static>, YamlErrorKind> {
    if !plain {
        return Ok(text.to_owned().into());
    }
    Ok(match resolve(text) {
        Plain::Null => Value::Null,
        Plain::Bool(flag) => Value::Bool(flag),
        Plain::Number(number) => Value::Number(number),
        Plain::NotFinite => return Err(YamlErrorKind::NotFinite(text.to_owned())),
        Plain::Text => text.to_owned().into(),
    })
}

/// The value of a scalar with a tag. Quotes make no difference.
pub(super) fn tagged(tag: &Tag, text: &str) -> Result<Value<'static>, YamlErrorKind> {
    let full = full_name(tag);
    let Some(name) = full.strip_prefix(CORE) else {
        return if full == "!" { Ok(text.to_owned().into()) } else { Err(unknown(&full)) };
    };
    match (name, resolve(text)) {
        ("str", _) => Ok(text.to_owned().into()),
        ("merge", _) if text == "<<" => Ok(text.to_owned().into()),
        ("timestamp", _) if is_date(text) => Ok(text.to_owned().into()),
        ("null", Plain::Null) => Ok(Value::Null),
        ("bool", Plain::Bool(flag)) => Ok(Value::Bool(flag)),
        ("float", Plain::Number(number)) => Ok(Value::Number(number)),
        ("int", Plain::Number(number)) if !number.as_str().contains(['.', 'e', 'E']) => {
            Ok(Value::Number(number))
        }
        ("float", Plain::NotFinite) => Err(YamlErrorKind::NotFinite(text.to_owned())),
        ("null" | "bool" | "int" | "float" | "merge" | "timestamp" | "map" | "seq", _) => Err(wrong(&full)),
        _ => Err(unknown(&full)),
    }
}

fn wrong(full: &str) -> YamlErrorKind {
    YamlErrorKind::WrongTag(short_name(full))
}

fn unknown(full: &str) -> YamlErrorKind {
    YamlErrorKind::UnknownTag(short_name(full))
}

/// Fails unless the tag is `own`, the tag of lists (`seq`) or of maps (`map`), or is `!`.
pub(super) fn check_container(tag: &Tag, own: &str) -> Result<(), YamlErrorKind> {
    let full = full_name(tag);
    match full.strip_prefix(CORE) {
        Some(name) if name == own => Ok(()),
        Some("str" | "int" | "float" | "bool" | "null" | "timestamp" | "merge" | "map" | "seq") => {
            Err(wrong(&full))
        }
        None if full == "!" => Ok(()),
        _ => Err(unknown(&full)),
    }
}

/// Whether a key with this tag is a merge.
pub(super) fn is_merge(text: &str, plain: bool, tag: Option<&Tag>) -> bool {
    text == "<<"
        && tag.map_or(plain, |tag| full_name(tag).strip_prefix(CORE).is_some_and(|name| name == "merge"))
}

/// The text of a key. Numbers and booleans are converted as by kubectl.
pub(super) fn key_text(key: &Value<'_>) -> Result<String, YamlErrorKind> {
    match key {
        Value::String(text) => Ok(text.as_ref().to_owned()),
        Value::Bool(flag) => Ok(flag.to_string()),
        Value::Number(number) => number_key(number.as_str()),
        Value::Null | Value::Array(_) | Value::Object(_) => Err(YamlErrorKind::Key(key.kind())),
    }
}

/// The text of a number as a key, as in kubectl: integers in decimal, others as Go prints a 32-bit float
/// (`%g`).
fn number_key(text: &str) -> Result<String, YamlErrorKind> {
    if let Ok(integer) = text.parse::<i64>() {
        return Ok(integer.to_string());
    }
    if text.parse::<u64>().is_ok() {
        return Ok(text.to_owned());
    }
    let number = text.parse().unwrap_or(f32::INFINITY);
    if !number.is_finite() {
        return Err(YamlErrorKind::NotFinite(text.to_owned()));
    }
    let scientific = format!("{number:e}");
    let (digits, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent = exponent.parse().unwrap_or(0);
    Ok(if (-4..GO_SCIENTIFIC_FROM).contains(&exponent) {
        number.to_string()
    } else {
        let sign = if exponent < 0 { '-' } else { '+' };
        format!("{digits}e{sign}{:02}", exponent.unsigned_abs())
    })
}

/// The decimal exponent from which Go's `%g` prints a number with an exponent, given its shortest digits.
const GO_SCIENTIFIC_FROM: i32 = 6;

/// The full name of a tag; `!` for the tag that only means "not a plain scalar".
fn full_name(tag: &Tag) -> String {
    format!("{}{}", tag.handle, tag.suffix)
}

/// The usual spelling of a tag, truncated.
fn short_name(full: &str) -> String {
    let name = full.strip_prefix(CORE).map_or_else(|| full.to_owned(), |name| format!("!!{name}"));
    name.chars().take(64).collect()
}
