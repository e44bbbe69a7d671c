//! Allocations in a file of the local disk: [`FileLedger`].
//!
//! The file is a database of `redb` (`store`). One thread writes to it (`writer`); all entries are in memory too,
//! and are read from there, so that a request waits for the disk only when it writes.
//!
//! What holds at any moment, whatever is killed or fails:
//!
//! * a swap that was answered as done is found again at the next start. One that was not answered is found whole or
//!   not at all;
//! * readers see only what is on disk;
//! * as long as the path does not lead to the file that is open, as it was left, nothing is written and no swap is
//!   answered as done (`place`);
//! * a file that is damaged, or that this version did not write, is refused and stays as it is;
//! * one process has the ledger open.
//!
//! File locks and syncs have to work, which those of network file systems often do not.

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

/// A ledger that survives the end of the process and a power failure.
#[derive(Debug)]
pub struct FileLedger {
    path: PathBuf,
    entries: Arc<RwLock<Entries>>,
    /// `None` only while this is dropped.
    requests: Option<Sender<Request>>,
    writer: Option<JoinHandle<()>>,
}

impl FileLedger {
    /// Opens the ledger at `path`; makes an empty one where no file or an empty file is. Blocks while it reads the
    /// whole file.
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
        // Only a writer that panicked does not receive and answer.
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
    /// Waits for the commit that is under way, so that the ledger can be opened again right after this.
    fn drop(&mut self) {
        drop(self.requests.take());
        if let Some(writer) = self.writer.take() {
            // A panic of the writer has been logged by the panic hook.
            let _ = writer.join();
        }
    }
}

/// The file that `path` means, links followed, so that a link stays a link.
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
