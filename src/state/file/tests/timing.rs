//! What is seen when, and what becomes of swaps whose caller goes away.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use super::*;

/// After this a test that waits has failed.
const PATIENCE: Duration = Duration::from_secs(20);

/// A file whose syncs wait to be let through.
struct Gated {
    file: File,
    reached: Sender<()>,
    pass: Receiver<()>,
}

impl Tape for Gated {
    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.file.append(bytes)
    }

    fn sync(&mut self) -> io::Result<()> {
        self.reached.send(()).map_err(io::Error::other)?;
        self.pass.recv_timeout(PATIENCE).map_err(io::Error::other)?;
        self.file.sync()
    }

    fn truncate(&mut self, len: u64) -> io::Result<()> {
        self.file.truncate(len)
    }
}

/// The other side of the gate.
struct Gate {
    reached: Receiver<()>,
    pass: Sender<()>,
}

impl Gate {
    /// Waits until a record has been written and is to be synced.
    fn wait(&self) {
        self.reached.recv_timeout(PATIENCE).expect("somebody writes");
    }

    fn open(&self) {
        self.pass.send(()).expect("somebody waits");
    }
}

fn open_gated(path: &Path) -> (FileLedger, Gate) {
    let ((reached, at_gate), (pass, passing)) = (channel(), channel());
    let ledger =
        FileLedger::open_with(path, COMPACT_ABOVE, |file| Box::new(Gated { file, reached, pass: passing }));
    (ledger.expect("a ledger"), Gate { reached: at_gate, pass })
}

fn read(ledger: &FileLedger, name: &str) -> Option<ClusterName> {
    block_on(ledger.read(&key(name), None)).expect("a usable ledger")
}

#[test]
fn a_value_is_neither_seen_nor_answered_before_it_is_on_disk() {
    let (_directory, path) = place();
    let (ledger, gate) = open_gated(&path);
    let (key, x) = (key("a"), cluster("x"));
    let mut swapping = ledger.compare_and_swap(&key, None, None, &x);
    assert!((&mut swapping).now_or_never().is_none());
    gate.wait();
    assert_eq!(lines(&path), 2);
    assert_eq!(read(&ledger, "a"), None);
    assert!((&mut swapping).now_or_never().is_none());
    gate.open();
    assert_eq!(block_on(swapping).unwrap(), Swap::Done);
    assert_eq!(read(&ledger, "a"), Some(x));
}

#[test]
fn a_swap_whose_caller_goes_away_while_it_is_written_is_wholly_there() {
    let (_directory, path) = place();
    let (ledger, gate) = open_gated(&path);
    let mut swapping = swap(&ledger, "a", None, "x").boxed();
    assert!((&mut swapping).now_or_never().is_none());
    gate.wait();
    drop(swapping);
    gate.open();
    // The next one comes after it.
    assert_eq!(block_on(swap(&ledger, "a", None, "y")), Swap::Lost(Some(cluster("x"))));
    drop(ledger);
    assert_eq!(found(&path), model(&[("a", "x")]));
}

#[test]
fn a_swap_whose_caller_goes_away_before_that_is_not_there_at_all() {
    let (_directory, path) = place();
    let (ledger, gate) = open_gated(&path);
    let (key, x) = (key("a"), cluster("x"));
    let mut first = ledger.compare_and_swap(&key, None, None, &x);
    assert!((&mut first).now_or_never().is_none());
    gate.wait();
    assert!(swap(&ledger, "b", None, "x").now_or_never().is_none());
    // One for the first, and one more, if it were needed.
    gate.open();
    gate.open();
    assert_eq!(block_on(first).unwrap(), Swap::Done);
    assert_eq!(block_on(swap(&ledger, "b", Some("z"), "y")), Swap::Lost(None));
    drop(ledger);
    assert_eq!(found(&path), model(&[("a", "x")]));
}

#[test]
fn swaps_that_wait_are_synced_together_in_their_order() {
    let (_directory, path) = place();
    let (ledger, gate) = open_gated(&path);
    let mut first = swap(&ledger, "first", None, "x").boxed();
    assert!((&mut first).now_or_never().is_none());
    gate.wait();
    let mut waiting: Vec<_> =
        [("a", None, "x"), ("a", Some("x"), "y"), ("a", Some("x"), "z"), ("b", None, "x")]
            .map(|(name, expected, to)| swap(&ledger, name, expected, to).boxed())
            .into();
    assert!(waiting.iter_mut().all(|swap| swap.now_or_never().is_none()));
    // One for the first, one for all the others.
    gate.open();
    gate.open();
    let answers: Vec<_> = waiting.into_iter().map(block_on).collect();
    assert_eq!(answers, [Swap::Done, Swap::Done, Swap::Lost(Some(cluster("y"))), Swap::Done]);
    assert_eq!(block_on(first), Swap::Done);
    drop(ledger);
    assert_eq!(found(&path), model(&[("first", "x"), ("a", "y"), ("b", "x")]));
}

/// A file that is the end of whoever writes to it.
struct Deadly;

impl Tape for Deadly {
    fn append(&mut self, _: &[u8]) -> io::Result<()> {
        panic!("as a bug would");
    }

    fn sync(&mut self) -> io::Result<()> {
        Ok(())
    }

    fn truncate(&mut self, _: u64) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_ledger_whose_writer_has_gone_says_so_and_can_still_be_read() {
    let (_directory, path) = place();
    put(&FileLedger::open(&path).unwrap(), "a", "x").unwrap();
    let ledger = FileLedger::open_with(&path, COMPACT_ABOVE, |_| Box::new(Deadly)).unwrap();
    for _ in 0..2 {
        let error = put(&ledger, "a", "y").unwrap_err();
        assert_eq!(error.source.to_string(), "its writer has stopped");
    }
    assert_eq!(read(&ledger, "a"), Some(cluster("x")));
}
