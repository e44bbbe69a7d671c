//! The file, as something that whole records are appended to.
//!
//! Invariant: nothing is ever written behind bytes that are not whole, synced records. What a failed write
//! leaves is cut off first, and as long as that cannot be done, nothing is written at all.

use std::fs::File;
use std::io::{self, Write as _};
use std::path::PathBuf;

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
    /// Up to here there are whole, synced records.
    bytes: u64,
    records: usize,
    /// Something may be behind `bytes`.
    torn: bool,
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
        bytes: u64,
        records: usize,
        compact_above: usize,
    ) -> Self {
        Self {
            path,
            tape,
            bytes,
            records,
            torn: false,
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
        self.torn = true;
        if let Err(error) = self.tape.append(text).and_then(|()| self.tape.sync()) {
            if let Err(second) = self.mend() {
                tracing::warn!(path = ?self.path, error = %second, "what a failed write left is not taken back yet");
            }
            return Err(error);
        }
        self.torn = false;
        self.bytes += text.len() as u64;
        self.records += records;
        Ok(())
    }

    /// Finishes what an earlier failure has left.
    fn mend(&mut self) -> io::Result<()> {
        if self.torn {
            self.tape.truncate(self.bytes)?;
            self.torn = false;
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
            // too.
            let _ = remove_left_over(&self.path);
            self.compact_next = self.records.saturating_mul(2).max(self.compact_above);
            tracing::warn!(path = ?self.path, %error, "failed to compact the ledger");
        }
    }

    /// Puts a file with `entries`, which the log has led to, in the place of this one.
    fn compact(&mut self, entries: &Entries) -> io::Result<()> {
        let replacement = Replacement::write(&self.path, entries)?;
        replacement.sync()?;
        let (bytes, records) = (replacement.bytes, replacement.records);
        self.tape = Box::new(replacement.publish(&self.path)?);
        (self.bytes, self.records, self.torn) = (bytes, records, false);
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
        let (file, parent) = (directory.path().join("file"), directory.path().join("missing"));
        let tape = File::options().append(true).create_new(true).open(&file).unwrap();
        let mut log = Log::new(parent.join("ledger"), Box::new(tape), 0, 0, COMPACT_ABOVE);
        log.unnamed = true;
        // The directory cannot be synced as long as it is not there.
        assert_eq!(log.append(b"record\n", 1).unwrap_err().kind(), io::ErrorKind::NotFound);
        assert_eq!(fs::read(&file).unwrap(), b"");
        fs::create_dir(parent).unwrap();
        log.append(b"record\n", 1).unwrap();
        assert_eq!(fs::read(&file).unwrap(), b"record\n");
    }
}
