//! What is in files that others may be writing.

use std::fs;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use super::{Fault, Look, read_bytes};

/// How many milliseconds to let files rest that change while they are read, time after time, before it is given up.
const RESTS: [u64; 5] = [1, 2, 4, 8, 16];

/// Files as they were at one moment.
#[derive(Debug)]
pub struct Still {
    /// How they were.
    pub look: Look,
    /// A digest of what was in them; none if they did not keep still.
    pub digest: Option<u64>,
    /// What was in them.
    pub found: Found,
}

/// What was in files.
#[derive(Debug)]
pub enum Found {
    /// What was there before.
    Same,
    /// This, in the order of [`Look::files`]; or why one can't be read.
    Contents(Vec<Result<Vec<u8>, String>>),
    /// Nobody knows: they kept changing.
    Restless(Vec<Fault>),
}

/// Reads what `paths` name, all of it as it was at one moment, no file longer than `limit`. `before` is the digest of what was
/// read before.
pub fn read_still(paths: &[PathBuf], limit: u64, before: Option<u64>) -> Still {
    let mut look = Look::at(paths);
    for rest in RESTS {
        let contents: Vec<_> = look.files.iter().map(|path| content(path, limit)).collect();
        let after = Look::at(paths);
        if !look.is_same(&after) {
            // Not to be held while it rests.
            drop(contents);
            thread::sleep(Duration::from_millis(rest));
            look = Look::at(paths);
            continue;
        }
        let digest = digest(&look, &contents);
        let found = if Some(digest) == before { Found::Same } else { Found::Contents(contents) };
        return Still { look, digest: Some(digest), found };
    }
    let faults = paths.iter().map(|path| Fault::of(path, "it keeps changing while it is read")).collect();
    Still { look: look.unsettled(), digest: None, found: Found::Restless(faults) }
}

/// What is in a file. A pipe gives its content only once, and may never give any.
fn content(path: &Path, limit: u64) -> Result<Vec<u8>, String> {
    match fs::metadata(path) {
        Ok(metadata) if !metadata.is_file() && !metadata.is_dir() => {
            Err("neither a file nor a directory, and it is read more than once".to_owned())
        }
        Ok(_) => read_bytes(path, limit).map_err(|cause| cause.to_string()),
        Err(error) => Err(error.to_string()),
    }
}

fn digest(look: &Look, contents: &[Result<Vec<u8>, String>]) -> u64 {
    let mut hasher = DefaultHasher::new();
    look.faults.hash(&mut hasher);
    look.empty.hash(&mut hasher);
    look.files.hash(&mut hasher);
    contents.hash(&mut hasher);
    hasher.finish()
}
