//! Tests of the guarantees of all ledgers, and shared helpers.

use std::collections::BTreeMap;
use std::sync::Arc;

use proptest::prelude::*;

use super::file::FileLedger;
use super::memory::MemoryLedger;
use super::{Ledger, Swap};
use crate::domain::{AllocationKey, ClusterName};

/// The entries of a ledger in comparable form.
pub(super) type Model = BTreeMap<AllocationKey, ClusterName>;

pub(super) fn key(name: &str) -> AllocationKey {
    AllocationKey {
        allocation: "fort".into(),
        group: "deploy.example.com".into(),
        kind: "Rollout".into(),
        namespace: "ns".into(),
        name: name.into(),
    }
}

pub(super) fn cluster(name: &str) -> ClusterName {
    ClusterName::new(name).expect("a name")
}

/// Keys from few short texts, so that the concatenations of their fields are often equal.
pub(super) fn any_key() -> impl Strategy<Value = AllocationKey> {
    let field = || prop_oneof!["[ab]{0,2}", "\\PC{0,3}", Just("\n\u{0}\"\\".to_owned())];
    (field(), field(), field(), field(), field()).prop_map(|(allocation, group, kind, namespace, name)| {
        AllocationKey { allocation, group, kind, namespace, name }
    })
}

pub(super) fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().build().expect("a runtime").block_on(future)
}

pub(super) async fn swap(ledger: &dyn Ledger, name: &str, expected: Option<&str>, to: &str) -> Swap {
    let expected = expected.map(cluster);
    ledger.compare_and_swap(&key(name), None, expected.as_ref(), &cluster(to)).await.expect("a usable ledger")
}

/// Runs `test` with an empty ledger of each implementation.
async fn with_each<F: Future<Output = ()>>(test: impl Fn(Arc<dyn Ledger>) -> F) {
    test(Arc::new(MemoryLedger::default())).await;
    let directory = tempfile::tempdir().expect("a directory");
    test(Arc::new(FileLedger::open(directory.path().join("ledger")).expect("a ledger"))).await;
}

#[tokio::test]
async fn an_entry_is_there_when_it_was_put_there() {
    with_each(|ledger| async move {
        assert_eq!(ledger.read(&key("a"), None).await.unwrap(), None);
        assert_eq!(swap(&*ledger, "a", None, "x").await, Swap::Done);
        assert_eq!(ledger.read(&key("a"), None).await.unwrap(), Some(cluster("x")));
        assert_eq!(ledger.read(&key("b"), None).await.unwrap(), None);
    })
    .await;
}

#[tokio::test]
async fn a_swap_needs_what_is_there_and_says_what_it_was() {
    with_each(|ledger| async move {
        assert_eq!(swap(&*ledger, "a", Some("x"), "y").await, Swap::Lost(None));
        assert_eq!(swap(&*ledger, "a", None, "x").await, Swap::Done);
        assert_eq!(swap(&*ledger, "a", None, "y").await, Swap::Lost(Some(cluster("x"))));
        assert_eq!(swap(&*ledger, "a", Some("y"), "z").await, Swap::Lost(Some(cluster("x"))));
        assert_eq!(ledger.read(&key("a"), None).await.unwrap(), Some(cluster("x")));
        assert_eq!(swap(&*ledger, "a", Some("x"), "y").await, Swap::Done);
        assert_eq!(swap(&*ledger, "a", Some("y"), "y").await, Swap::Done);
        assert_eq!(ledger.read(&key("a"), None).await.unwrap(), Some(cluster("y")));
    })
    .await;
}

#[tokio::test]
async fn every_field_of_the_key_counts() {
    with_each(|ledger| async move {
        let other = || "other".to_owned();
        let keys = [
            key("a"),
            AllocationKey { allocation: other(), ..key("a") },
            AllocationKey { group: String::new(), ..key("a") },
            AllocationKey { kind: other(), ..key("a") },
            AllocationKey { namespace: String::new(), ..key("a") },
            AllocationKey { name: other(), ..key("a") },
        ];
        for (number, key) in keys.iter().enumerate() {
            let to = cluster(&number.to_string());
            assert_eq!(ledger.compare_and_swap(key, None, None, &to).await.unwrap(), Swap::Done, "{key}");
        }
        for (number, key) in keys.iter().enumerate() {
            assert_eq!(ledger.read(key, None).await.unwrap(), Some(cluster(&number.to_string())), "{key}");
        }
    })
    .await;
}

#[tokio::test]
async fn a_swap_that_is_never_polled_writes_nothing() {
    with_each(|ledger| async move {
        drop(ledger.compare_and_swap(&key("a"), None, None, &cluster("x")));
        assert_eq!(swap(&*ledger, "a", None, "y").await, Swap::Done);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_many_writers_with_the_same_expectation_exactly_one_wins() {
    with_each(|ledger| async move {
        let mut before: Option<String> = None;
        for round in 0..5 {
            let tasks: Vec<_> = (0..50)
                .map(|task| {
                    let (ledger, before) = (Arc::clone(&ledger), before.clone());
                    tokio::spawn(async move {
                        let to = format!("{round}-{task}");
                        (swap(&*ledger, "a", before.as_deref(), &to).await, to)
                    })
                })
                .collect();
            let (mut winners, mut seen) = (Vec::new(), Vec::new());
            for task in tasks {
                match task.await.unwrap() {
                    (Swap::Done, to) => winners.push(to),
                    (Swap::Lost(there), _) => seen.push(there),
                }
            }
            assert_eq!((winners.len(), seen.len()), (1, 49));
            let winner = winners.remove(0);
            assert!(seen.iter().all(|there| *there == Some(cluster(&winner))), "{winner} {seen:?}");
            assert_eq!(ledger.read(&key("a"), None).await.unwrap(), Some(cluster(&winner)));
            before = Some(winner);
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn writers_of_different_entries_do_not_disturb_each_other() {
    with_each(|ledger| async move {
        let tasks: Vec<_> = (0..100)
            .map(|task| {
                let ledger = Arc::clone(&ledger);
                tokio::spawn(async move { swap(&*ledger, &task.to_string(), None, "x").await })
            })
            .collect();
        for task in tasks {
            assert_eq!(task.await.unwrap(), Swap::Done);
        }
        for task in 0..100 {
            assert_eq!(ledger.read(&key(&task.to_string()), None).await.unwrap(), Some(cluster("x")));
        }
    })
    .await;
}
