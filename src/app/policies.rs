//! Policies from files, with every fault told with its file, document, line and field.

use std::fs;
use std::path::{Path, PathBuf};

use crate::documents::{self, Fault, File, Found, Look, MAX_FILE_BYTES, Still, read_still};
use crate::engine::PolicySet;
use crate::json::Value;
use crate::policy;
use crate::yaml::{self, Document};

/// Policies that may be put in force.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// The policies.
    pub policies: PolicySet,
    /// How many documents they were read from.
    pub documents: usize,
    /// Whether they are the built-in example, because no file was named.
    pub built_in: bool,
    /// What they were read from, if that can be read again.
    pub seen: Option<Seen>,
}

/// Files, and how they were.
#[derive(Clone, Debug)]
pub struct Seen {
    /// The files and directories.
    pub(super) paths: Vec<PathBuf>,
    pub(super) look: Look,
    pub(super) digest: Option<u64>,
}

/// Loads the policies in these files and directories, or the built-in example if there are none.
///
/// The error is every fault of every document, each in one line, for the user.
pub fn load(paths: &[PathBuf]) -> Result<Loaded, Vec<String>> {
    if paths.is_empty() {
        let documents =
            yaml::documents(policy::BUILT_IN).map_err(|error| vec![format!("built-in: {error}")])?;
        let sources: Vec<_> =
            documents.into_iter().map(|document| (PathBuf::from("built-in"), document)).collect();
        return compile(&sources, Vec::new(), true);
    }
    if paths.iter().any(|path| is_pipe(path)) {
        // It gives what it has only once.
        let documents::Reading { files, problems } = documents::read(paths);
        let files = files.into_iter().map(|File { path, documents }| (path, documents)).collect();
        return of_files(paths, files, problems.iter().map(Fault::from).collect());
    }
    let Still { look, digest, found } = read_still(paths, MAX_FILE_BYTES, None);
    let contents = match found {
        Found::Contents(contents) => contents,
        Found::Restless(faults) => return Err(Fault::texts(faults)),
        Found::Same => Vec::new(),
    };
    let loaded = load_again(paths, &look, contents)?;
    Ok(Loaded { seen: Some(Seen { paths: paths.to_vec(), look, digest }), ..loaded })
}

/// The policies in what has been read.
pub(super) fn load_again(
    paths: &[PathBuf],
    look: &Look,
    contents: Vec<Result<Vec<u8>, String>>,
) -> Result<Loaded, Vec<String>> {
    let mut faults: Vec<Fault> = look.faults.iter().chain(&look.empty).cloned().collect();
    let mut files = Vec::new();
    for (path, content) in look.files.iter().zip(contents) {
        let documents = content.and_then(|bytes| {
            if bytes.trim_ascii().is_empty() {
                // More likely than not, somebody is about to write it.
                return Err("the file is empty".to_owned());
            }
            documents::parse(&bytes).map_err(|cause| cause.to_string())
        });
        match documents {
            Ok(documents) => files.push((path.clone(), documents)),
            Err(problem) => faults.push(Fault::of(path, &problem)),
        }
    }
    of_files(paths, files, faults)
}

fn is_pipe(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|metadata| !metadata.is_file() && !metadata.is_dir())
}

fn of_files(
    paths: &[PathBuf],
    files: Vec<(PathBuf, Vec<Document>)>,
    faults: Vec<Fault>,
) -> Result<Loaded, Vec<String>> {
    let sources: Vec<(PathBuf, Document)> = files
        .into_iter()
        .flat_map(|(path, documents)| documents.into_iter().map(move |document| (path.clone(), document)))
        .collect();
    match paths.first() {
        Some(path) if sources.is_empty() && faults.is_empty() => {
            Err(vec![format!("{}: there is no document in it", path.display())])
        }
        _ => compile(&sources, faults, false),
    }
}

fn compile(
    sources: &[(PathBuf, Document)],
    mut faults: Vec<Fault>,
    built_in: bool,
) -> Result<Loaded, Vec<String>> {
    let values: Vec<Value<'static>> = sources.iter().map(|(_, document)| document.value.clone()).collect();
    match policy::compile(&values) {
        Ok(policies) if faults.is_empty() => {
            return Ok(Loaded { policies, documents: values.len(), built_in, seen: None });
        }
        Ok(_) => {}
        Err(findings) => faults.extend(findings.iter().map(|finding| {
            let (path, document) = &sources[finding.document];
            Fault::at(path, document, &finding.field, &finding.problem)
        })),
    }
    Err(Fault::texts(faults))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_files_the_built_in_example_is_served() {
        let loaded = load(&[]).unwrap();
        assert!(loaded.built_in);
        assert_eq!(loaded.policies.policies.len(), 1);
        assert!(loaded.policies.allocations.contains_key("fort"));
    }

    #[test]
    fn faults_of_all_files_are_told_with_file_document_line_and_field() {
        let directory = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| std::fs::write(directory.path().join(name), text).unwrap();
        write("a.yaml", "kind: [\n");
        write(
            "b.yaml",
            "# nothing\n---\napiVersion: reviser.io/v1alpha1\nkind: RevisionPolicy\nmetadata: {name: p}\nspec:\n  rulse: []\n",
        );
        write("c.json", "[]");
        let faults = load(&[directory.path().to_owned()]).unwrap_err();
        let expected = [
            "a.yaml: line ",
            "b.yaml: document 1, line 5: metadata.namespace: is required",
            "b.yaml: document 1, line 6: spec.resourceSelectors: is required",
            "b.yaml: document 1, line 6: spec.rules: is required",
            "b.yaml: document 1, line 7: spec.rulse: unknown field; did you mean \"rules\"?",
            "c.json: document 1, line 1: must be a map, is a list",
        ];
        assert_eq!(faults.len(), expected.len(), "{faults:#?}");
        for (fault, expected) in faults.iter().zip(expected) {
            let fault = fault.strip_prefix(&format!("{}/", directory.path().display())).unwrap();
            assert!(fault.starts_with(expected), "{fault}\n{expected}");
        }
    }
}
