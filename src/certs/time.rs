//! Times in the format of RFC 3339.

use std::{
    fmt,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use rcgen::date_time_ymd;

/// The last second of the year 9999, the latest time that X.509 and RFC 3339 can express.
const LAST_SECOND: u64 = 253_402_300_799;

/// Displays a time as RFC 3339 in UTC, with seconds. A time before 1970 is shown as 1970.
#[derive(Clone, Copy, Debug)]
pub struct Rfc3339(pub SystemTime);

impl fmt::Display for Rfc3339 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = self.0.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs().min(LAST_SECOND);
        let time = date_time_ymd(1970, 1, 1) + Duration::from_secs(seconds);
        let (year, month, day) = (time.year(), u8::from(time.month()), time.day());
        let (hour, minute, second) = time.to_hms();
        write!(f, "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
    }
}
