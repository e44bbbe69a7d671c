//! Waiting for what several programs have to bring about together, on a machine that has other things to do
//! too.

use std::time::{Duration, Instant};

const PATIENCE: Duration = Duration::from_mins(2);

/// Waits until `holds`; fails the test if it never does.
#[track_caller]
pub(crate) fn until(what: &str, mut holds: impl FnMut() -> bool) {
    until_some(what, || holds().then_some(()));
}

/// Whether it comes about that it `holds` within a few seconds.
pub(crate) fn soon(mut holds: impl FnMut() -> bool) -> bool {
    let deadline = Instant::now() + Duration::from_secs(5);
    while !holds() {
        if Instant::now() > deadline {
            return false;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    true
}

/// Waits until `look` finds something, and gives that; fails the test if it never does.
#[track_caller]
pub(crate) fn until_some<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    until_ok(what, || look().ok_or(""))
}

/// The same, for a `look` that says why it found nothing.
#[track_caller]
pub(crate) fn until_ok<T, E: std::fmt::Display>(what: &str, mut look: impl FnMut() -> Result<T, E>) -> T {
    let deadline = Instant::now() + PATIENCE;
    loop {
        match look() {
            Ok(found) => return found,
            Err(why) => assert!(Instant::now() < deadline, "it never came about that {what} {why}"),
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}
