//! Why a ledger in a file cannot be opened.

use std::io;
use std::path::{Path, PathBuf};

const REMEDY: &str = "it is left as it is: restore it from a backup, or move it away to start with an empty ledger; \
                      the workloads' allocations are then chosen anew, unless Works or pins say where they are";

/// Why [`FileLedger::open`](super::FileLedger::open) failed. A file that was there is unchanged.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// Another process has the ledger open.
    #[error("failed to lock the ledger {0:?}: another process has it open; a ledger has one user at a time")]
    Held(PathBuf),
    /// The path leads to something that is not a regular file.
    #[error("failed to open the ledger {0:?}: it is not a regular file")]
    NotAFile(PathBuf),
    /// The file is not a ledger of this version, or is damaged.
    #[error("failed to read the ledger {path:?}: {damage}; {REMEDY}")]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        damage: Damage,
    },
    /// The operating system refused.
    #[error("failed to {action} {path:?}")]
    Io {
        /// What was tried.
        action: &'static str,
        /// On which file or directory.
        path: PathBuf,
        /// Its answer.
        #[source]
        source: io::Error,
    },
}

impl OpenError {
    /// For `map_err`: `action` was tried on `path`.
    pub(super) fn io(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Io { action, path, source }
    }
}

/// Why a file is not read as a ledger.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Damage {
    /// A text ledger, as reviser wrote it before it used redb.
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
    /// A checksum does not fit, or the database cannot be read.
    #[error("it is damaged ({0})")]
    Corrupted(String),
}
