//! Paths to files.

use std::collections::{BTreeSet, HashSet};
use std::fs;
use std::path::{Path, PathBuf};

use super::{Cause, Problem};

/// The files that some paths stand for.
#[derive(Debug, Default)]
pub struct Listing {
    /// The files, by path, and each once, however many ways lead to it.
    pub files: Vec<PathBuf>,
    /// All that this depends on, by path: what was named, and whatever a directory holds under a name that would be
    /// read. As long as these stay what they are, so does the listing.
    pub places: Vec<PathBuf>,
    /// What is wrong with what was named.
    pub problems: Vec<Problem>,
}

/// Lists the files, and those in the directories, that `paths` name.
pub fn list(paths: &[PathBuf]) -> Listing {
    let mut listing = Listing::default();
    let (mut files, mut places) = (BTreeSet::new(), BTreeSet::new());
    for path in paths {
        if !places.insert(path.clone()) {
            continue;
        }
        match below(path) {
            Ok(found) => {
                places.extend(found.iter().map(|(path, _)| path.clone()));
                files.extend(found.into_iter().filter(|(_, is_file)| *is_file).map(|(path, _)| path));
            }
            Err(cause) => listing.problems.push(Problem { path: path.clone(), cause }),
        }
    }
    let mut seen = HashSet::new();
    // What has no canonical path is not there, which reading it tells.
    let is_first = |path: &PathBuf| fs::canonicalize(path).map_or(true, |canonical| seen.insert(canonical));
    listing.files = files.into_iter().filter(is_first).collect();
    listing.places = places.into_iter().collect();
    listing
}

/// What `path` stands for: itself, or what is in it under a name that is read, and whether it is a file.
fn below(path: &Path) -> Result<Vec<(PathBuf, bool)>, Cause> {
    if !fs::metadata(path)?.is_dir() {
        return Ok(vec![(path.to_owned(), true)]);
    }
    let mut found = Vec::new();
    for entry in fs::read_dir(path)? {
        let entry = entry?;
        let name = entry.file_name();
        let hidden = name.as_encoded_bytes().starts_with(b".");
        let wanted = matches!(
            Path::new(&name).extension().and_then(|extension| extension.to_str()),
            Some("yaml" | "yml" | "json")
        );
        if wanted && !hidden {
            // A link that leads nowhere is kept: reading it says so. A directory or a pipe of such a name is passed over.
            let is_file = fs::metadata(entry.path()).map_or(true, |metadata| metadata.is_file());
            found.push((path.join(name), is_file));
        }
    }
    if found.iter().any(|(_, is_file)| *is_file) { Ok(found) } else { Err(Cause::EmptyDirectory) }
}
