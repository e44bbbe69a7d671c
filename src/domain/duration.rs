//! Durations in the spelling of Go's `time.ParseDuration`, which Kubernetes' flags, fields and queries use.

use std::time::Duration;

/// Reads `10s`, `1m30s`, `1.5h`, `250ms`. `None` for anything else, and for what is negative or too long for
/// Go.
pub fn parse_duration(text: &str) -> Option<Duration> {
    let mut rest = text.strip_prefix('+').unwrap_or(text);
    if rest == "0" {
        return Some(Duration::ZERO);
    }
    if rest.is_empty() {
        return None;
    }
    let mut total: u64 = 0;
    while !rest.is_empty() {
        let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
        let (number, tail) = rest.split_at(end);
        let unit_end = tail.find(|c: char| c.is_ascii_digit() || c == '.').unwrap_or(tail.len());
        let (unit, tail) = tail.split_at(unit_end);
        rest = tail;
        total = total.checked_add(nanoseconds(number, unit_length(unit)?)?)?;
    }
    i64::try_from(total).ok().map(|_fits| Duration::from_nanos(total))
}

/// A unit in nanoseconds.
fn unit_length(unit: &str) -> Option<u64> {
    Some(match unit {
        "ns" => 1,
        // U+00B5 is the micro sign, U+03BC the Greek letter.
        "us" | "\u{b5}s" | "\u{3bc}s" => 1_000,
        "ms" => 1_000_000,
        "s" => 1_000_000_000,
        "m" => 60_000_000_000,
        "h" => 3_600_000_000_000,
        _ => return None,
    })
}

/// `number` times `unit`; digits with at most one point between, before or after them.
fn nanoseconds(number: &str, unit: u64) -> Option<u64> {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    if (whole.is_empty() && fraction.is_empty()) || fraction.contains('.') {
        return None;
    }
    let whole: u64 = if whole.is_empty() { 0 } else { whole.parse().ok()? };
    // More digits than these are below a nanosecond for every unit.
    let (mut part, mut scale) = (0_u128, 1_u128);
    for digit in fraction.bytes().take(18) {
        part = part * 10 + u128::from(digit - b'0');
        scale *= 10;
    }
    let part = u64::try_from(part * u128::from(unit) / scale).ok()?;
    whole.checked_mul(unit)?.checked_add(part)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_read_as_go_does() {
        for (text, expected) in [
            ("10s", Duration::from_secs(10)),
            ("1m30s", Duration::from_secs(90)),
            ("1.5h", Duration::from_mins(90)),
            (".5s", Duration::from_millis(500)),
            ("1.s", Duration::from_secs(1)),
            ("250ms", Duration::from_millis(250)),
            ("3us2ns", Duration::from_nanos(3002)),
            ("0", Duration::ZERO),
            ("+1s", Duration::from_secs(1)),
        ] {
            assert_eq!(parse_duration(text), Some(expected), "{text}");
        }
        for text in ["", "10", "s", "-1s", "1 s", "1d", ".s", "1..2s", "99999999999h", "1e3s", "+"] {
            assert_eq!(parse_duration(text), None, "{text}");
        }
    }
}
