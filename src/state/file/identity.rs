//! Whether the path of a ledger still leads to the file that is open.
//!
//! Who has a file open can go on writing to it when it has been deleted, and does not notice; nobody would
//! ever find what is written then.

use std::fs::{self, File, Metadata};
use std::io;
use std::ops::RangeInclusive;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

/// What to do about it.
const REMEDY: &str = "put back the very same file, or restore it from a backup and restart reviser; to start \
                      with an empty ledger move away what is there and restart: the workloads' allocations \
                      are then chosen anew";

/// What tells a file from all others, as long as somebody has it open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Identity {
    device: u64,
    inode: u64,
}

/// What became of the file of a ledger. Whoever shows this says which ledger it is about.
#[derive(Debug, thiserror::Error)]
enum Lost {
    #[error("the file was deleted; {}", REMEDY)]
    Deleted,
    #[error("the file was replaced by another file; {}", REMEDY)]
    Replaced,
    #[error("the file has {found} bytes, but {written} were written; {}", REMEDY)]
    Length { found: u64, written: u64 },
    #[error("failed to find out whether the file is still there")]
    Unknown(#[source] io::Error),
}

impl Identity {
    pub(super) fn of(file: &File) -> io::Result<Self> {
        file.metadata().map(|metadata| Self::in_metadata(&metadata))
    }

    fn in_metadata(metadata: &Metadata) -> Self {
        Self { device: metadata.dev(), inode: metadata.ino() }
    }

    /// Makes sure that `path` is this file, and that its length is one of `lengths`, of which the first is
    /// what is meant to be there.
    pub(super) fn check(self, path: &Path, lengths: &RangeInclusive<u64>) -> io::Result<()> {
        // A link is another file, even one to this: a compaction would take its place.
        let lost = match fs::symlink_metadata(path) {
            Ok(metadata) if Self::in_metadata(&metadata) != self => Lost::Replaced,
            Ok(metadata) if !lengths.contains(&metadata.len()) => {
                Lost::Length { found: metadata.len(), written: *lengths.start() }
            }
            Ok(_) => return Ok(()),
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
                Lost::Deleted
            }
            Err(error) => Lost::Unknown(error),
        };
        Err(io::Error::other(lost))
    }
}
