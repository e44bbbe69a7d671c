//! One user at a time.

use std::fs::{File, TryLockError};
use std::io::{self, Read as _, Write as _};
use std::path::Path;

use super::error::OpenError;
use super::replacement::sibling;

/// The operating system's lock on `LEDGER.lock`, which ends with the process at the latest.
///
/// It is a file of its own because the ledger is replaced now and then, and a lock stays with the file
/// that it was taken on. It is never deleted: whoever did that could take it away from under another's lock.
#[derive(Debug)]
pub(super) struct Lock(File);

impl Lock {
    pub(super) fn take(ledger: &Path) -> Result<Self, OpenError> {
        let path = sibling(ledger, ".lock");
        let mut file = File::options()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(&path)
            .map_err(OpenError::io("open the lock file", &path))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                return Err(OpenError::Held { path: ledger.to_owned(), holder: holder(file) });
            }
            Err(TryLockError::Error(source)) => {
                return Err(OpenError::io("lock the file", &path)(source));
            }
        }
        if let Err(error) = sign(&mut file) {
            // The lock holds all the same; only the message to the next one says less.
            tracing::debug!(path = %path.display(), %error, "the process id could not be written into the lock file");
        }
        Ok(Self(file))
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // Closing the file would do, were it not for a child process that is just being started and still
        // has a copy of it. If this fails, closing has to do.
        let _ = self.0.unlock();
    }
}

fn sign(file: &mut File) -> io::Result<()> {
    file.set_len(0)?;
    writeln!(file, "{}", std::process::id())
}

fn holder(file: File) -> Option<u32> {
    let mut text = String::new();
    file.take(32).read_to_string(&mut text).ok()?;
    text.trim().parse().ok()
}
