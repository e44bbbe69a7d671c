//! Allocations that are remembered until the process ends, and labels of clusters.
//!
//! [`MemoryLedger`] survives nothing, and says so by its name: it is for tries, tests and `preview`. The
//! entries themselves (`Entries`) are what the ledger in a file answers from, too.
//!
//! There is one entry for each workload, and there may be a hundred thousand of them. A key is therefore
//! one piece of text instead of five, and the name of a cluster is there once, however many entries hold
//! it.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures_util::FutureExt as _;
use futures_util::future::{BoxFuture, ready};

use super::{ClusterLister, Ledger, LedgerError, LookupError, Swap};
use crate::domain::{AllocationKey, Binding, Cluster, ClusterKind, ClusterName};

/// A ledger that is gone with the process.
#[derive(Debug, Default)]
pub struct MemoryLedger {
    entries: Mutex<Entries>,
}

impl MemoryLedger {
    /// A ledger that holds these entries; of several with one key, the last.
    pub fn with_entries(entries: impl IntoIterator<Item = (AllocationKey, ClusterName)>) -> Self {
        let mut held = Entries::default();
        for (key, cluster) in entries {
            held.insert(&key, &cluster);
        }
        Self { entries: Mutex::new(held) }
    }

    /// The entries. A thread that panicked while it held them has left them whole: nothing panics between two
    /// changes that belong together.
    fn lock(&self) -> MutexGuard<'_, Entries> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn swap(&self, key: &AllocationKey, expected: Option<&ClusterName>, cluster: &ClusterName) -> Swap {
        let mut entries = self.lock();
        let there = entries.get(key);
        if there.as_ref() != expected {
            return Swap::Lost(there);
        }
        entries.insert(key, cluster);
        Swap::Done
    }
}

/// Labels of clusters that somebody has told about, over what is known of them elsewhere.
#[derive(Debug, Default)]
pub struct MemoryLabels {
    labels: BTreeMap<ClusterName, BTreeMap<String, String>>,
    beneath: Option<Arc<dyn ClusterLister>>,
}

impl MemoryLabels {
    /// These labels; each replaces what `beneath` says about that label of that cluster.
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
        ready(Ok(self.lock().get(key))).boxed()
    }

    fn compare_and_swap<'a>(
        &'a self,
        key: &'a AllocationKey,
        _: Option<&'a Binding>,
        expected: Option<&'a ClusterName>,
        cluster: &'a ClusterName,
    ) -> BoxFuture<'a, Result<Swap, LedgerError>> {
        // Not before it is polled: a future that is made and dropped writes nothing.
        async move { Ok(self.swap(key, expected, cluster)) }.boxed()
    }
}

/// Which cluster each allocation is in, in little memory.
#[derive(Default)]
pub(super) struct Entries {
    clusters: HashMap<PackedKey, Arc<ClusterName>>,
    /// The clusters that some entry holds, each once.
    names: HashSet<Arc<ClusterName>>,
}

impl Entries {
    pub(super) fn len(&self) -> usize {
        self.clusters.len()
    }

    pub(super) fn get(&self, key: &AllocationKey) -> Option<ClusterName> {
        self.clusters.get(&PackedKey::from(key)).map(|cluster| ClusterName::clone(cluster))
    }

    pub(super) fn insert(&mut self, key: &AllocationKey, cluster: &ClusterName) {
        let name = self.names.get(cluster).map_or_else(|| Arc::new(cluster.clone()), Arc::clone);
        self.names.insert(Arc::clone(&name));
        let before = self.clusters.insert(PackedKey::from(key), name);
        // Held by `names` and here: the last entry of that cluster has just gone.
        if let Some(before) = before.filter(|before| Arc::strong_count(before) == 2) {
            self.names.remove(&before);
        }
    }

    /// The entries, in no order.
    pub(super) fn iter(&self) -> impl Iterator<Item = (AllocationKey, &ClusterName)> {
        self.clusters.iter().map(|(key, cluster)| (key.unpack(), &**cluster))
    }
}

impl fmt::Debug for Entries {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Entries").field("len", &self.len()).finish_non_exhaustive()
    }
}

/// An [`AllocationKey`] in one piece: its fields one after the other, and where the first four end.
#[derive(PartialEq, Eq, Hash)]
struct PackedKey {
    text: Box<str>,
    ends: [usize; 4],
}

impl From<&AllocationKey> for PackedKey {
    fn from(key: &AllocationKey) -> Self {
        let AllocationKey { allocation, group, kind, namespace, name } = key;
        let mut end = 0;
        let ends = [allocation, group, kind, namespace].map(|field| {
            end += field.len();
            end
        });
        let text = [allocation.as_str(), group, kind, namespace, name].concat();
        Self { text: text.into_boxed_str(), ends }
    }
}

impl PackedKey {
    fn unpack(&self) -> AllocationKey {
        let field = |range: Range<usize>| self.text[range].to_owned();
        let [allocation, group, kind, namespace] = self.ends;
        AllocationKey {
            allocation: field(0..allocation),
            group: field(allocation..group),
            kind: field(group..kind),
            namespace: field(kind..namespace),
            name: field(namespace..self.text.len()),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::state::tests::{any_key, cluster, key};

    proptest! {
        #[test]
        fn a_packed_key_holds_the_whole_key(key in any_key(), other in any_key()) {
            prop_assert_eq!(PackedKey::from(&key).unpack(), key.clone());
            prop_assert_eq!(PackedKey::from(&key) == PackedKey::from(&other), key == other);
        }
    }

    #[test]
    fn an_entry_costs_little_more_than_its_text() {
        let cost = size_of::<(PackedKey, Arc<ClusterName>)>();
        assert!(cost <= 64, "{cost} bytes, and the table of a hundred thousand has room for more");
    }

    #[test]
    fn keys_whose_fields_join_to_the_same_text_are_different_keys() {
        let mut entries = Entries::default();
        let (one, other) = (key("ab"), AllocationKey { namespace: "nsa".into(), ..key("b") });
        entries.insert(&one, &cluster("x"));
        assert_eq!((entries.get(&one), entries.get(&other)), (Some(cluster("x")), None));
    }

    #[test]
    fn the_name_of_a_cluster_goes_with_its_last_entry() {
        let mut entries = Entries::default();
        for (name, value) in [("a", "x"), ("b", "x"), ("a", "x"), ("a", "y")] {
            entries.insert(&key(name), &cluster(value));
        }
        assert_eq!(entries.names.len(), 2);
        entries.insert(&key("b"), &cluster("y"));
        assert_eq!(entries.names.iter().map(|name| name.as_str()).collect::<Vec<_>>(), ["y"]);
        assert_eq!(entries.get(&key("b")), Some(cluster("y")));
    }

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
        assert_eq!(ledger.lock().get(&key("a")), Some(cluster("y")));
    }

    #[test]
    fn of_several_entries_with_one_key_the_last_one_counts() {
        let ledger = MemoryLedger::with_entries([(key("a"), cluster("x")), (key("a"), cluster("y"))]);
        assert_eq!(ledger.lock().iter().collect::<Vec<_>>(), [(key("a"), &cluster("y"))]);
        assert_eq!(format!("{ledger:?}").matches("rollout").count(), 0, "entries are not for the log");
    }
}
