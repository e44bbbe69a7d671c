//! Reads files into a snapshot.

use std::path::PathBuf;

use crate::documents::{self, Contents, Diagnostic, FileStamps, StableRead, read_stable};
use crate::state::snapshot::{Snapshot, SnapshotBuilder};

/// The largest file that is read. Enough for a List of all bindings of a large fleet.
const MAX_FILE_BYTES: u64 = 64 << 20;

/// The result of reading files.
#[derive(Debug)]
pub(super) struct SnapshotRead {
    pub(super) stamps: FileStamps,
    /// A digest of the contents; `None` if the files kept changing.
    pub(super) digest: Option<u64>,
    /// The snapshot, or all errors, one per line; `None` if the contents are unchanged.
    pub(super) result: Option<Result<Snapshot, Vec<String>>>,
}

/// Reads a consistent state of the files at `paths`. `before` is the digest of the previous read. Blocks.
pub(super) fn read(paths: &[PathBuf], before: Option<u64>) -> SnapshotRead {
    let StableRead { stamps, digest, contents } = read_stable(paths, MAX_FILE_BYTES, before);
    let result = match contents {
        Contents::Unchanged => None,
        Contents::Read(contents) => Some(build(&stamps, contents)),
        Contents::Unstable(errors) => Some(Err(Diagnostic::texts(errors))),
    };
    SnapshotRead { stamps, digest, result }
}

fn build(stamps: &FileStamps, contents: Vec<Result<Vec<u8>, String>>) -> Result<Snapshot, Vec<String>> {
    let mut builder = SnapshotBuilder::default();
    for error in &stamps.errors {
        builder.error(error.clone());
    }
    for (path, content) in stamps.files.iter().zip(contents) {
        match content.and_then(|bytes| documents::parse(&bytes).map_err(|error| error.to_string())) {
            Ok(documents) => builder.add(path, &documents),
            Err(problem) => builder.error(Diagnostic::of(path, &problem)),
        }
    }
    builder.finish()
}
