//! Files to a snapshot.

use std::fmt::Write as _;
use std::hint::black_box;
use std::path::PathBuf;
use std::thread;

use crate::documents::{self, Fault, Found, Look, OWN_MAPPING, Still, read_still};
use crate::json::{Kind, MAX_DEPTH, Text};
use crate::state::snapshot::{Draft, Snapshot};

/// The size of the largest file that is read: a List of all Clusters or bindings of a large fleet.
const MAX_FILE_BYTES: u64 = 64 << 20;

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
    let Still { look, digest, found } = read_still(paths, MAX_FILE_BYTES, before);
    let result = match found {
        Found::Same => None,
        Found::Contents(contents) => Some(make(&look, contents)),
        Found::Restless(faults) => Some(Err(Fault::texts(faults))),
    };
    give_back();
    Reading { look, digest, result }
}

/// Has the usual allocator give back to the system what this thread has freed. It does so only when something is freed that
/// is large, but not so large that it has a mapping of its own; and the last that a reading frees is small.
fn give_back() {
    drop(black_box(Vec::<u8>::with_capacity(96 << 10)));
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

/// The documents of a text as a list in JSON, made in a thread that ends with it: with the thread goes the last of what the usual
/// allocator would keep of the trees.
fn as_list(bytes: &[u8]) -> Option<String> {
    let convert = || {
        let list = convert(bytes);
        give_back();
        list
    };
    thread::scope(|scope| thread::Builder::new().spawn_scoped(scope, convert).ok()?.join().ok()?)
}

fn convert(bytes: &[u8]) -> Option<String> {
    let mut list = String::with_capacity(OWN_MAPPING);
    list.push('[');
    for document in documents::parse(bytes).ok()? {
        let comma = if list.len() > 1 { "," } else { "" };
        write!(list, "{comma}{}", document.value).ok()?;
    }
    list.push(']');
    Some(list)
}
