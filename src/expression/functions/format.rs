//! The function `format`: `"%s has %d".format([...])`.

use super::{double_text, text_argument};
use crate::expression::budget::Budget;
use crate::expression::error::ErrorKind;
use crate::expression::value::{Members, Val, View, check_length};

/// The largest number of digits after the decimal point.
const MAX_PRECISION: usize = 100;
/// The number of digits if the format has no precision.
const PRECISION: usize = 6;

pub(super) fn format<'v, 'a>(
    arguments: &[Val<'v, 'a>],
    budget: &mut Budget,
) -> Result<Val<'v, 'a>, ErrorKind> {
    let template = text_argument("format", &arguments[0])?;
    let View::List(values) = arguments[1].view() else {
        return Err(super::wrong("format", "a list", &arguments[1]));
    };
    let mut out = Out { text: String::new(), budget };
    let mut rest = template;
    let mut next = 0;
    while let Some(at) = rest.find('%') {
        out.push(&rest[..at])?;
        rest = &rest[at + 1..];
        if let Some(after) = rest.strip_prefix('%') {
            out.push("%")?;
            rest = after;
            continue;
        }
        let (clause, after) = clause(rest)?;
        rest = after;
        let value = values.get(next).ok_or_else(|| ErrorKind::failed("`format` is given too few values"))?;
        next += 1;
        out.clause(clause, &value)?;
    }
    out.push(rest)?;
    if next < values.len() {
        return Err(ErrorKind::failed("`format` is given more values than it has places for"));
    }
    let Out { text, budget } = out;
    Val::text(&text, budget)
}

/// A conversion such as `%.2f`: its letter and its precision.
#[derive(Clone, Copy)]
struct Clause {
    letter: char,
    precision: usize,
}

fn clause(rest: &str) -> Result<(Clause, &str), ErrorKind> {
    let unknown = || ErrorKind::failed("`format` knows %s, %d, %f, %e, %b, %o, %x, %X and %%");
    let (precision, rest) = match rest.strip_prefix('.') {
        None => (PRECISION, rest),
        Some(digits) => {
            let end = digits.bytes().take_while(u8::is_ascii_digit).count();
            let precision = digits[..end].parse().ok().filter(|precision| *precision <= MAX_PRECISION);
            let problem = || ErrorKind::failed("a precision of `format` is a number up to 100");
            (precision.ok_or_else(problem)?, &digits[end..])
        }
    };
    let letter = rest.chars().next().filter(|letter| "sdfeboxX".contains(*letter)).ok_or_else(unknown)?;
    Ok((Clause { letter, precision }, &rest[letter.len_utf8()..]))
}

/// The output so far, limited in length.
struct Out<'b> {
    text: String,
    budget: &'b mut Budget,
}

impl Out<'_> {
    fn push(&mut self, text: &str) -> Result<(), ErrorKind> {
        check_length(self.text.len() + text.len())?;
        self.budget.spend_text(text.len())?;
        self.text.push_str(text);
        Ok(())
    }

    fn clause(&mut self, clause: Clause, value: &Val<'_, '_>) -> Result<(), ErrorKind> {
        let Clause { letter, precision } = clause;
        if let View::Double(_) = value.view() {
            // A double can have 309 digits before the point. All are computed, whatever the precision.
            self.budget.spend(320 + precision)?;
        }
        let text = match (letter, value.view()) {
            ('s', _) => return self.value(value),
            ('d', View::Int(number)) => number.to_string(),
            ('b', View::Int(number)) => radix(number, |size| format!("{size:b}")),
            ('b', View::Bool(flag)) => if flag { "1" } else { "0" }.to_owned(),
            ('o', View::Int(number)) => radix(number, |size| format!("{size:o}")),
            ('x', View::Int(number)) => radix(number, |size| format!("{size:x}")),
            ('X', View::Int(number)) => radix(number, |size| format!("{size:X}")),
            ('x', View::Text(text)) => return self.bytes(text, |byte| format!("{byte:02x}")),
            ('X', View::Text(text)) => return self.bytes(text, |byte| format!("{byte:02X}")),
            ('d' | 'f' | 'e', View::Double(number)) if !number.is_finite() => special(number),
            ('f', View::Double(number)) => format!("{number:.precision$}"),
            ('e', View::Double(number)) => exponent(number, precision),
            #[expect(clippy::cast_precision_loss, reason = "that is what %f and %e of an integer are")]
            ('f', View::Int(number)) => format!("{:.precision$}", number as f64),
            #[expect(clippy::cast_precision_loss, reason = "that is what %f and %e of an integer are")]
            ('e', View::Int(number)) => exponent(number as f64, precision),
            _ => {
                let found = value.kind().article();
                return Err(ErrorKind::failed(format!("`format` can't write {found} as %{letter}")));
            }
        };
        self.push(&text)
    }

    fn bytes(&mut self, text: &str, spell: impl Fn(u8) -> String) -> Result<(), ErrorKind> {
        check_length(self.text.len() + 2 * text.len())?;
        text.bytes().try_for_each(|byte| self.push(&spell(byte)))
    }

    /// Appends a value of any kind, as `%s` writes it.
    fn value(&mut self, value: &Val<'_, '_>) -> Result<(), ErrorKind> {
        match value.view() {
            View::Null => self.push("null"),
            View::Bool(flag) => self.push(if flag { "true" } else { "false" }),
            View::Int(number) => self.push(&number.to_string()),
            View::Double(number) if number.is_finite() => self.push(&double_text(number)),
            View::Double(number) => self.push(&special(number)),
            View::Text(text) => self.push(text),
            View::Quantity(quantity) => self.push(&quantity.to_string()),
            View::Type(kind) => self.push(kind.name()),
            View::List(items) => {
                self.push("[")?;
                for (position, item) in items.iter().enumerate() {
                    self.push(if position == 0 { "" } else { ", " })?;
                    self.value(&item)?;
                }
                self.push("]")
            }
            View::Map(members) => self.map(members),
            View::Optional(_) => Err(ErrorKind::failed("`format` can't write an optional")),
        }
    }

    /// Appends the members, sorted by key.
    fn map(&mut self, members: Members<'_, '_, '_>) -> Result<(), ErrorKind> {
        self.budget.spend(members.len())?;
        let mut pairs = members.pairs();
        pairs.sort_by(|(a, _), (b, _)| a.as_text().cmp(&b.as_text()));
        self.push("{")?;
        for (position, (key, value)) in pairs.iter().enumerate() {
            self.push(if position == 0 { "" } else { ", " })?;
            self.value(key)?;
            self.push(": ")?;
            self.value(value)?;
        }
        self.push("}")
    }
}

fn special(number: f64) -> String {
    let name = if number.is_nan() {
        "NaN"
    } else if number > 0.0 {
        "Infinity"
    } else {
        "-Infinity"
    };
    name.to_owned()
}

/// Formats the absolute value with `digits`, and adds the sign.
fn radix(number: i64, digits: impl Fn(u64) -> String) -> String {
    let sign = if number < 0 { "-" } else { "" };
    format!("{sign}{}", digits(number.unsigned_abs()))
}

/// An exponent as C writes it, with a sign and at least two digits.
fn exponent(number: f64, precision: usize) -> String {
    let text = format!("{number:.precision$e}");
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let (sign, digits) = exponent.strip_prefix('-').map_or(('+', exponent), |digits| ('-', digits));
    format!("{mantissa}e{sign}{digits:0>2}")
}
