//! Converts values to JSON and to text.

use std::fmt::Write as _;

use super::budget::Budget;
use super::error::ErrorKind;
use super::functions::double_text;
use super::value::{Val, View};
use super::{MAX_OUTPUT_BYTES, value::ValKind};
use crate::json::{MAX_DEPTH, Number, Value};

/// The value as JSON. A piece of a document is returned unchanged.
pub(super) fn give<'a>(value: &Val<'_, 'a>, budget: &mut Budget) -> Result<Value<'a>, ErrorKind> {
    match value {
        Val::Json(piece) => Ok((*piece).clone()),
        _ => Output { left: MAX_OUTPUT_BYTES, budget }.value(value, 0),
    }
}

/// Appends the text of a value to `out`. Fails for kinds that can't be part of a string.
pub(super) fn write_text(
    value: &Val<'_, '_>,
    out: &mut String,
    budget: &mut Budget,
) -> Result<(), ErrorKind> {
    let before = out.len();
    match (value, value.view()) {
        (Val::Json(Value::Number(number)), _) => out.push_str(number.as_str()),
        (_, View::Text(text)) => {
            check_size(out.len() + text.len())?;
            out.push_str(text);
        }
        (_, View::Bool(flag)) => out.push_str(if flag { "true" } else { "false" }),
        (_, View::Int(number)) => {
            write!(out, "{number}").unwrap_or_else(|_| unreachable!("a String takes it"));
        }
        (_, View::Double(number)) => out.push_str(&finite(number)?),
        (_, View::Quantity(quantity)) => {
            write!(out, "{quantity}").unwrap_or_else(|_| unreachable!("a String takes it"));
        }
        (_, View::Optional(Some(inner))) => return write_text(inner, out, budget),
        _ => return Err(ErrorKind::failed(not_in_text(value.kind()))),
    }
    check_size(out.len())?;
    budget.spend_text(out.len() - before)
}

pub(super) fn not_in_text(kind: ValKind) -> String {
    format!("{} can't stand in a text, only a string, a number or a boolean can", kind.article())
}

pub(super) fn check_size(bytes: usize) -> Result<(), ErrorKind> {
    if bytes > MAX_OUTPUT_BYTES {
        return Err(ErrorKind::Limit("the result is larger than the 1 MiB that are allowed"));
    }
    Ok(())
}

fn finite(number: f64) -> Result<String, ErrorKind> {
    if number.is_finite() {
        Ok(double_text(number))
    } else {
        Err(ErrorKind::failed("the result is no number that JSON has"))
    }
}

/// The output so far, limited in size and depth. Pieces of documents count too, because a list may repeat a
/// piece many times.
struct Output<'b> {
    left: usize,
    budget: &'b mut Budget,
}

impl Output<'_> {
    fn value<'a>(&mut self, value: &Val<'_, 'a>, depth: usize) -> Result<Value<'a>, ErrorKind> {
        if let Val::Json(piece) = value {
            self.measure(piece, depth)?;
            return Ok((*piece).clone());
        }
        self.take(2, depth)?;
        Ok(match value.view() {
            View::Null => Value::Null,
            View::Bool(flag) => Value::Bool(flag),
            View::Int(number) => Value::from(number),
            View::Double(number) => {
                let text = finite(number)?;
                let number = Number::parse(&text)
                    .ok_or_else(|| ErrorKind::failed("the result is no number that JSON has"))?;
                Value::Number(number.into_owned())
            }
            View::Text(text) => {
                self.take(text.len(), depth)?;
                Value::from(text.to_owned())
            }
            View::List(items) => {
                let values: Result<Vec<_>, _> =
                    items.iter().map(|item| self.value(&item, depth + 1)).collect();
                Value::array(values?)
            }
            View::Map(members) => {
                let mut pairs = Vec::with_capacity(members.len());
                for (name, value) in members.pairs() {
                    let name = name.as_text().unwrap_or_default().to_owned();
                    self.take(name.len() + 2, depth)?;
                    pairs.push((name, self.value(&value, depth + 1)?));
                }
                Value::Object(pairs.into_iter().collect())
            }
            View::Quantity(quantity) => Value::from(quantity.to_string()),
            View::Optional(Some(inner)) => self.value(inner, depth)?,
            View::Optional(None) => {
                return Err(ErrorKind::failed("the optional has no value; give it one with orValue()"));
            }
            View::Type(_) => return Err(ErrorKind::failed("a type is no value that JSON has")),
        })
    }

    /// Adds the size of a piece of a document.
    fn measure(&mut self, value: &Value<'_>, depth: usize) -> Result<(), ErrorKind> {
        match value {
            Value::Null | Value::Bool(_) => self.take(4, depth),
            Value::Number(number) => self.take(number.as_str().len(), depth),
            Value::String(text) => self.take(text.len() + 2, depth),
            Value::Array(items) => {
                self.take(2, depth)?;
                items.iter().try_for_each(|item| self.measure(item, depth + 1))
            }
            Value::Object(object) => {
                self.take(2, depth)?;
                object.iter().try_for_each(|(name, value)| {
                    self.take(name.len() + 4, depth)?;
                    self.measure(value, depth + 1)
                })
            }
        }
    }

    fn take(&mut self, bytes: usize, depth: usize) -> Result<(), ErrorKind> {
        self.left = self.left.checked_sub(bytes).map_or_else(|| check_size(usize::MAX).map(|()| 0), Ok)?;
        // A list at this depth adds one more level.
        if depth >= MAX_DEPTH {
            return Err(ErrorKind::Limit("the result is nested deeper than an object may be"));
        }
        self.budget.spend_text(bytes)
    }
}
