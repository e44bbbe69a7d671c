//! Amounts of a resource as Kubernetes spells them: `250m`, `1.5Gi`, `3e6`.
//!
//! A [`Quantity`] is exact, and has no unit. The rules are those of
//! `k8s.io/apimachinery/pkg/api/resource` (v0.36), where the type has the same
//! name; the answers recorded from it are in `tests/data/quantities.json`. What differs:
//!
//! * Go keeps numbers of any size, we those up to 1.7e29 in magnitude and refuse larger ones: 18 billion
//!   times what fits into the int64 that every reader of a quantity ends up with.
//! * [`value`](Quantity::value) and [`milli_value`](Quantity::milli_value) stay at the largest or smallest
//!   int64 where Go's wrap around or answer 0. They round all negative amounts away from zero; Go's round
//!   some of those up, and make garbage of others (`-1Ei` has the value 0).
//! * Go spells what it has parsed as it was written, if that is nearly canonical (`+1`, `1.234`). We always
//!   spell canonically.
//! * Go has no suffix for a multiple of 1000E and leaves it away, which makes it another number. We write
//!   `1000E`.

mod parse;

#[cfg(test)]
mod tests;

use std::cmp::Ordering;
use std::fmt;

/// How many of the smallest amounts, billionths, make one.
const NANOS: i128 = 1_000_000_000;
/// How many of them make a thousandth.
const NANOS_PER_MILLI: i128 = 1_000_000;

/// The largest amount that a binary suffix can express; Go caps there what it reads.
const BINARY_MAX: i128 = i64::MAX as i128 * NANOS;

/// Suffixes for powers of 1000, the first for a billionth.
const DECIMAL_SUFFIXES: [&str; 10] = ["n", "u", "m", "", "k", "M", "G", "T", "P", "E"];
/// Suffixes for powers of 1024, the first for one.
const BINARY_SUFFIXES: [&str; 7] = ["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];

/// An exact amount, in billionths, and the kind of suffix that it is written with.
///
/// Comparisons look at the amount alone.
#[derive(Clone, Copy, Debug)]
pub struct Quantity {
    nanos: i128,
    format: Format,
}

/// Which suffixes a [`Quantity`] is written with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Powers of 1000: `n`, `u`, `m`, none, `k`, `M`, `G`, `T`, `P`, `E`.
    DecimalSi,
    /// Powers of 1024: `Ki`, `Mi`, `Gi`, `Ti`, `Pi`, `Ei`. Amounts below 1024 and fractions are written as
    /// [`DecimalSi`](Self::DecimalSi).
    BinarySi,
    /// Powers of 1000 as exponents: `e3`, `e-3`.
    DecimalExponent,
}

/// Why a text is no [`Quantity`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum QuantityError {
    /// The text breaks the grammar.
    #[error("a quantity is a number with an optional suffix such as m, k, M, Mi, Gi or e3")]
    Malformed,
    /// The amount is beyond what is kept.
    #[error("a quantity of 1.7e29 or more is too large to be counted")]
    TooLarge,
}

impl Quantity {
    /// Nothing.
    pub const ZERO: Self = Self { nanos: 0, format: Format::DecimalSi };

    /// Reads a quantity. Space around it is skipped; what is smaller than a billionth is rounded up, away
    /// from zero.
    ///
    /// The number of a JSON document, in its spelling, is a quantity too.
    pub fn parse(text: &str) -> Result<Self, QuantityError> {
        parse::quantity(text.trim())
    }

    /// So many ones.
    pub const fn of_units(units: i64, format: Format) -> Self {
        Self { nanos: units as i128 * NANOS, format }
    }

    /// So many thousandths.
    pub const fn of_millis(millis: i64, format: Format) -> Self {
        Self { nanos: millis as i128 * NANOS_PER_MILLI, format }
    }

    /// The amount in ones, rounded away from zero, and not beyond what an int64 holds.
    pub fn value(self) -> i64 {
        self.rounded(NANOS)
    }

    /// The amount in thousandths, rounded away from zero, and not beyond what an int64 holds.
    pub fn milli_value(self) -> i64 {
        self.rounded(NANOS_PER_MILLI)
    }

    fn rounded(self, unit: i128) -> i64 {
        let rounded = self.nanos / unit + (self.nanos % unit).signum();
        let limit = if rounded < 0 { i64::MIN } else { i64::MAX };
        i64::try_from(rounded).unwrap_or(limit)
    }

    /// The sum, written as `self` is, or as `other` if `self` is zero. It stays at the largest amount that is
    /// kept.
    #[must_use]
    pub fn saturating_add(self, other: Self) -> Self {
        let format = if self.nanos == 0 { other.format } else { self.format };
        Self { nanos: self.nanos.saturating_add(other.nanos), format }
    }

    /// The difference, written as `self` is, or as `other` if `self` is zero. It stays at the largest amount
    /// that is kept.
    #[must_use]
    pub fn saturating_sub(self, other: Self) -> Self {
        let format = if self.nanos == 0 { other.format } else { self.format };
        Self { nanos: self.nanos.saturating_sub(other.nanos), format }
    }

    /// `factor` times the amount, written as `self` is; `None` if it is more than is kept.
    pub fn checked_mul(self, factor: i64) -> Option<Self> {
        self.nanos.checked_mul(i128::from(factor)).map(|nanos| Self { nanos, format: self.format })
    }

    /// The amount in ones as a double, which may not be exact.
    #[expect(clippy::cast_precision_loss, reason = "that is what is asked for")]
    pub fn approximate_value(self) -> f64 {
        // Whole ones apart from the rest, so that those that a double can hold stay exact.
        (self.nanos / NANOS) as f64 + (self.nanos % NANOS) as f64 / NANOS as f64
    }

    /// Writes the amount as an integer with the largest decimal suffix or exponent that leaves it one.
    fn write_decimal(self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let exponents = self.format == Format::DecimalExponent;
        let (mut mantissa, mut power) = (self.nanos, 0);
        while mantissa % 1000 == 0 && (exponents || power + 1 < DECIMAL_SUFFIXES.len()) {
            mantissa /= 1000;
            power += 1;
        }
        match DECIMAL_SUFFIXES.get(power) {
            Some(suffix) if !exponents || suffix.is_empty() => write!(f, "{mantissa}{suffix}"),
            _ if power < 3 => write!(f, "{mantissa}e-{}", 3 * (3 - power)),
            _ => write!(f, "{mantissa}e{}", 3 * (power - 3)),
        }
    }

    /// Writes whole ones with the largest binary suffix that leaves them an integer.
    fn write_binary(self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (mut mantissa, mut power) = (self.nanos / NANOS, 0);
        while mantissa % 1024 == 0 && power + 1 < BINARY_SUFFIXES.len() {
            mantissa /= 1024;
            power += 1;
        }
        write!(f, "{mantissa}{}", BINARY_SUFFIXES[power])
    }
}

/// The canonical spelling: an integer with the largest suffix that makes one of it.
impl fmt::Display for Quantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.nanos == 0 {
            return f.write_str("0");
        }
        let binary = self.format == Format::BinarySi
            && self.nanos % NANOS == 0
            && self.nanos.unsigned_abs() >= 1024 * NANOS.unsigned_abs();
        if binary { self.write_binary(f) } else { self.write_decimal(f) }
    }
}

impl PartialEq for Quantity {
    fn eq(&self, other: &Self) -> bool {
        self.nanos == other.nanos
    }
}

impl Eq for Quantity {}

impl PartialOrd for Quantity {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Quantity {
    fn cmp(&self, other: &Self) -> Ordering {
        self.nanos.cmp(&other.nanos)
    }
}
