//! Tests of when swaps become visible, and of swaps whose future is dropped.
//!
//! The writer shows a commit to readers by updating `entries`, so a test that holds a read lock stops it
//! right after a commit.

use std::time::{Duration, Instant};

use super::*;

/// The timeout of tests that wait.
const PATIENCE: Duration = Duration::from_secs(20);

fn read(ledger: &FileLedger, name: &str) -> Option<ClusterName> {
    block_on(ledger.read(&key(name), None)).expect("a usable ledger")
}

/// The entries that a process would find after a crash at this moment.
fn on_disk(path: &Path) -> Model {
    let (_directory, copy) = place();
    fs::copy(path, &copy).expect("a copy");
    found(&copy)
}

/// Waits until the file has the `expected` entries.
fn wait_for(path: &Path, expected: &Model) {
    let deadline = Instant::now() + PATIENCE;
    while on_disk(path) != *expected {
        assert!(Instant::now() < deadline, "{expected:?} was never written");
        thread::yield_now();
    }
}

#[test]
fn a_value_is_on_disk_before_it_is_answered() {
    let (_directory, path) = place();
    let ledger = FileLedger::open(&path).unwrap();
    let (key, x) = (key("a"), cluster("x"));
    let reading = ledger.entries.read().unwrap();
    let mut swapping = ledger.compare_and_swap(&key, None, None, &x);
    assert!((&mut swapping).now_or_never().is_none());
    wait_for(&path, &model(&[("a", "x")]));
    assert!((&mut swapping).now_or_never().is_none());
    assert!(reading.is_empty());
    drop(reading);
    assert_eq!(block_on(swapping).unwrap(), Swap::Done);
    assert_eq!(read(&ledger, "a"), Some(x));
}

#[test]
fn a_swap_whose_caller_goes_away_while_it_is_written_is_wholly_there() {
    let (_directory, path) = place();
    let ledger = FileLedger::open(&path).unwrap();
    let reading = ledger.entries.read().unwrap();
    let mut swapping = swap(&ledger, "a", None, "x").boxed();
    assert!((&mut swapping).now_or_never().is_none());
    wait_for(&path, &model(&[("a", "x")]));
    drop(swapping);
    drop(reading);
    assert_eq!(block_on(swap(&ledger, "a", None, "y")), Swap::Lost(Some(cluster("x"))));
    drop(ledger);
    assert_eq!(found(&path), model(&[("a", "x")]));
}

#[test]
fn a_swap_whose_caller_goes_away_before_that_is_not_there_at_all() {
    let (_directory, path) = place();
    let ledger = FileLedger::open(&path).unwrap();
    let reading = ledger.entries.read().unwrap();
    let mut first = swap(&ledger, "a", None, "x").boxed();
    assert!((&mut first).now_or_never().is_none());
    wait_for(&path, &model(&[("a", "x")]));
    assert!(swap(&ledger, "b", None, "x").now_or_never().is_none());
    drop(reading);
    assert_eq!(block_on(first), Swap::Done);
    assert_eq!(block_on(swap(&ledger, "b", Some("z"), "y")), Swap::Lost(None));
    drop(ledger);
    assert_eq!(found(&path), model(&[("a", "x")]));
}

#[test]
fn swaps_that_wait_are_decided_in_their_order() {
    let (_directory, path) = place();
    let ledger = FileLedger::open(&path).unwrap();
    let reading = ledger.entries.read().unwrap();
    let mut first = swap(&ledger, "first", None, "x").boxed();
    assert!((&mut first).now_or_never().is_none());
    wait_for(&path, &model(&[("first", "x")]));
    let mut waiting: Vec<_> =
        [("a", None, "x"), ("a", Some("x"), "y"), ("a", Some("x"), "z"), ("b", None, "x")]
            .map(|(name, expected, to)| swap(&ledger, name, expected, to).boxed())
            .into();
    assert!(waiting.iter_mut().all(|swap| swap.now_or_never().is_none()));
    drop(reading);
    let answers: Vec<_> = waiting.into_iter().map(block_on).collect();
    assert_eq!(answers, [Swap::Done, Swap::Done, Swap::Lost(Some(cluster("y"))), Swap::Done]);
    assert_eq!(block_on(first), Swap::Done);
    drop(ledger);
    assert_eq!(found(&path), model(&[("first", "x"), ("a", "y"), ("b", "x")]));
}
