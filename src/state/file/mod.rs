//! A ledger in a local file: [`FileLedger`].
//!
//! The file is a `redb` database (`store`). One thread writes to it (`writer`). Reads are served from a copy
//! of all entries in memory, so that a request waits for the disk only when it writes.
//!
//! Invariants, also after a crash or a failed write:
//!
//! * a swap that was reported as done is found after a restart. A swap without a reported result is found
//!   completely or not at all;
//! * readers see only entries that are on disk;
//! * if the file at the path was deleted, replaced or changed by another process, nothing is written and no
//!   swap is reported as done (`place`);
//! * a file that is damaged, or was not written by this version, is refused and left unmodified;
//! * only one process has the ledger open.
//!
//! File locks and syncs must work. On network file systems they often do not.

mod error;
mod place;
mod store;
mod writer;

#[cfg(test)]
mod tests;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, Sender};
use std::sync::{Arc, PoisonError, RwLock};
use std::thread::{self, JoinHandle};

use futures_util::FutureExt as _;
use futures_util::future::{BoxFuture, ready};
use tokio::sync::oneshot;

pub use self::error::{Damage, OpenError};
use self::place::Place;
use self::store::{Entries, Store};
use self::writer::{Request, Writer};
use super::{Ledger, LedgerError, Swap};
use crate::domain::{AllocationKey, Binding, ClusterName};

/// A ledger that survives a restart and a power failure.
#[derive(Debug)]
pub struct FileLedger {
    path: PathBuf,
    entries: Arc<RwLock<Entries>>,
    /// `None` only in `drop`.
    requests: Option<Sender<Request>>,
    writer: Option<JoinHandle<()>>,
}

impl FileLedger {
    /// Opens the ledger at `path`. Creates an empty one if there is no file or an empty file. Blocks while it
    /// reads the whole file.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, OpenError> {
        let path = resolve(path.as_ref())?;
        let (store, entries) = Store::create(&path)?;
        let place = Place::at(&path).map_err(OpenError::io("look at the ledger", &path))?;
        let entries = Arc::new(RwLock::new(entries));
        let writer = Writer { place, store: Some(store), entries: Arc::clone(&entries) };
        let (requests, received) = mpsc::channel();
        let writer = thread::Builder::new()
            .name("ledger".to_owned())
            .spawn(move || writer.run(&received))
            .map_err(OpenError::io("start the writer of the ledger", &path))?;
        Ok(Self { path, entries, requests: Some(requests), writer: Some(writer) })
    }

    async fn swap(
        &self,
        key: &AllocationKey,
        expected: Option<&ClusterName>,
        cluster: &ClusterName,
    ) -> Result<Swap, LedgerError> {
        let (answer, answered) = oneshot::channel();
        let request =
            Request { key: key.clone(), expected: expected.cloned(), cluster: cluster.clone(), answer };
        // There is no answer only if the writer has panicked.
        let sent = self.requests.as_ref().is_some_and(|requests| requests.send(request).is_ok());
        let answer = if sent { answered.await.ok() } else { None };
        let answer = answer.unwrap_or_else(|| Err(Arc::new(io::Error::other("its writer has stopped"))));
        answer.map_err(|source| LedgerError {
            action: format!("write {key} to the ledger \"{}\"", self.path.display()),
            source: Box::new(source),
        })
    }
}

impl Ledger for FileLedger {
    fn read<'a>(
        &'a self,
        key: &'a AllocationKey,
        _: Option<&'a Binding>,
    ) -> BoxFuture<'a, Result<Option<ClusterName>, LedgerError>> {
        ready(Ok(self.entries.read().unwrap_or_else(PoisonError::into_inner).get(key).cloned())).boxed()
    }

    fn compare_and_swap<'a>(
        &'a self,
        key: &'a AllocationKey,
        _: Option<&'a Binding>,
        expected: Option<&'a ClusterName>,
        cluster: &'a ClusterName,
    ) -> BoxFuture<'a, Result<Swap, LedgerError>> {
        self.swap(key, expected, cluster).boxed()
    }
}

impl Drop for FileLedger {
    /// Waits for the current commit, so that the ledger can be opened again immediately.
    fn drop(&mut self) {
        drop(self.requests.take());
        if let Some(writer) = self.writer.take() {
            // The panic hook has logged a panic of the writer.
            let _ = writer.join();
        }
    }
}

/// The file at `path`, with links followed, so that replacing the file does not replace a link.
fn resolve(path: &Path) -> Result<PathBuf, OpenError> {
    let not_a_file = || OpenError::NotAFile(path.to_owned());
    match fs::symlink_metadata(path) {
        Ok(_) => {
            let found = path.canonicalize().map_err(OpenError::io("find the ledger", path))?;
            if found.is_file() { Ok(found) } else { Err(not_a_file()) }
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let name = path.file_name().ok_or_else(not_a_file)?;
            let parent = match path.parent() {
                Some(parent) if parent != Path::new("") => parent,
                _ => Path::new("."),
            };
            let directory =
                parent.canonicalize().map_err(OpenError::io("find the directory of the ledger,", parent))?;
            Ok(directory.join(name))
        }
        Err(error) => Err(OpenError::io("find the ledger", path)(error)),
    }
}
