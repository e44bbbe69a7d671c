//! Detects that the file of a ledger was deleted, replaced or changed by another process.
//!
//! A process can write to an open file after it was deleted or replaced, but these writes are lost.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

const REMEDY: &str = "put back the very same file, or restore it from a backup and restart reviser; to start with an \
                      empty ledger move away what is there and restart";

/// A path, and the identity of the file at this path.
#[derive(Debug)]
pub(super) struct Place {
    pub(super) path: PathBuf,
    device: u64,
    inode: u64,
    /// The length of the file. `None` after a failed commit, which may leave any length.
    bytes: Option<u64>,
}

/// The path leads to another file, or another process has changed the file.
#[derive(Debug, thiserror::Error)]
enum Lost {
    #[error("the file was deleted; {REMEDY}")]
    Deleted,
    #[error("the file was replaced by another file; {REMEDY}")]
    Replaced,
    #[error("the file has {found} bytes, but {written} were written; {REMEDY}")]
    Length { found: u64, written: u64 },
}

impl Place {
    pub(super) fn at(path: &Path) -> io::Result<Self> {
        // Links are not followed: a link that replaces the file is another file.
        let metadata = fs::symlink_metadata(path)?;
        let (device, inode) = (metadata.dev(), metadata.ino());
        Ok(Self { path: path.to_owned(), device, inode, bytes: Some(metadata.len()) })
    }

    /// Fails unless the path leads to the same file with the same length.
    pub(super) fn check(&self) -> io::Result<()> {
        let found = match Self::at(&self.path) {
            Ok(found) => found,
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
                return Err(io::Error::other(Lost::Deleted));
            }
            Err(error) => return Err(error),
        };
        if (found.device, found.inode) != (self.device, self.inode) {
            return Err(io::Error::other(Lost::Replaced));
        }
        match (found.bytes, self.bytes) {
            (Some(found), Some(written)) if found != written => {
                Err(io::Error::other(Lost::Length { found, written }))
            }
            _ => Ok(()),
        }
    }

    /// Records the length of the file after a commit.
    pub(super) fn committed(&mut self) -> io::Result<()> {
        self.bytes = Self::at(&self.path)?.bytes;
        Ok(())
    }

    /// Records that a commit failed.
    pub(super) fn failed(&mut self) {
        self.bytes = None;
    }
}
