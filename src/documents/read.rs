//! Files to documents.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use crate::yaml::{self, Document};

use super::{Cause, Listing, Problem, list};

/// The size of the largest file that is read, in bytes.
pub const MAX_FILE_BYTES: u64 = 8 << 20;

/// The least capacity with which the usual allocator makes a mapping of its own for a buffer, gives it back as soon as it is
/// freed, and learns nothing from that. Of smaller large ones it learns to keep them, and what is kept grows with them. What
/// is not written to takes no memory.
pub const OWN_MAPPING: usize = (32 << 20) + 4096;

/// Up to here a buffer is nothing out of the ordinary.
const SMALL: usize = 128 << 10;

/// What stands for the standard input, where objects are wanted.
pub const STDIN: &str = "-";

/// One file and what is in it.
#[derive(Clone, Debug)]
pub struct File {
    /// Its path, as the user named it or as it was found in a directory.
    pub path: PathBuf,
    /// Its documents, in their order; none if the file holds only comments.
    pub documents: Vec<Document>,
}

/// What came of reading files: all that could be read, and all that is wrong with the others.
#[derive(Debug, Default)]
pub struct Reading {
    /// The files that could be read, by path.
    pub files: Vec<File>,
    /// What is wrong with the others, by path.
    pub problems: Vec<Problem>,
}

impl Reading {
    /// The files, if there is nothing wrong with any.
    pub fn into_result(self) -> Result<Vec<File>, Vec<Problem>> {
        if self.problems.is_empty() { Ok(self.files) } else { Err(self.problems) }
    }
}

/// Reads the files, and those in the directories, that `paths` name.
pub fn read(paths: &[PathBuf]) -> Reading {
    let Listing { files, problems, .. } = list(paths);
    let mut reading = Reading { files: Vec::new(), problems };
    for path in files {
        match read_file(&path) {
            Ok(documents) => reading.files.push(File { path, documents }),
            Err(cause) => reading.problems.push(Problem { path, cause }),
        }
    }
    reading.problems.sort_by(|a, b| a.path.cmp(&b.path));
    reading
}

pub(super) fn read_file(path: &Path) -> Result<Vec<Document>, Cause> {
    parse(&read_bytes(path, MAX_FILE_BYTES)?)
}

pub(super) fn read_from(input: impl Read) -> Result<Vec<Document>, Cause> {
    parse(&take(input, MAX_FILE_BYTES, 0)?)
}

/// Reads what is in the file at `path`, if it is no more than `limit`.
pub fn read_bytes(path: &Path, limit: u64) -> Result<Vec<u8>, Cause> {
    let file = fs::File::open(path)?;
    let metadata = file.metadata()?;
    if metadata.is_dir() {
        return Err(Cause::Directory);
    }
    // One more, so that its end is seen without asking for more memory.
    let likely = usize::try_from(metadata.len()).map_or(0, |length| length.saturating_add(1));
    take(file, limit, if likely < SMALL { likely } else { likely.max(OWN_MAPPING) })
}

