//! The file, as something that whole records are appended to.
//!
//! Invariant: nothing is ever written behind bytes that are not whole, synced records. What a failed write
//! leaves is cut off first, and as long as that cannot be done, nothing is written at all. Nor is anything
//! written, cut off or replaced while the path leads to another file, or to one that somebody else wrote to.

use std::fs::File;
use std::io::{self, Write as _};
use std::path::PathBuf;

use super::identity::Identity;
use super::replacement::{Replacement, remove_left_over, sync_directory};
use crate::state::memory::Entries;

/// A log is rewritten when it has more records than this,
pub(super) const COMPACT_ABOVE: usize = 1024;
/// and more than this many for each entry.
const COMPACT_RATIO: usize = 4;

/// What a log needs of its file; a seam, so that tests can let it fail.
pub(super) trait Tape: Send {
    /// Writes at the end of the file. After an error some of it may be there.
    fn append(&mut self, bytes: &[u8]) -> io::Result<()>;
    /// Returns when what was appended would survive a power failure.
    fn sync(&mut self) -> io::Result<()>;
    /// Cuts off, for good, what is behind the first `len` bytes.
    fn truncate(&mut self, len: u64) -> io::Result<()>;
}

/// Opened for appending.
impl Tape for File {
    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.write_all(bytes)
    }

    fn sync(&mut self) -> io::Result<()> {
        self.sync_data()
    }

    fn truncate(&mut self, len: u64) -> io::Result<()> {
        self.set_len(len)?;
        self.sync_all()
    }
}

pub(super) struct Log {
    path: PathBuf,
    tape: Box<dyn Tape>,
    /// Of the file that the tape writes to.
    identity: Identity,
    /// Up to here there are whole, synced records.
    bytes: u64,
    records: usize,
    /// At most so many bytes of a write that failed are behind `bytes`.
    torn: u64,
    /// The file has got its name, but the directory is not known to be synced: a record that is written now
    /// might be in a file that nobody finds after a power failure.
    unnamed: bool,
    /// No compaction below this many records.
    compact_above: usize,
    /// As `compact_above`, and more after a compaction that failed: it is not tried again with every record.
    compact_next: usize,
}

impl Log {
    pub(super) fn new(
        path: PathBuf,
        tape: Box<dyn Tape>,
        identity: Identity,
        bytes: u64,
        records: usize,
        compact_above: usize,
    ) -> Self {
        Self {
            path,
            tape,
            identity,
            bytes,
            records,
            torn: 0,
            unnamed: false,
            compact_above,
            compact_next: compact_above,
        }
    }

    /// Appends `text`, which is that many whole records. When this returns they are there for good, or
    /// (after an error) not at all.
    ///
    /// If taking them back fails, too, that is tried again before anything else is written. Should the
    /// process end before, the next one may find them; nobody was told of them, so that is as if they had
    /// been written late.
    pub(super) fn append(&mut self, text: &[u8], records: usize) -> io::Result<()> {
        self.mend()?;
        self.torn = text.len() as u64;
        if let Err(error) = self.tape.append(text).and_then(|()| self.tape.sync()) {
            if let Err(second) = self.mend() {
                tracing::warn!(path = %self.path.display(), error = %second, "what a failed write left is not taken back yet");
            }
            return Err(error);
        }
        self.torn = 0;
        self.bytes += text.len() as u64;
        self.records += records;
        Ok(())
    }

    /// Makes sure that the path still leads to the file as it was left.
    fn check(&self) -> io::Result<()> {
        self.identity.check(&self.path, &(self.bytes..=self.bytes.saturating_add(self.torn)))
    }

    /// Finishes what an earlier failure has left, in a file that is still ours.
    fn mend(&mut self) -> io::Result<()> {
        self.check()?;
        if self.torn > 0 {
            self.tape.truncate(self.bytes)?;
            self.torn = 0;
        }
        if self.unnamed {
            sync_directory(&self.path)?;
            self.unnamed = false;
        }
        Ok(())
    }

    /// Rewrites the log if it holds far more records than there are entries. Failing does no harm, except
    /// that where only the last step failed it has to be made up for by the next write.
    pub(super) fn compact_if_due(&mut self, entries: &Entries) {
        if self.records <= self.compact_next || self.records <= entries.len().saturating_mul(COMPACT_RATIO) {
            return;
        }
        if let Err(error) = self.compact(entries) {
            // Not to take room from the log where the disk is full. The next compaction or start tries it,
            // too. Beside another file it would be somebody else's.
            if self.check().is_ok() {
                let _ = remove_left_over(&self.path);
            }
            self.compact_next = self.records.saturating_mul(2).max(self.compact_above);
            tracing::warn!(path = %self.path.display(), %error, "failed to compact the ledger");
        }
    }

    /// Puts a file with `entries`, which the log has led to, in the place of this one.
    fn compact(&mut self, entries: &Entries) -> io::Result<()> {
        self.check()?;
        let replacement = Replacement::write(&self.path, entries)?;
        replacement.sync()?;
        let (identity, bytes, records) = (replacement.identity, replacement.bytes, replacement.records);
        // Writing may have taken a while.
        self.check()?;
        self.tape = Box::new(replacement.publish(&self.path)?);
        (self.identity, self.bytes, self.records, self.torn) = (identity, bytes, records, 0);
        self.compact_next = self.compact_above;
        self.unnamed = true;
        self.mend()
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn nothing_is_written_while_the_name_of_the_file_is_not_safe() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("ledger");
        let tape = File::options().append(true).create_new(true).open(&path).unwrap();
        let identity = Identity::of(&tape).unwrap();
        // An empty file in a directory that cannot be synced, whoever asks.
        let unsafe_path = PathBuf::from("/proc/version");
        let unsafe_identity = Identity::of(&File::open(&unsafe_path).unwrap()).unwrap();
        let mut log = Log::new(unsafe_path, Box::new(tape), unsafe_identity, 0, 0, COMPACT_ABOVE);
        log.unnamed = true;
        assert_eq!(log.append(b"record\n", 1).unwrap_err().kind(), io::ErrorKind::InvalidInput);
        assert_eq!(fs::read(&path).unwrap(), b"");
        (log.path, log.identity) = (path.clone(), identity);
        log.append(b"record\n", 1).unwrap();
        assert!(!log.unnamed);
        assert_eq!(fs::read(&path).unwrap(), b"record\n");
    }
}
