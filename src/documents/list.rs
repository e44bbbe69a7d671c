//! Lists the files at paths.

use std::collections::{BTreeSet, HashSet};
use std::fs;
use std::path::{Path, PathBuf};

use super::{FileError, FileErrorKind};

/// The files at the given paths.
#[derive(Debug, Default)]
pub struct Listing {
    /// The files, ordered by path. A file that several paths lead to is listed once.
    pub files: Vec<PathBuf>,
    /// All paths that the listing depends on: the given paths, and the entries of directories that have the
    /// extension of a file to read.
    pub dependencies: Vec<PathBuf>,
    /// Why paths could not be listed.
    pub errors: Vec<FileError>,
}

/// Lists the files at `paths`, and those in the directories at `paths`.
pub fn list(paths: &[PathBuf]) -> Listing {
    let mut listing = Listing::default();
    let (mut files, mut dependencies) = (BTreeSet::new(), BTreeSet::new());
    for path in paths {
        if !dependencies.insert(path.clone()) {
            continue;
        }
        match list_path(path) {
            Ok(found) => {
                dependencies.extend(found.iter().map(|(path, _)| path.clone()));
                files.extend(found.into_iter().filter(|(_, is_file)| *is_file).map(|(path, _)| path));
            }
            Err(kind) => listing.errors.push(FileError { path: path.clone(), kind }),
        }
    }
    let mut seen = HashSet::new();
    // A path without a canonical form does not exist: reading it reports that.
    let is_first = |path: &PathBuf| fs::canonicalize(path).map_or(true, |canonical| seen.insert(canonical));
    listing.files = files.into_iter().filter(is_first).collect();
    listing.dependencies = dependencies.into_iter().collect();
    listing
}

/// The file `path`, or the entries of the directory `path` that have the extension of a file to read, and
/// whether each is a file.
fn list_path(path: &Path) -> Result<Vec<(PathBuf, bool)>, FileErrorKind> {
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
            // Reading a dangling link reports it. Directories and pipes are skipped.
            let is_file = fs::metadata(entry.path()).map_or(true, |metadata| metadata.is_file());
            found.push((path.join(name), is_file));
        }
    }
    if found.iter().any(|(_, is_file)| *is_file) { Ok(found) } else { Err(FileErrorKind::EmptyDirectory) }
}
