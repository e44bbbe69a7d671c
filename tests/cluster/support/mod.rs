//! A real API server for tests, and helpers to use it.
//!
//! Not a test. `tests/cluster/README.md` describes its use.

pub(crate) mod client;
pub(crate) mod guarded;
pub(crate) mod hook;
pub(crate) mod kubectl;
pub(crate) mod plane;
mod port;
mod users;
pub(crate) mod world;

use std::time::{Duration, Instant};

/// The deadline of each wait.
const PATIENCE: Duration = Duration::from_secs(30);

/// Waits until `holds`, and panics after the deadline.
#[track_caller]
pub(crate) fn until(what: &str, mut holds: impl FnMut() -> bool) {
    until_some(what, || holds().then_some(()));
}

/// Waits until `look` returns a value, and panics after the deadline.
#[track_caller]
pub(crate) fn until_some<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let deadline = Instant::now() + PATIENCE;
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(Instant::now() < deadline, "it never came about that {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Prints that the running test is skipped, and why.
pub(crate) fn left_out(why: &str) {
    let thread = std::thread::current();
    tell(&format!("left out: {}: {why}", thread.name().unwrap_or("a test")));
}

#[expect(clippy::print_stderr, reason = "who reads the log of the tests has to see it")]
pub(crate) fn tell(what: &str) {
    eprintln!("{what}");
}
