//! The grammar: sign, digits with at most one point among them, suffix.
//!
//! NB: Kubernetes lets all digits be missing, and takes `m`, `+`, `.` and `Ki` for nothing. So do we: what
//! the API server has stored must be readable.

use super::{BINARY_MAX, Format, NANOS, Quantity, QuantityError};

/// Decimal places that are kept.
const PLACES: i64 = 9;

/// What a suffix says about the number in front of it.
enum Suffix {
    /// It counts in this power of ten.
    Decimal(i64, Format),
    /// It counts in this power of two.
    Binary(u32),
}

/// Reads `text`, which has no space around it.
pub(super) fn quantity(text: &str) -> Result<Quantity, QuantityError> {
    if text.is_empty() {
        return Err(QuantityError::Malformed);
    }
    let (negative, unsigned) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let (whole, rest) = leading_digits(unsigned);
    let (fraction, suffix) = rest.strip_prefix('.').map_or(("", rest), leading_digits);
    let (nanos, format) = match read_suffix(suffix).ok_or(QuantityError::Malformed)? {
        Suffix::Decimal(power, format) => (decimal_nanos(whole, fraction, power), format),
        Suffix::Binary(power) => {
            let nanos = binary_nanos(whole, fraction, power);
            // Go does the same, to avoid that such an amount is rounded.
            let format = if (1..NANOS).contains(&nanos) { Format::DecimalSi } else { Format::BinarySi };
            (Some(nanos), format)
        }
    };
    let nanos = nanos.ok_or(QuantityError::TooLarge)?;
    Ok(Quantity { nanos: if negative { -nanos } else { nanos }, format })
}

fn leading_digits(text: &str) -> (&str, &str) {
    text.split_at(text.bytes().take_while(u8::is_ascii_digit).count())
}

fn read_suffix(suffix: &str) -> Option<Suffix> {
    Some(match suffix {
        "n" => Suffix::Decimal(-9, Format::DecimalSi),
        "u" => Suffix::Decimal(-6, Format::DecimalSi),
        "m" => Suffix::Decimal(-3, Format::DecimalSi),
        "" => Suffix::Decimal(0, Format::DecimalSi),
        "k" => Suffix::Decimal(3, Format::DecimalSi),
        "M" => Suffix::Decimal(6, Format::DecimalSi),
        "G" => Suffix::Decimal(9, Format::DecimalSi),
        "T" => Suffix::Decimal(12, Format::DecimalSi),
        "P" => Suffix::Decimal(15, Format::DecimalSi),
        "E" => Suffix::Decimal(18, Format::DecimalSi),
        "Ki" => Suffix::Binary(10),
        "Mi" => Suffix::Binary(20),
        "Gi" => Suffix::Binary(30),
        "Ti" => Suffix::Binary(40),
        "Pi" => Suffix::Binary(50),
        "Ei" => Suffix::Binary(60),
        _ => Suffix::Decimal(suffix.strip_prefix(['e', 'E'])?.parse().ok()?, Format::DecimalExponent),
    })
}

/// `whole.fraction` times this power of ten in billionths, rounded up; `None` if that is too large to be
/// kept.
///
/// The work is bounded by the length of the digits, whatever the power.
fn decimal_nanos(whole: &str, fraction: &str, power: i64) -> Option<i128> {
    let digits = || whole.bytes().chain(fraction.bytes());
    let length = |text: &str| i64::try_from(text.len()).unwrap_or(i64::MAX);
    // How many of the digits stand before the point, once the number is in billionths.
    let kept = length(whole).saturating_add(power).saturating_add(PLACES);
    let kept = usize::try_from(kept).unwrap_or(0);
    let mut nanos = 0;
    for digit in digits().take(kept) {
        nanos = append(nanos, digit)?;
    }
    if nanos != 0 {
        // Ends early: the amount is too large after 38 steps at most.
        for _ in whole.len() + fraction.len()..kept {
            nanos = append(nanos, b'0')?;
        }
    }
    let more = digits().skip(kept).any(|digit| digit != b'0');
    nanos.checked_add(i128::from(more))
}

/// `whole.fraction` times this power of two, at most 60, in billionths, rounded up and capped.
fn binary_nanos(whole: &str, fraction: &str, power: u32) -> i128 {
    let unit = NANOS << power;
    let whole = whole.bytes().try_fold(0, append).and_then(|whole| whole.checked_mul(unit));
    // The fraction is unit * (d1 + (d2 + (d3 + ...) / 10) / 10) / 10, from the inside out. Its integral part
    // is enough to go on with, since whatever was cut off stays less than one; but that there was something
    // decides how it is rounded.
    let mut more = false;
    let part = fraction.bytes().rev().fold(0, |inner, digit| {
        let tenfold = i128::from(digit - b'0') * unit + inner;
        more |= tenfold % 10 != 0;
        tenfold / 10
    });
    whole.map_or(BINARY_MAX, |whole| whole.saturating_add(part + i128::from(more)).min(BINARY_MAX))
}

/// `number` with one more decimal digit at its end.
fn append(number: i128, digit: u8) -> Option<i128> {
    number.checked_mul(10)?.checked_add(i128::from(digit - b'0'))
}
