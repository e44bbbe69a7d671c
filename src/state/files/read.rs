//! Files to a snapshot.

use std::fmt::Write as _;
use std::fs;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use super::look::Look;
use crate::documents::{self, Fault};
use crate::json::{Kind, MAX_DEPTH, Text};
use crate::state::snapshot::{Draft, Snapshot};

/// The size of the largest file that is read: a List of all Clusters or bindings of a large fleet.
const MAX_FILE_BYTES: u64 = 64 << 20;

/// How many milliseconds to let files rest that change while they are read, time after time, before it is given up.
const RESTS: [u64; 5] = [1, 2, 4, 8, 16];

/// What came of reading files.
#[derive(Debug)]
pub(super) struct Reading {
    /// How they were.
    pub(super) look: Look,
    /// A digest of what is in them; none if they did not keep still.
    pub(super) digest: Option<u64>,
    /// What they say, or all that is wrong; `None` if they say what they said before.
    pub(super) result: Option<Result<Snapshot, Vec<String>>>,
}

/// Reads what `paths` name, all of it as it was at one moment. `before` is the digest of what was read before.
pub(super) fn read(paths: &[PathBuf], before: Option<u64>) -> Reading {
    let mut look = Look::at(paths);
    for rest in RESTS {
        let contents: Vec<Result<Vec<u8>, String>> = look.files.iter().map(|path| content(path)).collect();
        let after = Look::at(paths);
        if !look.is_same(&after) {
            thread::sleep(Duration::from_millis(rest));
            look = Look::at(paths);
            continue;
        }
        let digest = digest(&look, &contents);
        if Some(digest) == before {
            return Reading { look, digest: Some(digest), result: None };
        }
        let result = Some(make(&look, contents));
        return Reading { look, digest: Some(digest), result };
    }
    let faults = paths.iter().map(|path| Fault::of(path, "it keeps changing while it is read")).collect();
    Reading { look: look.unsettled(), digest: None, result: Some(Err(Fault::texts(faults))) }
}

/// What is in a file. A pipe gives its content only once, and may never give any.
fn content(path: &Path) -> Result<Vec<u8>, String> {
    match fs::metadata(path) {
        Ok(metadata) if !metadata.is_file() && !metadata.is_dir() => {
            Err("neither a file nor a directory, and state is read more than once".to_owned())
        }
        Ok(_) => documents::read_bytes(path, MAX_FILE_BYTES).map_err(|cause| cause.to_string()),
        Err(error) => Err(error.to_string()),
    }
}

fn digest(look: &Look, contents: &[Result<Vec<u8>, String>]) -> u64 {
    let mut hasher = DefaultHasher::new();
    look.faults.hash(&mut hasher);
    look.files.hash(&mut hasher);
    contents.hash(&mut hasher);
    hasher.finish()
}

/// What the files say. That is first looked for in the way that takes little memory, which tells no places, and then, if
/// something is wrong, in the way that tells them.
fn make(look: &Look, contents: Vec<Result<Vec<u8>, String>>) -> Result<Snapshot, Vec<String>> {
    if look.faults.is_empty()
        && let Some(snapshot) = make_frugally(&look.files, &contents)
    {
        return Ok(snapshot);
    }
    let mut draft = Draft::default();
    for fault in &look.faults {
        draft.fault(fault.clone());
    }
    for (path, content) in look.files.iter().zip(contents) {
        let documents = content.and_then(|bytes| documents::parse(&bytes).map_err(|cause| cause.to_string()));
        match documents {
            Ok(documents) => draft.add(path, &documents),
            Err(problem) => draft.fault(Fault::of(path, &problem)),
        }
    }
    draft.finish()
}

/// What the files say; `None` if anything is wrong.
fn make_frugally(files: &[PathBuf], contents: &[Result<Vec<u8>, String>]) -> Option<Snapshot> {
    let mut draft = Draft::default();
    for (path, content) in files.iter().zip(contents) {
        let bytes = content.as_ref().ok()?;
        let bytes = bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(bytes);
        if let Ok(text) = Text::parse(bytes)
            && text.root().kind() == Kind::Object
        {
            let root = text.root();
            if root.check_names().is_err() || root.depth() > MAX_DEPTH {
                return None;
            }
            draft.add_texts(path, &[root]);
        } else {
            // As JSON text it takes a fraction of the memory that it takes as trees, which are gone by the next line.
            let list = as_list(bytes)?;
            let text = Text::parse(list.as_bytes()).ok()?;
            draft.add_texts(path, &text.root().items().ok()?);
        }
    }
    draft.finish().ok()
}

/// The documents of a text as a list in JSON.
fn as_list(bytes: &[u8]) -> Option<String> {
    let mut list = String::from("[");
    for document in documents::parse(bytes).ok()? {
        let comma = if list.len() > 1 { "," } else { "" };
        write!(list, "{comma}{}", document.value).ok()?;
    }
    list.push(']');
    Some(list)
}
