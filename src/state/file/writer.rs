//! The thread that writes.
//!
//! A commit blocks until the disk has it, so swaps go to a thread through a channel. All that wait when it is free
//! are committed together: a sync takes milliseconds, and after a start with an empty ledger many workloads want
//! their first entry. A caller that goes away leaves nothing half done.

use std::collections::HashMap;
use std::io;
use std::sync::mpsc::Receiver;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard};

use tokio::sync::oneshot;

use super::place::Place;
use super::store::{Entries, Store};
use crate::domain::{AllocationKey, ClusterName};
use crate::state::Swap;

/// How many swaps are committed together at most.
const MAX_BATCH: usize = 512;

/// The result of a swap. Those that are committed together share the reason of a failure.
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
    /// `None` after a commit that failed: `redb` then refuses everything until the file is opened again.
    pub(super) store: Option<Store>,
    /// What readers see: only what is on disk.
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
                // A caller that has gone away learns from the ledger what became of its swap.
                let _ = request.answer.send(swaps.clone().map(|swaps| swaps[position].clone()));
            }
        }
    }

    /// Decides the swaps in their order and writes them. Nothing is written if one cannot be.
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

    /// Readers then also see what a commit has written that was reported as failed.
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

/// What becomes of each swap, and the changes to write. A swap sees those before it.
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
