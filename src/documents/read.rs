//! Reads files into documents.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use crate::yaml::{self, Document};

use super::{FileError, FileErrorKind, Listing, list};

/// The largest file that is read, in bytes.
pub const MAX_FILE_BYTES: u64 = 8 << 20;

/// The path that stands for standard input where objects are read.
pub const STDIN: &str = "-";

#[derive(Clone, Debug)]
pub struct File {
    /// The path as given, or as found in a directory.
    pub path: PathBuf,
    /// The documents; empty if the file holds only comments.
    pub documents: Vec<Document>,
}

/// The files that could be read, and the errors of the others.
#[derive(Debug, Default)]
pub struct Files {
    /// Ordered by path.
    pub files: Vec<File>,
    /// Ordered by path.
    pub errors: Vec<FileError>,
}

impl Files {
    /// The files, if all could be read.
    pub fn into_result(self) -> Result<Vec<File>, Vec<FileError>> {
        if self.errors.is_empty() { Ok(self.files) } else { Err(self.errors) }
    }
}

/// Reads the files at `paths`, and those in the directories at `paths`.
pub fn read(paths: &[PathBuf]) -> Files {
    let Listing { files, errors, .. } = list(paths);
    let mut read = Files { files: Vec::new(), errors };
    for path in files {
        match read_file(&path) {
            Ok(documents) => read.files.push(File { path, documents }),
            Err(kind) => read.errors.push(FileError { path, kind }),
        }
    }
    read.errors.sort_by(|a, b| a.path.cmp(&b.path));
    read
}

pub(super) fn read_file(path: &Path) -> Result<Vec<Document>, FileErrorKind> {
    parse(&read_bytes(path, MAX_FILE_BYTES)?)
}

pub(super) fn read_from(input: impl Read) -> Result<Vec<Document>, FileErrorKind> {
    parse(&read_limited(input, MAX_FILE_BYTES)?)
}

/// The bytes of the file at `path`. Fails if there are more than `limit`.
pub fn read_bytes(path: &Path, limit: u64) -> Result<Vec<u8>, FileErrorKind> {
    let file = fs::File::open(path)?;
    if file.metadata()?.is_dir() {
        return Err(FileErrorKind::Directory);
    }
    read_limited(file, limit)
}

fn read_limited(input: impl Read, limit: u64) -> Result<Vec<u8>, FileErrorKind> {
    let mut bytes = Vec::new();
    input.take(limit + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit { Err(FileErrorKind::TooLarge { limit }) } else { Ok(bytes) }
}

/// The documents in the bytes of a file.
pub fn parse(bytes: &[u8]) -> Result<Vec<Document>, FileErrorKind> {
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let line = bytes[..error.valid_up_to()].split(|&byte| byte == b'\n').count();
        FileErrorKind::Encoding { line }
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

    fn names(reading: &Files, below: &Path) -> Vec<String> {
        let name = |file: &File| file.path.strip_prefix(below).unwrap().display().to_string();
        reading.files.iter().map(name).collect()
    }

    fn problems(reading: &Files, below: &Path) -> Vec<String> {
        let name = |path: &Path| path.strip_prefix(below).unwrap().display().to_string();
        reading.errors.iter().map(|it| format!("{}: {}", name(it.path()), it.kind())).collect()
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
        assert!(reading.errors.is_empty(), "{:?}", reading.errors);
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
        assert!(reading.errors[4].to_string().starts_with("failed to read /"));
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
