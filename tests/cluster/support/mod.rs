//! A real API server for tests, and what they do with it.
//!
//! Not a test. `tests/cluster/README.md` says how a test uses it.

pub(crate) mod client;
pub(crate) mod guarded;
pub(crate) mod hook;
pub(crate) mod kubectl;
pub(crate) mod plane;
mod port;
mod users;
pub(crate) mod world;

use std::time::{Duration, Instant};

/// How long something may take that has to come about by itself.
const PATIENCE: Duration = Duration::from_secs(30);

/// Waits until `holds`; fails the test if it never does.
#[track_caller]
pub(crate) fn until(what: &str, mut holds: impl FnMut() -> bool) {
    until_some(what, || holds().then_some(()));
}

/// Waits until `look` finds something, and gives that; fails the test if it never does.
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

/// Says that the test that runs is left out, and why.
pub(crate) fn left_out(why: &str) {
    let thread = std::thread::current();
    tell(&format!("left out: {}: {why}", thread.name().unwrap_or("a test")));
}

#[expect(clippy::print_stderr, reason = "who reads the log of the tests has to see it")]
pub(crate) fn tell(what: &str) {
    eprintln!("{what}");
}
