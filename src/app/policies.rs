//! Policies from files, with every fault told with its file, document, line and field.

use std::path::PathBuf;

use crate::documents::{self, Fault, File};
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
    let reading = documents::read(paths);
    let problems: Vec<Fault> = reading.problems.iter().map(Fault::from).collect();
    let sources: Vec<(PathBuf, Document)> = reading
        .files
        .into_iter()
        .flat_map(|File { path, documents }| {
            documents.into_iter().map(move |document| (path.clone(), document))
        })
        .collect();
    if sources.is_empty() && problems.is_empty() {
        return Err(vec![format!("{}: there is no document in it", paths[0].display())]);
    }
    compile(&sources, problems, false)
}

fn compile(
    sources: &[(PathBuf, Document)],
    mut faults: Vec<Fault>,
    built_in: bool,
) -> Result<Loaded, Vec<String>> {
    let values: Vec<Value<'static>> = sources.iter().map(|(_, document)| document.value.clone()).collect();
    match policy::compile(&values) {
        Ok(policies) if faults.is_empty() => {
            return Ok(Loaded { policies, documents: values.len(), built_in });
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
