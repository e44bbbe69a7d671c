//! Durations in the spelling of Go's `time.ParseDuration`, which Kubernetes' flags, fields and queries use.

use std::time::Duration;

/// Reads `10s`, `1m30s`, `1.5h`, `250ms`. `None` for anything else, negative durations included.
pub fn parse_duration(text: &str) -> Option<Duration> {
    let mut rest = text.strip_prefix('+').unwrap_or(text);
    if rest == "0" {
        return Some(Duration::ZERO);
    }
    if rest.is_empty() {
        return None;
    }
    let mut nanoseconds: u128 = 0;
    while !rest.is_empty() {
        let (number, after) = rest.split_at(rest.find(|c: char| !c.is_ascii_digit() && c != '.')?);
        let (unit, after) =
            after.split_at(after.find(|c: char| c.is_ascii_digit() || c == '.').unwrap_or(after.len()));
        let scale: u128 = match unit {
            "ns" => 1,
            "us" | "µs" | "μs" => 1_000,
            "ms" => 1_000_000,
            "s" => 1_000_000_000,
            "m" => 60_000_000_000,
            "h" => 3_600_000_000_000,
            _ => return None,
        };
        nanoseconds = nanoseconds.checked_add(scaled(number, scale)?)?;
        rest = after;
    }
    // Go keeps durations in 63 bits of nanoseconds, some 292 years.
    let nanoseconds = u64::try_from(nanoseconds).ok().filter(|value| i64::try_from(*value).is_ok())?;
    Some(Duration::from_nanos(nanoseconds))
}

/// `number`, a decimal without sign, times `scale`; parts of a nanosecond are dropped.
fn scaled(number: &str, scale: u128) -> Option<u128> {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    if whole.is_empty() && fraction.is_empty() || fraction.contains('.') {
        return None;
    }
    let whole = if whole.is_empty() { 0 } else { whole.parse::<u64>().ok()? };
    let mut value = u128::from(whole) * scale;
    let mut unit = scale;
    for digit in fraction.bytes() {
        unit /= 10;
        value += u128::from(digit - b'0') * unit;
    }
    Some(value)
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
