//! Why a file is not read.

use std::io;
use std::path::{Path, PathBuf};

use crate::yaml::YamlError;

/// What is wrong with one file or directory.
///
/// A list of findings prints `{path}: {cause}`; as an error the cause is its source.
#[derive(Debug, thiserror::Error)]
#[error("failed to read {}", path.display())]
pub struct Problem {
    pub(super) path: PathBuf,
    #[source]
    pub(super) cause: Cause,
}

impl Problem {
    /// The file or directory, as the user named it or as it was found.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What is wrong with it.
    pub fn cause(&self) -> &Cause {
        &self.cause
    }
}

/// The reason of a [`Problem`].
#[derive(Debug, thiserror::Error)]
pub enum Cause {
    /// It is not there, or the system does not let us have it.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The file is too large.
    #[error("larger than the {} MiB that are read", limit >> 20)]
    TooLarge {
        /// How many bytes are read.
        limit: u64,
    },
    /// The file is not UTF-8.
    #[error("not UTF-8 on line {line}")]
    Encoding {
        /// The line of the first bytes that are not.
        line: usize,
    },
    /// The text is not YAML, or not what is read of it.
    #[error(transparent)]
    Yaml(#[from] YamlError),
    /// There is no file to read in a directory.
    #[error("no *.yaml, *.yml or *.json file in this directory")]
    EmptyDirectory,
    /// A directory where a file is wanted.
    #[error("a directory, and one file is wanted")]
    Directory,
}
