//! Allocations in a file of the local disk: [`FileLedger`].
//!
//! The file is a log. Each swap appends a record and is answered when the record is on disk; when far more
//! records than entries are there, the log is written anew. All entries are in memory, too, and are read
//! from there.
//!
//! What holds at any moment, whatever is killed or fails:
//!
//! * what was answered as done is found again at the next start. What was not answered is found whole or
//!   not at all;
//! * readers see only what is on disk;
//! * the file is a whole ledger. At its end there may be a record that was not written to its end: it is
//!   dropped at the next start;
//! * the path leads to the file that is written to, as it was written. As long as it does not (somebody
//!   deleted, replaced or changed the file), nothing is written, and no swap is answered as done;
//! * anything else that was not written by this version is refused, and left as it is;
//! * one process has the ledger, by a lock on `LEDGER.lock`.
//!
//! This is no database: entries are few enough for memory, and there is one writer. It relies on a file
//! system that shows after a power failure no length of a file whose bytes it has not written, as the usual
//! ones of Linux do, and whose locks work (beware of old NFS).

mod error;
mod format;
mod identity;
mod lock;
mod log;
mod replacement;
mod writer;

#[cfg(test)]
mod tests;

use std::fs::{self, File};
use std::io::{self, BufReader};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, Sender};
use std::sync::{Arc, PoisonError, RwLock};
use std::thread::{self, JoinHandle};

use futures_util::FutureExt as _;
use futures_util::future::{BoxFuture, ready};
use tokio::sync::oneshot;

pub use self::error::{Damage, OpenError};
use self::format::{Contents, ReadError};
use self::identity::Identity;
use self::lock::Lock;
use self::log::{COMPACT_ABOVE, Log, Tape};
use self::replacement::Replacement;
use self::writer::{Request, Writer};
use super::memory::Entries;
use super::{Ledger, LedgerError, Swap};
use crate::domain::{AllocationKey, Binding, ClusterName};

/// A ledger that survives the end of the process, however it comes, and of the machine's power.
#[derive(Debug)]
pub struct FileLedger {
    path: PathBuf,
    entries: Arc<RwLock<Entries>>,
    /// `None` only while this is dropped.
    requests: Option<Sender<Request>>,
    writer: Option<JoinHandle<()>>,
    /// Last, so that it is given back after everything else.
    _lock: Lock,
}

impl FileLedger {
    /// Opens the ledger at `path`; makes an empty one where no file or an empty file is.
    ///
    /// This reads the whole file, and blocks while it does.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, OpenError> {
        Self::open_with(path.as_ref(), COMPACT_ABOVE, |file| Box::new(file))
    }

    /// As `open`; what the last two say only tests choose otherwise.
    fn open_with(
        path: &Path,
        compact_above: usize,
        tape: impl FnOnce(File) -> Box<dyn Tape>,
    ) -> Result<Self, OpenError> {
        let path = resolve(path)?;
        let lock = Lock::take(&path)?;
        replacement::remove_left_over(&path)
            .map_err(OpenError::io("remove the temporary file beside the ledger", &path))?;
        create_if_empty(&path).map_err(OpenError::io("create the ledger", &path))?;
        let (file, contents) = load(&path)?;
        let entries = Arc::new(RwLock::new(contents.entries));
        let identity = Identity::of(&file).map_err(OpenError::io("look at the ledger", &path))?;
        let Contents { bytes, records, .. } = contents;
        let log = Log::new(path.clone(), tape(file), identity, bytes, records, compact_above);
        let writer = Writer { log, entries: Arc::clone(&entries) };
        let (requests, received) = mpsc::channel();
        let writer = thread::Builder::new()
            .name("ledger".to_owned())
            .spawn(move || writer.run(&received))
            .map_err(OpenError::io("start the writer of the ledger", &path))?;
        Ok(Self { path, entries, requests: Some(requests), writer: Some(writer), _lock: lock })
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
        // Only a writer that panicked is not there to receive and answer.
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
        ready(Ok(self.entries.read().unwrap_or_else(PoisonError::into_inner).get(key))).boxed()
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
    /// Waits for the write that is under way, so that the ledger can be opened again right after this.
    fn drop(&mut self) {
        drop(self.requests.take());
        if let Some(writer) = self.writer.take() {
            // It can only have panicked, and the panic has been reported where it happened.
            let _ = writer.join();
        }
    }
}

/// The file that `path` means, links followed: a replacement takes the place of the file, not of a link to
/// it, and who comes by another link meets the same lock.
fn resolve(path: &Path) -> Result<PathBuf, OpenError> {
    let not_a_file = || OpenError::NotAFile { path: path.to_owned() };
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

/// With the header from the beginning: a ledger with half a header is never there.
fn create_if_empty(path: &Path) -> io::Result<()> {
    match fs::metadata(path) {
        Ok(metadata) if metadata.len() > 0 => return Ok(()),
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let replacement = Replacement::write(path, &Entries::default())?;
    replacement.sync()?;
    replacement.publish(path).map(drop)
}

/// Reads the ledger, and cuts off a record that was not written to its end.
fn load(path: &Path) -> Result<(File, Contents), OpenError> {
    let mut file =
        File::options().read(true).append(true).open(path).map_err(OpenError::io("open the ledger", path))?;
    let contents = format::read(BufReader::new(&file)).map_err(|error| match error {
        ReadError::Io(source) => OpenError::io("read the ledger", path)(source),
        ReadError::Damaged { line, damage } => OpenError::Damaged { path: path.to_owned(), line, damage },
    })?;
    if contents.torn {
        tracing::warn!(path = %path.display(), "dropping the last record of the ledger, which was not written to its end");
        file.truncate(contents.bytes)
            .map_err(OpenError::io("cut off the unfinished record at the end of the ledger", path))?;
    }
    // Whoever wrote this may have been killed before it was on disk, and before the directory knew of it.
    // From now on it is told to readers, and written on.
    file.sync_all()
        .and_then(|()| replacement::sync_directory(path))
        .map_err(OpenError::io("sync the ledger", path))?;
    Ok((file, contents))
}
