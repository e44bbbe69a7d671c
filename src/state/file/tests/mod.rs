//! Tests of the guarantees that are specific to the ledger in a file.

mod crash;
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

/// A temporary directory and the path of a ledger in it. In memory if possible, because thousands of syncs
/// are slow on a disk.
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
    entries.iter().map(|(key, cluster)| (key.clone(), cluster.clone())).collect()
}

/// The entries that a new process finds.
fn found(path: &Path) -> Model {
    entries(&FileLedger::open(path).expect("a ledger"))
}

fn model(entries: &[(&str, &str)]) -> Model {
    entries.iter().map(|(name, value)| (key(name), cluster(value))).collect()
}

/// Writes `to` under `name`, whatever the current entry is.
fn put(ledger: &FileLedger, name: &str, to: &str) -> Result<(), LedgerError> {
    block_on(async {
        let there = ledger.read(&key(name), None).await?;
        let swapped = ledger.compare_and_swap(&key(name), None, there.as_ref(), &cluster(to)).await?;
        assert_eq!(swapped, Swap::Done);
        Ok(())
    })
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
fn a_ledger_that_is_written_over_and_over_stays_small() {
    let (_directory, path) = place();
    let ledger = FileLedger::open(&path).unwrap();
    for number in 0..400 {
        put(&ledger, ["a", "b"][number % 2], &number.to_string()).unwrap();
    }
    let bytes = fs::metadata(&path).unwrap().len();
    assert!(bytes < 256 * 1024, "{bytes}");
    drop(ledger);
    assert_eq!(found(&path), model(&[("a", "398"), ("b", "399")]));
}

#[derive(Clone, Debug)]
enum Op {
    /// Write the cluster under the key, with the current entry as the expected one.
    Put {
        key: usize,
        to: ClusterName,
    },
    /// Write the cluster under the key, with this expected entry.
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

/// The reference implementation of a swap.
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
        let mut ledger = FileLedger::open(&path).unwrap();
        let mut model = Model::new();
        for op in ops {
            let (key, expected, to) = match op {
                Op::Put { key, to } => (&keys[key], model.get(&keys[key]).cloned(), to),
                Op::Guess { key, expected, to } => (&keys[key], expected, to),
                Op::Reopen => {
                    drop(ledger);
                    ledger = FileLedger::open(&path).unwrap();
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
