//! Errors of reading files.

use std::io;
use std::path::{Path, PathBuf};

use crate::yaml::YamlError;

/// Why a file or directory can't be read.
///
/// Lists of diagnostics print `{path}: {kind}`; in an error chain the kind is the source.
#[derive(Debug, thiserror::Error)]
#[error("failed to read {}", path.display())]
pub struct FileError {
    pub(super) path: PathBuf,
    #[source]
    pub(super) kind: FileErrorKind,
}

impl FileError {
    /// The path as given, or as found in a directory.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What is wrong with it.
    pub fn kind(&self) -> &FileErrorKind {
        &self.kind
    }
}

/// The kind of a [`FileError`].
#[derive(Debug, thiserror::Error)]
pub enum FileErrorKind {
    /// An error of the operating system.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The file is too large.
    #[error("larger than the {} MiB that are read", limit >> 20)]
    TooLarge {
        /// The limit in bytes.
        limit: u64,
    },
    /// The file is not UTF-8.
    #[error("not UTF-8 on line {line}")]
    Encoding {
        /// The line of the first invalid bytes.
        line: usize,
    },
    /// The text is not YAML, or uses a feature of YAML that is not supported.
    #[error(transparent)]
    Yaml(#[from] YamlError),
    /// A directory has no file to read.
    #[error("no *.yaml, *.yml or *.json file in this directory")]
    EmptyDirectory,
    /// The path is a directory, but a file is needed.
    #[error("a directory, and one file is wanted")]
    Directory,
}
