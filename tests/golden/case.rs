//! The files of a case.

use std::path::{Path, PathBuf};

use serde_json::value::RawValue;

/// A folder in `cases`.
#[derive(Debug)]
pub(crate) struct Case {
    pub(crate) name: String,
    folder: PathBuf,
    /// The bodies, byte for byte.
    pub(crate) requests: Vec<String>,
    is_list: bool,
}

impl Case {
    /// All cases, by name.
    pub(crate) fn all() -> Vec<Self> {
        let cases = repository().join("tests/golden/cases");
        let mut folders: Vec<PathBuf> =
            std::fs::read_dir(&cases).unwrap().map(|entry| entry.unwrap().path()).collect();
        folders.sort();
        assert!(!folders.is_empty());
        folders.into_iter().map(Self::read).collect()
    }

    fn read(folder: PathBuf) -> Self {
        let name = folder.file_name().unwrap().to_str().unwrap().to_owned();
        let text = std::fs::read_to_string(folder.join("request.json"));
        let text = text.unwrap_or_else(|error| panic!("{name}: {error}"));
        let list = serde_json::from_str::<Vec<Box<RawValue>>>(&text);
        let is_list = list.is_ok();
        let requests = match list {
            Ok(list) => list.iter().map(|item| request(item.get())).collect(),
            Err(_) => vec![text],
        };
        Self { name, folder, requests, is_list }
    }

    /// The policy of the server; `None` for the built-in one.
    pub(crate) fn policy(&self) -> Option<PathBuf> {
        let path = self.folder.join("policy.yaml");
        path.exists().then_some(path)
    }

    pub(crate) fn expected(&self) -> PathBuf {
        self.folder.join("expected.json")
    }

    /// The content of `expected.json` for these lines, one for each request.
    pub(crate) fn document<'l>(&self, lines: impl Iterator<Item = &'l str>) -> String {
        let lines: Vec<&str> = lines.collect();
        if self.is_list { format!("[\n{}\n]\n", lines.join(",\n")) } else { format!("{}\n", lines.concat()) }
    }
}

/// An item of the list: a request, or the name of a file with one.
fn request(item: &str) -> String {
    match serde_json::from_str::<String>(item) {
        Ok(path) => std::fs::read_to_string(repository().join(&path))
            .unwrap_or_else(|error| panic!("{path}: {error}")),
        Err(_) => item.to_owned(),
    }
}

fn repository() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}
