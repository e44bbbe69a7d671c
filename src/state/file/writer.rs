//! The one thread that writes.
//!
//! Swaps come to it through a channel, so that no caller blocks the runtime, and so that a caller that goes
//! away cannot leave anything half done: what the thread has begun it also ends. All that wait when it is
//! free are written and synced together: a sync takes milliseconds, and after a start with an empty ledger
//! many workloads want their first entry.

use std::io;
use std::sync::mpsc::Receiver;
use std::sync::{Arc, PoisonError, RwLock};

use tokio::sync::oneshot;

use super::format::write_record;
use super::log::Log;
use crate::domain::{AllocationKey, ClusterName};
use crate::state::Swap;
use crate::state::memory::Entries;

/// How many swaps are written together at most: bounds what is lost in time when a write fails, and memory.
const MAX_BATCH: usize = 512;

/// What became of a swap. Those that were written together fail together, and share the reason.
pub(super) type Answer = Result<Swap, Arc<io::Error>>;

/// A swap that somebody waits for.
pub(super) struct Request {
    pub(super) key: AllocationKey,
    pub(super) expected: Option<ClusterName>,
    pub(super) cluster: ClusterName,
    pub(super) answer: oneshot::Sender<Answer>,
}

pub(super) struct Writer {
    pub(super) log: Log,
    /// What readers see: only what is on disk.
    pub(super) entries: Arc<RwLock<Entries>>,
}

/// Swaps that are decided, but not yet written.
#[derive(Default)]
struct Batch {
    text: Vec<u8>,
    changes: Vec<(AllocationKey, ClusterName)>,
    /// As the changes leave it; later swaps of the same batch see this.
    entries: Entries,
    answers: Vec<(oneshot::Sender<Answer>, Swap)>,
}

impl Writer {
    /// Works until nobody can send any more.
    pub(super) fn run(mut self, requests: &Receiver<Request>) {
        while let Ok(first) = requests.recv() {
            let mut batch = Batch::default();
            for request in std::iter::once(first).chain(requests.try_iter()).take(MAX_BATCH) {
                self.decide(request, &mut batch);
            }
            self.commit(batch);
            let entries = self.entries.read().unwrap_or_else(PoisonError::into_inner);
            self.log.compact_if_due(&entries);
        }
    }

    fn decide(&self, request: Request, batch: &mut Batch) {
        let Request { key, expected, cluster, answer } = request;
        if answer.is_closed() {
            return;
        }
        let there = batch
            .entries
            .get(&key)
            .or_else(|| self.entries.read().unwrap_or_else(PoisonError::into_inner).get(&key));
        if there != expected {
            batch.answers.push((answer, Swap::Lost(there)));
            return;
        }
        match write_record(&mut batch.text, &key, &cluster) {
            Ok(_) => {
                batch.entries.insert(&key, &cluster);
                batch.changes.push((key, cluster));
                batch.answers.push((answer, Swap::Done));
            }
            // Nobody waits any more, if this is not received.
            Err(error) => drop(answer.send(Err(Arc::new(error)))),
        }
    }

    /// On disk first, then for readers to see, then answered.
    fn commit(&mut self, batch: Batch) {
        let Batch { text, changes, entries: _, answers } = batch;
        let mut failure = None;
        if !changes.is_empty() {
            match self.log.append(&text, changes.len()) {
                Ok(()) => self.apply(&changes),
                // Also those that lost: what they lost to may be what was not written.
                Err(error) => failure = Some(Arc::new(error)),
            }
        }
        for (answer, swap) in answers {
            // A caller that has gone away learns from the ledger what became of it.
            let _ = answer.send(failure.clone().map_or(Ok(swap), Err));
        }
    }

    fn apply(&self, changes: &[(AllocationKey, ClusterName)]) {
        let mut entries = self.entries.write().unwrap_or_else(PoisonError::into_inner);
        for (key, cluster) in changes {
            entries.insert(key, cluster);
        }
    }
}
