//! What the ledger in a file promises beyond what every ledger does.

mod crash;
mod failure;
mod kill;
mod lost;
mod opening;
mod timing;

use std::fs;
use std::path::Path;

use proptest::prelude::*;
use tempfile::TempDir;

use super::*;
use crate::state::tests::{Model, block_on, cluster, key, swap};

/// A directory and the path of a ledger in it; in memory, where there is such a place: thousands of syncs take
/// their time on a disk, and no test here can cut the power.
fn place() -> (TempDir, PathBuf) {
    let in_memory = tempfile::tempdir_in("/dev/shm");
    let directory = in_memory.or_else(|_| tempfile::tempdir()).expect("a directory");
    let path = directory.path().join("ledger");
    (directory, path)
}

/// The same on a disk.
fn place_on_disk() -> (TempDir, PathBuf) {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("ledger");
    (directory, path)
}

fn entries(ledger: &FileLedger) -> Model {
    let entries = ledger.entries.read().expect("nothing panicked");
    entries.iter().map(|(key, cluster)| (key, cluster.clone())).collect()
}

/// What somebody finds who opens it now.
fn found(path: &Path) -> Model {
    entries(&FileLedger::open(path).expect("a ledger"))
}

fn model(entries: &[(&str, &str)]) -> Model {
    entries.iter().map(|(name, value)| (key(name), cluster(value))).collect()
}

fn open_compacting(path: &Path, compact_above: usize) -> FileLedger {
    FileLedger::open_with(path, compact_above, |file| Box::new(file)).expect("a ledger")
}

/// Puts `to` under `name`, whatever is there.
fn put(ledger: &FileLedger, name: &str, to: &str) -> Result<(), LedgerError> {
    block_on(async {
        let there = ledger.read(&key(name), None).await?;
        let swapped = ledger.compare_and_swap(&key(name), None, there.as_ref(), &cluster(to)).await?;
        assert_eq!(swapped, Swap::Done);
        Ok(())
    })
}

fn lines(path: &Path) -> usize {
    fs::read_to_string(path).expect("text").lines().count()
}

#[test]
fn entries_are_found_again() {
    let (_directory, path) = place_on_disk();
    let ledger = FileLedger::open(&path).unwrap();
    for (name, to) in [("a", "x"), ("b", "y"), ("a", "z")] {
        put(&ledger, name, to).unwrap();
    }
    let expected = model(&[("a", "z"), ("b", "y")]);
    assert_eq!(entries(&ledger), expected);
    drop(ledger);
    assert_eq!(found(&path), expected);
    assert_eq!(found(&path), expected, "opening changes nothing");
}

#[test]
fn a_log_that_is_written_over_and_over_stays_small() {
    let (_directory, path) = place();
    let ledger = open_compacting(&path, 8);
    for number in 0..60 {
        put(&ledger, ["a", "b"][number % 2], &number.to_string()).unwrap();
        assert!(lines(&path) <= 1 + 9, "a header, and one record more than there may be");
    }
    drop(ledger);
    assert_eq!(found(&path), model(&[("a", "58"), ("b", "59")]));
}

#[test]
fn a_log_of_many_entries_is_left_alone() {
    let (_directory, path) = place();
    let ledger = open_compacting(&path, 8);
    for number in 0..40 {
        put(&ledger, &(number % 20).to_string(), &number.to_string()).unwrap();
    }
    drop(ledger);
    assert_eq!(lines(&path), 41);
}

#[test]
fn a_ledger_is_compacted_by_its_defaults() {
    let (_directory, path) = place_on_disk();
    let mut text = Vec::from(format::HEADER);
    for number in 0..COMPACT_ABOVE {
        format::write_record(&mut text, &key("a"), &cluster(&number.to_string())).unwrap();
    }
    fs::write(&path, text).unwrap();
    let ledger = FileLedger::open(&path).unwrap();
    put(&ledger, "a", "x").unwrap();
    drop(ledger);
    assert_eq!(lines(&path), 2);
    assert_eq!(found(&path), model(&[("a", "x")]));
}

#[derive(Clone, Debug)]
enum Op {
    /// Put the cluster under the key, expecting what is there.
    Put {
        key: usize,
        to: ClusterName,
    },
    /// Put it there if that is what is there.
    Guess {
        key: usize,
        expected: Option<ClusterName>,
        to: ClusterName,
    },
    Reopen,
}

fn any_op() -> impl Strategy<Value = Op> {
    let name = || "[xyz]".prop_map(|name| cluster(&name));
    prop_oneof![
        6 => (0..3_usize, name()).prop_map(|(key, to)| Op::Put { key, to }),
        3 => (0..3_usize, proptest::option::of(name()), name())
            .prop_map(|(key, expected, to)| Op::Guess { key, expected, to }),
        1 => Just(Op::Reopen),
    ]
}

/// What a ledger should do.
fn swap_in(model: &mut Model, key: &AllocationKey, expected: Option<&ClusterName>, to: &ClusterName) -> Swap {
    let there = model.get(key).cloned();
    if there.as_ref() != expected {
        return Swap::Lost(there);
    }
    model.insert(key.clone(), to.clone());
    Swap::Done
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn a_ledger_is_a_map_that_survives_being_reopened(
        keys in proptest::collection::vec(crate::state::tests::any_key(), 3),
        ops in proptest::collection::vec(any_op(), 0..60),
    ) {
        let (_directory, path) = place();
        let mut ledger = open_compacting(&path, 4);
        let mut model = Model::new();
        for op in ops {
            let (key, expected, to) = match op {
                Op::Put { key, to } => (&keys[key], model.get(&keys[key]).cloned(), to),
                Op::Guess { key, expected, to } => (&keys[key], expected, to),
                Op::Reopen => {
                    drop(ledger);
                    ledger = open_compacting(&path, 4);
                    prop_assert_eq!(&entries(&ledger), &model);
                    continue;
                }
            };
            let swapped = block_on(ledger.compare_and_swap(key, None, expected.as_ref(), &to)).unwrap();
            prop_assert_eq!(swapped, swap_in(&mut model, key, expected.as_ref(), &to));
            prop_assert_eq!(&entries(&ledger), &model);
        }
        drop(ledger);
        prop_assert_eq!(found(&path), model);
    }
}
