//! Why a ledger in a file was not opened.

use std::io;
use std::path::{Path, PathBuf};

/// Why [`FileLedger::open`](super::FileLedger::open) did not give a ledger. The file is as it was before.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// Somebody else has it open.
    #[error(
        "failed to lock the ledger {path:?}: it is held by another process{}; a ledger has one user at a time",
        .holder.map(|pid| format!(" (pid {pid})")).unwrap_or_default()
    )]
    Held {
        /// The ledger.
        path: PathBuf,
        /// The process that holds it, in its own numbering, if it has said so.
        holder: Option<u32>,
    },
    /// The path names something that no ledger can be in.
    #[error("failed to open the ledger {path:?}: it is no regular file")]
    NotAFile {
        /// The path as it was given.
        path: PathBuf,
    },
    /// The file holds something that was not written by this version of the ledger, or not left as it was
    /// written.
    #[error(
        "failed to read the ledger {path:?}, line {line}: {damage}; the file is left as it is: restore it from a \
         backup, or move it away to start with an empty ledger: the workloads' allocations are then chosen anew"
    )]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// What is wrong with it.
        damage: Damage,
    },
    /// The operating system said no.
    #[error("failed to {action} {path:?}")]
    Io {
        /// What was tried.
        action: &'static str,
        /// On which file or directory.
        path: PathBuf,
        /// What it said.
        #[source]
        source: io::Error,
    },
}

impl OpenError {
    /// Whether another process has the ledger: it may be free later.
    pub fn is_held(&self) -> bool {
        matches!(self, Self::Held { .. })
    }

    /// Whether the contents were refused: only somebody who mends or moves the file can help.
    pub fn is_damaged(&self) -> bool {
        matches!(self, Self::Damaged { .. })
    }

    /// For `map_err`: `action` was tried on `path`.
    pub(super) fn io(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Io { action, path, source }
    }
}

/// What is wrong with a line of a ledger.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Damage {
    /// The first line is not that of a ledger.
    #[error("this is no ledger of reviser")]
    Header,
    /// A ledger, but of another version.
    #[error("it has version {0:?}, and this program knows only version \"1\"")]
    Version(String),
    /// There is no checksum at the beginning of the line.
    #[error("it does not begin with a checksum")]
    NoChecksum,
    /// The line is not the one that was written.
    #[error("its checksum does not fit")]
    Checksum,
    /// The checksum fits, but what it covers is no entry.
    #[error("it holds no entry ({0})")]
    Entry(String),
}