/// `likely` is how much there may be; what there is counts.
fn take(input: impl Read, limit: u64, likely: usize) -> Result<Vec<u8>, Cause> {
    // No more than is read can be needed, whatever the system says of the file.
    let most = usize::try_from(limit + 1).unwrap_or(usize::MAX).max(OWN_MAPPING);
    let mut bytes = Vec::with_capacity(likely.min(most));
    input.take(limit + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit { Err(Cause::TooLarge { limit }) } else { Ok(bytes) }
}

/// The documents in what has been read from a file.
pub fn parse(bytes: &[u8]) -> Result<Vec<Document>, Cause> {
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let line = bytes[..error.valid_up_to()].split(|&byte| byte == b'\n').count();
        Cause::Encoding { line }
    })?;
    Ok(yaml::documents(text)?)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    fn directory(files: &[(&str, &[u8])]) -> tempfile::TempDir {
        let directory = tempfile::tempdir().unwrap();
        for (name, content) in files {
            let path = directory.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, content).unwrap();
        }
        directory
    }

    fn names(reading: &Reading, below: &Path) -> Vec<String> {
        let name = |file: &File| file.path.strip_prefix(below).unwrap().display().to_string();
        reading.files.iter().map(name).collect()
    }

    fn problems(reading: &Reading, below: &Path) -> Vec<String> {
        let name = |path: &Path| path.strip_prefix(below).unwrap().display().to_string();
        reading.problems.iter().map(|it| format!("{}: {}", name(it.path()), it.cause())).collect()
    }

    #[test]
    fn a_directory_is_read_flat_and_in_order() {
        let directory = directory(&[
            ("b.yml", b"a: 1\n---\nb: 2\n"),
            ("a.yaml", b"# nothing\n"),
            ("c.json", b"{\"a\": 1.0}"),
            ("notes.txt", b"a: b: c"),
            ("README", b"a: b: c"),
            (".hidden.yaml", b"a: b: c"),
            ("sub/d.yaml", b"a: b: c"),
            ("sub.yaml/d.yaml", b"a: b: c"),
        ]);
        let reading = read(&[directory.path().to_owned()]);
        assert_eq!(problems(&reading, directory.path()), [""; 0]);
        assert_eq!(names(&reading, directory.path()), ["a.yaml", "b.yml", "c.json"]);
        let counts: Vec<_> = reading.files.iter().map(|file| file.documents.len()).collect();
        assert_eq!(counts, [0, 2, 1]);
        assert_eq!(reading.files[2].documents[0].value.to_string(), r#"{"a":1.0}"#);
    }

    #[test]
    fn a_mounted_config_map_is_read_through_its_links() {
        let directory = directory(&[("..2026_01/a.yaml", b"a: 1\n"), ("..2026_01/b.yaml", b"a: 2\n")]);
        symlink("..2026_01", directory.path().join("..data")).unwrap();
        for name in ["a.yaml", "b.yaml"] {
            symlink(Path::new("..data").join(name), directory.path().join(name)).unwrap();
        }
        let reading = read(&[directory.path().to_owned()]);
        assert_eq!(names(&reading, directory.path()), ["a.yaml", "b.yaml"]);
        assert!(reading.problems.is_empty(), "{:?}", reading.problems);
    }

    #[test]
    fn a_file_is_read_once_however_often_it_is_named() {
        let directory = directory(&[("a.yaml", b"a: 1\n"), ("policy.txt", b"a: 2\n")]);
        symlink("a.yaml", directory.path().join("link.yaml")).unwrap();
        let at = |name: &str| directory.path().join(name);
        let paths =
            [at("policy.txt"), at("link.yaml"), directory.path().to_owned(), at("a.yaml"), at("policy.txt")];
        let reading = read(&paths);
        assert_eq!(names(&reading, directory.path()), ["a.yaml", "policy.txt"]);
    }

    #[test]
    fn every_problem_is_told_and_the_rest_is_read() {
        let directory = directory(&[
            ("bad.yaml", b"a: 1\nb:\n  c: 1\n  c: 2\n"),
            ("good.yaml", b"a: 1\n"),
            ("latin1.yaml", b"a: 1\nb: \xe9\n"),
            ("empty/notes.txt", b""),
        ]);
        symlink("nowhere", directory.path().join("dangling.yaml")).unwrap();
        let at = |name: &str| directory.path().join(name);
        let reading = read(&[
            at("missing.yaml"),
            at("empty"),
            directory.path().to_owned(),
            at("empty"),
            at("missing.yaml"),
        ]);
        assert_eq!(names(&reading, directory.path()), ["good.yaml"]);
        assert_eq!(
            problems(&reading, directory.path()),
            [
                "bad.yaml: line 4, column 3: the key \"c\" is there twice, the first time on line 3",
                "dangling.yaml: No such file or directory (os error 2)",
                "empty: no *.yaml, *.yml or *.json file in this directory",
                "latin1.yaml: not UTF-8 on line 2",
                "missing.yaml: No such file or directory (os error 2)",
            ]
        );
        assert!(reading.problems[4].to_string().starts_with("failed to read /"));
        assert_eq!(reading.into_result().unwrap_err().len(), 5);
    }

    #[test]
    fn the_size_of_a_file_is_bounded() {
        let largest = usize::try_from(MAX_FILE_BYTES).unwrap();
        let mut text = b"a: 1\n#".to_vec();
        text.resize(largest, b'x');
        let directory = directory(&[("a.yaml", &text), ("b.yaml", &[&text[..], b"x"].concat())]);
        let reading = read(&[directory.path().to_owned()]);
        assert_eq!(names(&reading, directory.path()), ["a.yaml"]);
        assert_eq!(problems(&reading, directory.path()), ["b.yaml: larger than the 8 MiB that are read"]);
    }
}
