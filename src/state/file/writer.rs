//! The thread that writes to the file.
//!
//! A commit blocks until it is on disk, so swaps are sent to this thread through a channel. All waiting swaps
//! are committed together, because a sync takes milliseconds, and many workloads need their first entry at
//! the same time when the ledger is new. A swap whose caller goes away is still completed.

use std::collections::HashMap;
use std::io;
use std::sync::mpsc::Receiver;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard};

use tokio::sync::oneshot;

use super::place::Place;
use super::store::{Entries, Store};
use crate::domain::{AllocationKey, ClusterName};
use crate::state::Swap;

/// The most swaps in one commit.
const MAX_BATCH: usize = 512;

/// The result of a swap. All swaps of a commit share the reason of a failure.
pub(super) type Answer = Result<Swap, Arc<io::Error>>;

/// A swap to be decided and written.
pub(super) struct Request {
    pub(super) key: AllocationKey,
    pub(super) expected: Option<ClusterName>,
    pub(super) cluster: ClusterName,
    pub(super) answer: oneshot::Sender<Answer>,
}

pub(super) struct Writer {
    pub(super) place: Place,
    /// `None` after a failed commit: `redb` then refuses everything until the file is opened again.
    pub(super) store: Option<Store>,
    /// The entries that readers see. Only what is on disk.
    pub(super) entries: Arc<RwLock<Entries>>,
}

impl Writer {
    /// Runs until the ledger is dropped.
    pub(super) fn run(mut self, requests: &Receiver<Request>) {
        while let Ok(first) = requests.recv() {
            let batch = std::iter::once(first).chain(requests.try_iter()).take(MAX_BATCH);
            let batch: Vec<Request> = batch.filter(|request| !request.answer.is_closed()).collect();
            let swaps = self.commit(&batch).map_err(Arc::new);
            for (position, request) in batch.into_iter().enumerate() {
                // The caller may have gone away. It can read the result from the ledger later.
                let _ = request.answer.send(swaps.clone().map(|swaps| swaps[position].clone()));
            }
        }
    }

    /// Decides the swaps in order and writes them. If a write fails, none of them is done.
    fn commit(&mut self, batch: &[Request]) -> io::Result<Vec<Swap>> {
        self.place.check()?;
        let store = match self.store.take() {
            Some(store) => store,
            None => self.open_again()?,
        };
        let (swaps, changes) = decide(batch, &self.read());
        if let Err(error) = if changes.is_empty() { Ok(()) } else { store.write(&changes) } {
            self.place.failed();
            return Err(match error {
                redb::Error::Io(error) => error,
                other => io::Error::other(other),
            });
        }
        self.store = Some(store);
        self.place.committed()?;
        let mut entries = self.entries.write().unwrap_or_else(PoisonError::into_inner);
        entries.extend(changes.into_iter().map(|(key, cluster)| (key.clone(), cluster.clone())));
        Ok(swaps)
    }

    /// Opens the file again. Readers then also see changes that were reported as failed but are on disk.
    fn open_again(&mut self) -> io::Result<Store> {
        let (store, entries) = Store::open(&self.place.path).map_err(io::Error::other)?;
        self.place.check()?;
        self.place.committed()?;
        *self.entries.write().unwrap_or_else(PoisonError::into_inner) = entries;
        Ok(store)
    }

    fn read(&self) -> RwLockReadGuard<'_, Entries> {
        self.entries.read().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The result of each swap, and the changes to write. A swap sees the changes of those before it.
fn decide<'b>(
    batch: &'b [Request],
    entries: &Entries,
) -> (Vec<Swap>, Vec<(&'b AllocationKey, &'b ClusterName)>) {
    let mut changed: HashMap<&AllocationKey, &ClusterName> = HashMap::new();
    let swaps = batch.iter().map(|request| {
        let there = changed.get(&request.key).copied().or_else(|| entries.get(&request.key));
        if there != request.expected.as_ref() {
            return Swap::Lost(there.cloned());
        }
        changed.insert(&request.key, &request.cluster);
        Swap::Done
    });
    (swaps.collect(), changed.into_iter().collect())
}
