//! The time of a line: RFC 3339, UTC, microseconds.

use std::{
    fmt::{self, Write as _},
    time::{Duration, SystemTime},
};

const DAY: u64 = 24 * 60 * 60;

/// The last second of the year 9999; RFC 3339 has no word for a later one.
const LAST_SECOND: u64 = 253_402_300_799;

/// Writes times, and keeps the text of the second it wrote last: under load the next line is of the same one.
#[derive(Debug, Default)]
pub(super) struct Stamp {
    second: u64,
    /// Up to the decimal point; empty if there is none yet.
    text: String,
}

impl Stamp {
    /// Appends `time` to `line`. A clock that is set to before 1970 is wrong anyhow, and is written as 1970.
    pub(super) fn write(&mut self, time: SystemTime, line: &mut String) {
        let elapsed = time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or(Duration::ZERO);
        let second = elapsed.as_secs().min(LAST_SECOND);
        if self.text.is_empty() || self.second != second {
            self.second = second;
            self.text.clear();
            write_second(second, &mut self.text)
                .unwrap_or_else(|fmt::Error| unreachable!("a String takes it"));
        }
        line.push_str(&self.text);
        let micros = elapsed.subsec_micros();
        for unit in [100_000, 10_000, 1_000, 100, 10, 1] {
            line.push(char::from(b'0' + (micros / unit % 10) as u8));
        }
        line.push('Z');
    }
}

fn write_second(second: u64, text: &mut String) -> fmt::Result {
    let (year, month, day) = date(second / DAY);
    let (hour, minute, second) = (second % DAY / 3600, second % 3600 / 60, second % 60);
    write!(text, "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.")
}

/// The date of a day that is counted from 1970-01-01. Once a second at most, so it may count the years off.
fn date(mut days: u64) -> (u64, u64, u64) {
    let mut year = 1970;
    while days >= 365 + leap_day(year) {
        days -= 365 + leap_day(year);
        year += 1;
    }
    let mut month = 1;
    for length in [31, 28 + leap_day(year), 31, 30, 31, 30, 31, 31, 30, 31, 30] {
        if days < length {
            break;
        }
        days -= length;
        month += 1;
    }
    (year, month, days + 1)
}

fn leap_day(year: u64) -> u64 {
    u64::from(year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(stamp: &mut Stamp, time: SystemTime) -> String {
        let mut line = String::new();
        stamp.write(time, &mut line);
        line
    }

    #[test]
    fn known_instants_are_written_as_rfc_3339_has_them() {
        let mut stamp = Stamp::default();
        for (second, nanos, expected) in [
            (0, 0, "1970-01-01T00:00:00.000000Z"),
            (68_169_600, 999_999_999, "1972-02-29T00:00:00.999999Z"),
            (946_684_799, 1_000, "1999-12-31T23:59:59.000001Z"),
            (951_782_400, 0, "2000-02-29T00:00:00.000000Z"),
            (951_868_800, 0, "2000-03-01T00:00:00.000000Z"),
            (1_796_022_000, 123_456_000, "2026-11-30T07:00:00.123456Z"),
            (1_796_022_000, 5_000, "2026-11-30T07:00:00.000005Z"),
            (1_735_689_599, 0, "2024-12-31T23:59:59.000000Z"),
            (4_107_542_399, 0, "2100-02-28T23:59:59.000000Z"),
            (4_107_542_400, 0, "2100-03-01T00:00:00.000000Z"),
            (LAST_SECOND, 0, "9999-12-31T23:59:59.000000Z"),
            (LAST_SECOND + 1, 0, "9999-12-31T23:59:59.000000Z"),
        ] {
            let time = SystemTime::UNIX_EPOCH + Duration::new(second, nanos);
            assert_eq!(written(&mut stamp, time), expected);
        }
    }

    #[test]
    fn a_time_before_1970_is_written_as_1970() {
        let time = SystemTime::UNIX_EPOCH - Duration::from_millis(1500);
        assert_eq!(written(&mut Stamp::default(), time), "1970-01-01T00:00:00.000000Z");
    }

    #[test]
    fn a_clock_that_goes_back_does_not_get_the_second_before() {
        let mut stamp = Stamp::default();
        let at = |second| SystemTime::UNIX_EPOCH + Duration::from_secs(second);
        assert_eq!(written(&mut stamp, at(61)), "1970-01-01T00:01:01.000000Z");
        assert_eq!(written(&mut stamp, at(60)), "1970-01-01T00:01:00.000000Z");
    }
}
