//! A ledger in memory, and labels of clusters from the command line.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures_util::FutureExt as _;
use futures_util::future::{BoxFuture, ready};

use super::{ClusterLister, Ledger, LedgerError, LookupError, Swap};
use crate::domain::{AllocationKey, Binding, Cluster, ClusterKind, ClusterName};

/// A ledger that is lost when the process ends.
#[derive(Debug, Default)]
pub struct MemoryLedger {
    entries: Mutex<HashMap<AllocationKey, ClusterName>>,
}

impl MemoryLedger {
    /// A ledger with these entries. The last entry of a key is used.
    pub fn with_entries(entries: impl IntoIterator<Item = (AllocationKey, ClusterName)>) -> Self {
        Self { entries: Mutex::new(entries.into_iter().collect()) }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<AllocationKey, ClusterName>> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn swap(&self, key: &AllocationKey, expected: Option<&ClusterName>, cluster: &ClusterName) -> Swap {
        let mut entries = self.lock();
        let there = entries.get(key);
        if there != expected {
            return Swap::Lost(there.cloned());
        }
        entries.insert(key.clone(), cluster.clone());
        Swap::Done
    }
}

/// Labels of clusters from the command line. They override the labels from other sources.
#[derive(Debug, Default)]
pub struct MemoryLabels {
    labels: BTreeMap<ClusterName, BTreeMap<String, String>>,
    beneath: Option<Arc<dyn ClusterLister>>,
}

impl MemoryLabels {
    /// These labels override those of the clusters in `beneath`.
    pub fn new(
        labels: BTreeMap<ClusterName, BTreeMap<String, String>>,
        beneath: Option<Arc<dyn ClusterLister>>,
    ) -> Self {
        Self { labels, beneath }
    }
}

impl ClusterLister for MemoryLabels {
    fn known<'a>(
        &'a self,
        name: &'a ClusterName,
        namespace: &'a str,
    ) -> BoxFuture<'a, Result<Option<Cluster>, LookupError>> {
        async move {
            let known = match &self.beneath {
                Some(beneath) => beneath.known(name, namespace).await?,
                None => None,
            };
            let Some(labels) = self.labels.get(name) else { return Ok(known) };
            let mut cluster = known.unwrap_or_else(|| Cluster {
                name: name.clone(),
                labels: BTreeMap::new(),
                provider: None,
                region: None,
                zones: Vec::new(),
            });
            cluster.labels.extend(labels.clone());
            Ok(Some(cluster))
        }
        .boxed()
    }

    fn namesakes<'a>(
        &'a self,
        name: &'a ClusterName,
        namespace: &'a str,
    ) -> BoxFuture<'a, Result<Vec<(ClusterKind, Cluster)>, LookupError>> {
        async move {
            let Some(beneath) = &self.beneath else { return Ok(Vec::new()) };
            let mut namesakes = beneath.namesakes(name, namespace).await?;
            if let Some(labels) = self.labels.get(name) {
                for (_, cluster) in &mut namesakes {
                    cluster.labels.extend(labels.clone());
                }
            }
            Ok(namesakes)
        }
        .boxed()
    }
}

impl Ledger for MemoryLedger {
    fn read<'a>(
        &'a self,
        key: &'a AllocationKey,
        _: Option<&'a Binding>,
    ) -> BoxFuture<'a, Result<Option<ClusterName>, LedgerError>> {
        ready(Ok(self.lock().get(key).cloned())).boxed()
    }

    fn compare_and_swap<'a>(
        &'a self,
        key: &'a AllocationKey,
        _: Option<&'a Binding>,
        expected: Option<&'a ClusterName>,
        cluster: &'a ClusterName,
    ) -> BoxFuture<'a, Result<Swap, LedgerError>> {
        // Swaps when it is polled: a future that is dropped without a poll writes nothing.
        async move { Ok(self.swap(key, expected, cluster)) }.boxed()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::tests::{cluster, key};

    #[test]
    fn a_panic_of_another_thread_does_not_end_the_ledger() {
        let ledger = MemoryLedger::with_entries([(key("a"), cluster("x"))]);
        let panicked = std::thread::scope(|scope| {
            scope
                .spawn(|| {
                    let _held = ledger.entries.lock().unwrap();
                    panic!("while the entries are held");
                })
                .join()
                .is_err()
        });
        assert!(panicked && ledger.entries.is_poisoned());
        assert_eq!(ledger.swap(&key("a"), Some(&cluster("x")), &cluster("y")), Swap::Done);
        assert_eq!(ledger.lock().get(&key("a")), Some(&cluster("y")));
    }

    #[test]
    fn of_several_entries_with_one_key_the_last_one_counts() {
        let ledger = MemoryLedger::with_entries([(key("a"), cluster("x")), (key("a"), cluster("y"))]);
        assert_eq!(*ledger.lock(), HashMap::from([(key("a"), cluster("y"))]));
    }
}
