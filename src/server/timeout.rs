//! The `timeout` parameter that Kubernetes' clients put into the query: how long they wait.

use std::{borrow::Cow, time::Duration};

use crate::domain::parse_duration;

/// The value of `timeout` in a query. One that can't be read, or that is not positive, counts as none: the
/// answer is the same with or without it, only the time for it is not known.
pub(super) fn from_query(query: &str) -> Option<Duration> {
    let value = query.split('&').find_map(|pair| pair.strip_prefix("timeout="))?;
    parse_duration(&unescape(value)?).filter(|duration| !duration.is_zero())
}

/// Undoes percent-encoding: a unit may be `%C2%B5s`.
fn unescape(text: &str) -> Option<Cow<'_, str>> {
    if !text.contains(['%', '+']) {
        return Some(Cow::Borrowed(text));
    }
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, tail)) = rest.split_first() {
        rest = tail;
        bytes.push(match first {
            b'+' => b' ',
            b'%' => {
                let (code, tail) = tail.split_at_checked(2)?;
                rest = tail;
                // A sign would be taken for a digit otherwise.
                let code = str::from_utf8(code).ok().filter(|code| !code.starts_with('+'))?;
                u8::from_str_radix(code, 16).ok()?
            }
            other => *other,
        });
    }
    String::from_utf8(bytes).ok().map(Cow::Owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_read_as_go_reads_them() {
        let cases = [
            ("timeout=10s", 10_000_000_000),
            ("timeout=1m30s", 90_000_000_000),
            ("timeout=1.5h", 5_400_000_000_000),
            ("a=b&timeout=250ms&timeout=1s", 250_000_000),
            ("timeout=100us", 100_000),
            ("timeout=100%C2%B5s", 100_000),
            ("timeout=100%CE%BCs", 100_000),
            ("timeout=7ns", 7),
            ("timeout=.5s", 500_000_000),
            ("timeout=5.s", 5_000_000_000),
            ("timeout=%2B3s", 3_000_000_000),
            ("timeout=1h0.0000000000000000000001s", 3_600_000_000_000),
            ("timeout=9223372036854775807ns", 9_223_372_036_854_775_807),
        ];
        for (query, nanoseconds) in cases {
            assert_eq!(from_query(query), Some(Duration::from_nanos(nanoseconds)), "{query}");
        }
    }

    #[test]
    fn what_is_no_positive_duration_is_none() {
        let values = [
            "",
            "0",
            "0s",
            "-1s",
            "10",
            "s",
            ".s",
            "1.2.3s",
            "10 s",
            "10d",
            "1e3s",
            "ten",
            "+s",
            "1s2",
            "%2",
            "%zzs",
            "1%+1s",
            "%ff",
            "9223372036854775808ns",
            "99999999999999999999s",
            "2562048h",
        ];
        for value in values {
            assert_eq!(from_query(&format!("timeout={value}")), None, "{value}");
        }
        assert_eq!(from_query("x=1&timeouts=3s"), None);
    }
}
