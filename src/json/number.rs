//! Numbers with their spelling.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::fmt;

/// A JSON number with the spelling of its text: `1`, `1.0` and `1e0` are three different [`Number`]s.
///
/// Equality compares the spelling. [`same_value`](Self::same_value) compares the value.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Number<'a>(Cow<'a, str>);

impl<'a> Number<'a> {
    /// Creates a number from text that the parser has checked.
    pub(super) fn from_checked(text: &'a str) -> Self {
        Self(Cow::Borrowed(text))
    }

    /// Parses `text`, if all of it is one JSON number.
    pub fn parse(text: &'a str) -> Option<Self> {
        super::cursor::is_number(text).then_some(Self(Cow::Borrowed(text)))
    }

    /// The spelling.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The integer, if the number is *spelled* as an integer (no fraction, no exponent) and fits.
    ///
    /// The JSON decoder of Go reads integer fields this way.
    pub fn as_i64(&self) -> Option<i64> {
        self.0.parse().ok()
    }

    /// Whether both numbers have the same value, like `1`, `1.0` and `10e-1`.
    pub fn same_value(&self, other: &Number<'_>) -> bool {
        self.0 == other.0 || Decimal::of(&self.0) == Decimal::of(&other.0)
    }

    /// Whether a Kubernetes API server stores both numbers as the same value. It keeps 64-bit integers, and
    /// converts all other numbers to 64-bit floats.
    pub fn same_stored(&self, other: &Number<'_>) -> bool {
        let float = |number: &Number<'_>| number.0.parse::<f64>().ok();
        self.same_value(other)
            || (self.as_i64().is_none() || other.as_i64().is_none()) && float(self) == float(other)
    }

    /// The number as an API server stores it, if that is an integer: `1.0` becomes `1`, `1e3` becomes `1000`,
    /// and `-0.0` becomes `0`. With another spelling, the value would differ from the stored one on each
    /// revision.
    pub fn as_stored(&self) -> Number<'static> {
        const LIMIT: f64 = 9_007_199_254_740_992.0;
        match (self.as_i64(), self.0.parse::<f64>()) {
            (Some(integer), _) => Number::from(integer),
            (None, Ok(float)) if float.fract() == 0.0 && float.abs() <= LIMIT => {
                Number(Cow::Owned(format!("{:.0}", if float == 0.0 { 0.0 } else { float })))
            }
            _ => self.clone().into_owned(),
        }
    }

    /// The same number, without a borrow of the text.
    pub fn into_owned(self) -> Number<'static> {
        Number(Cow::Owned(self.0.into_owned()))
    }
}

impl From<i64> for Number<'static> {
    fn from(value: i64) -> Self {
        Self(Cow::Owned(value.to_string()))
    }
}

impl fmt::Display for Number<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for Number<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A number as a sign, the significant digits, and the power of ten of the last digit. Each value has exactly
/// one such form.
#[derive(PartialEq, Eq)]
struct Decimal {
    negative: bool,
    digits: String,
    exponent: i128,
}

impl Decimal {
    /// Parses a checked JSON number. Exponents that overflow are clamped, so extremely large numbers may
    /// compare as equal.
    fn of(text: &str) -> Self {
        let (negative, text) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let (mantissa, exponent) = match text.split_once(['e', 'E']) {
            Some((mantissa, exponent)) => (mantissa, parse_clamped(exponent)),
            None => (text, 0),
        };
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let all = format!("{whole}{fraction}");
        let digits = all.trim_start_matches('0').trim_end_matches('0');
        if digits.is_empty() {
            return Self { negative: false, digits: String::new(), exponent: 0 };
        }
        let trailing_zeros = all.len() - all.trim_end_matches('0').len();
        let shift = i128::try_from(trailing_zeros).unwrap_or(0) - i128::try_from(fraction.len()).unwrap_or(0);
        Self { negative, digits: digits.to_owned(), exponent: exponent + shift }
    }
}

fn parse_clamped(exponent: &str) -> i128 {
    exponent.parse::<i64>().map_or_else(
        |_| match exponent.starts_with('-').cmp(&true) {
            Ordering::Equal => i128::from(i64::MIN),
            _ => i128::from(i64::MAX),
        },
        i128::from,
    )
}

#[cfg(test)]
mod tests {
    use super::Number;

    /// Observed on kube-apiserver 1.35.4, in an untyped field of a custom resource. Other numbers keep their
    /// spelling, because they are the same float there.
    #[test]
    fn an_integer_is_spelled_as_an_api_server_keeps_it() {
        for (written, kept) in [
            ("2", "2"),
            ("-0", "0"),
            ("2.0", "2"),
            ("1e3", "1000"),
            ("-0.0", "0"),
            ("-7.00", "-7"),
            ("0.5", "0.5"),
            ("1.50", "1.50"),
            ("9007199254740993", "9007199254740993"),
            ("1e20", "1e20"),
            ("1E-7", "1E-7"),
            ("1e400", "1e400"),
        ] {
            let number = Number::parse(written).unwrap();
            let stored = number.as_stored();
            assert_eq!(stored.as_str(), kept, "{written}");
            assert_eq!(stored.as_stored(), stored, "{written}");
        }
    }
}
