//! Reads files that other processes may be writing to.

use std::fs;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use super::{Diagnostic, FileStamps, read_bytes};

/// The pause in milliseconds after each attempt during which files changed.
const PAUSES: [u64; 5] = [1, 2, 4, 8, 16];

/// A consistent state of files.
#[derive(Debug)]
pub struct StableRead {
    /// Their metadata.
    pub stamps: FileStamps,
    /// A digest of their contents; `None` if they kept changing.
    pub digest: Option<u64>,
    /// Their contents.
    pub contents: Contents,
}

/// The contents of files.
#[derive(Debug)]
pub enum Contents {
    /// The contents have the digest that was given.
    Unchanged,
    /// The bytes of each file, in the order of [`FileStamps::files`], or why it can't be read.
    Read(Vec<Result<Vec<u8>, String>>),
    /// The files changed during each attempt.
    Unstable(Vec<Diagnostic>),
}

/// Reads a consistent state of the files at `paths`. A file longer than `limit` bytes is an error. `before`
/// is the digest of the previous read.
pub fn read_stable(paths: &[PathBuf], limit: u64, before: Option<u64>) -> StableRead {
    let mut stamps = FileStamps::read(paths);
    for pause in PAUSES {
        let contents: Vec<_> = stamps.files.iter().map(|path| content(path, limit)).collect();
        let after = FileStamps::read(paths);
        if stamps.is_same(&after) {
            let digest = digest(&stamps, &contents);
            let contents =
                if Some(digest) == before { Contents::Unchanged } else { Contents::Read(contents) };
            return StableRead { stamps, digest: Some(digest), contents };
        }
        thread::sleep(Duration::from_millis(pause));
        stamps = FileStamps::read(paths);
    }
    let errors =
        paths.iter().map(|path| Diagnostic::of(path, "it keeps changing while it is read")).collect();
    StableRead { stamps: stamps.unsettled(), digest: None, contents: Contents::Unstable(errors) }
}

/// The bytes of a file. Pipes and devices are errors, because they can be read only once, and may block.
fn content(path: &Path, limit: u64) -> Result<Vec<u8>, String> {
    match fs::metadata(path) {
        Ok(metadata) if !metadata.is_file() && !metadata.is_dir() => {
            Err("neither a file nor a directory, and it is read more than once".to_owned())
        }
        Ok(_) => read_bytes(path, limit).map_err(|error| error.to_string()),
        Err(error) => Err(error.to_string()),
    }
}

fn digest(stamps: &FileStamps, contents: &[Result<Vec<u8>, String>]) -> u64 {
    let mut hasher = DefaultHasher::new();
    stamps.errors.hash(&mut hasher);
    stamps.empty_directories.hash(&mut hasher);
    stamps.files.hash(&mut hasher);
    contents.hash(&mut hasher);
    hasher.finish()
}
