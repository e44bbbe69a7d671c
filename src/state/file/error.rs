//! Errors of opening a ledger in a file.

use std::io;
use std::path::{Path, PathBuf};

const REMEDY: &str = "it is left unchanged: restore it from a backup, or move it away to start with an empty ledger; \
                      the workloads' allocations are then chosen anew, unless Works or pins say where they are";

/// Why [`FileLedger::open`](super::FileLedger::open) failed. An existing file is unchanged.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// Another process has the ledger open.
    #[error("failed to lock the ledger {0:?}: another process has it open; a ledger has one user at a time")]
    Held(PathBuf),
    /// The path is not that of a regular file.
    #[error("failed to open the ledger {0:?}: it is not a regular file")]
    NotAFile(PathBuf),
    /// The file is damaged, or is not a ledger of this version.
    #[error("failed to read the ledger {path:?}: {damage}; {REMEDY}")]
    Damaged { path: PathBuf, damage: Damage },
    /// An error of the operating system.
    #[error("failed to {action} {path:?}")]
    Io {
        /// The attempted action.
        action: &'static str,
        /// The file or directory.
        path: PathBuf,
        #[source]
        source: io::Error,
    },
}

impl OpenError {
    /// For `map_err`: creates the error of `action` on `path`.
    pub(super) fn io(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Io { action, path, source }
    }
}

/// Why a file can't be read as a ledger.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Damage {
    /// The text format of versions of reviser that did not use redb.
    #[error(
        "it has the text format of earlier builds (\"reviser-ledger v1\"), which this version does not read"
    )]
    TextFormat,
    /// Not a redb database.
    #[error("it is not a ledger of reviser, but another program's file")]
    Foreign,
    /// A redb database without the table of a ledger.
    #[error("it is a redb database of another program, not a ledger of reviser")]
    NoTable,
    /// A ledger of another version.
    #[error("it has version {0:?}, and this program knows only version \"2\"")]
    Version(String),
    /// A checksum does not match, or the database can't be read.
    #[error("it is damaged ({0})")]
    Corrupted(String),
}
