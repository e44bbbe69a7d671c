//! Policies from files. Each fault is reported with file, document, line and field.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::documents::{
    self, Contents, Diagnostic, File, FileStamps, MAX_FILE_BYTES, StableRead, read_stable,
};
use crate::domain::ClusterName;
use crate::engine::PolicySet;
use crate::json::{Pointer, Value};
use crate::policy::{self, Finding, PolicyFinding};
use crate::yaml::{self, Document};

/// Valid policies.
#[derive(Clone, Debug)]
pub struct LoadedPolicies {
    pub policies: PolicySet,
    /// The number of documents.
    pub documents: usize,
    /// Whether they are the built-in example, because no file was named.
    pub built_in: bool,
    /// `None` if they can't be read again.
    pub source: Option<PolicySource>,
    /// One line each.
    pub warnings: Vec<String>,
}

/// Files and directories, and their state when they were read.
#[derive(Clone, Debug)]
pub struct PolicySource {
    pub(super) paths: Vec<PathBuf>,
    pub(super) stamps: FileStamps,
    pub(super) digest: Option<u64>,
}

/// Loads the policies in these files and directories, or the built-in example if there are none.
///
/// The error has one line for each fault in each document.
pub fn load(paths: &[PathBuf]) -> Result<LoadedPolicies, Vec<String>> {
    load_for(paths, &BTreeSet::new())
}

/// The same, with a warning for each name in `targetCluster` that matches none of the `known` clusters,
/// unless `known` is empty.
pub fn load_for(paths: &[PathBuf], known: &BTreeSet<ClusterName>) -> Result<LoadedPolicies, Vec<String>> {
    if paths.is_empty() {
        return PolicyDocuments::of(paths).into_loaded(true, known);
    }
    if paths.iter().any(|path| is_pipe(path)) {
        // A pipe can be read only once.
        return PolicyDocuments::of(paths).into_loaded(false, known);
    }
    let StableRead { stamps, digest, contents } = read_stable(paths, MAX_FILE_BYTES, None);
    let contents = match contents {
        Contents::Read(contents) => contents,
        Contents::Unstable(faults) => return Err(Diagnostic::texts(faults)),
        Contents::Unchanged => Vec::new(),
    };
    let loaded = load_again(paths, &stamps, contents, known)?;
    let source = Some(PolicySource { paths: paths.to_vec(), stamps, digest });
    Ok(LoadedPolicies { source, ..loaded })
}

/// Loads policies from the `contents` of the files in `look`.
pub(super) fn load_again(
    paths: &[PathBuf],
    stamps: &FileStamps,
    contents: Vec<Result<Vec<u8>, String>>,
    known: &BTreeSet<ClusterName>,
) -> Result<LoadedPolicies, Vec<String>> {
    let mut faults: Vec<Diagnostic> =
        stamps.errors.iter().chain(&stamps.empty_directories).cloned().collect();
    let mut sources = Vec::new();
    for (path, content) in stamps.files.iter().zip(contents) {
        let documents = content.and_then(|bytes| {
            if bytes.trim_ascii().is_empty() {
                // It is probably being written.
                return Err("the file is empty".to_owned());
            }
            documents::parse(&bytes).map_err(|cause| cause.to_string())
        });
        match documents {
            Ok(documents) => sources.extend(documents.into_iter().map(|document| (path.clone(), document))),
            Err(problem) => faults.push(Diagnostic::of(path, &problem)),
        }
    }
    PolicyDocuments::new(paths, sources, faults).into_loaded(false, known)
}

fn is_pipe(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|metadata| !metadata.is_file() && !metadata.is_dir())
}

/// The documents of policies, valid or not.
pub(super) struct PolicyDocuments {
    /// `None` if there are faults.
    pub(super) policies: Option<PolicySet>,
    pub(super) sources: Vec<(PathBuf, Document)>,
    /// The source of each policy, by position.
    origins: Vec<usize>,
    pub(super) faults: Vec<Diagnostic>,
    pub(super) warnings: Vec<Diagnostic>,
}

impl PolicyDocuments {
    /// Reads the policies in these files and directories, or the built-in example if there are none.
    pub(super) fn of(paths: &[PathBuf]) -> Self {
        let (sources, faults) = sources(paths);
        Self::new(paths, sources, faults)
    }

    fn new(paths: &[PathBuf], sources: Vec<(PathBuf, Document)>, mut faults: Vec<Diagnostic>) -> Self {
        if sources.is_empty() && faults.is_empty() {
            let named = paths.first().map_or_else(|| Path::new("built-in"), PathBuf::as_path);
            faults.push(Diagnostic::of(named, "there is no document in it"));
        }
        let values: Vec<Value<'static>> =
            sources.iter().map(|(_, document)| document.value.clone()).collect();
        let policy::Examined { result, origins, warnings } = policy::examine(&values);
        let fault = |finding: &Finding| {
            let (path, document) = &sources[finding.document];
            Diagnostic::at(path, document, &finding.field, &finding.problem)
        };
        for (path, document) in &sources {
            let keys = document.lines.keys();
            faults.extend(
                keys.iter().map(|(at, reading)| Diagnostic::at(path, document, at, &reading.to_string())),
            );
        }
        let warnings = warnings.iter().map(fault).collect();
        let policies = result.map_err(|findings| faults.extend(findings.iter().map(fault))).ok();
        Self { policies: policies.filter(|_| faults.is_empty()), sources, origins, faults, warnings }
    }

    fn into_loaded(
        self,
        built_in: bool,
        known: &BTreeSet<ClusterName>,
    ) -> Result<LoadedPolicies, Vec<String>> {
        let Some(policies) = &self.policies else { return Err(Diagnostic::texts(self.faults)) };
        let mut warnings = self.unknown_clusters(policies, known);
        warnings.extend(self.warnings);
        Ok(LoadedPolicies {
            documents: self.sources.len(),
            built_in,
            source: None,
            warnings: Diagnostic::texts(warnings),
            policies: self.policies.unwrap_or_default(),
        })
    }

    /// A finding for each name in `targetCluster` that matches none of the `known` clusters, unless `known`
    /// is empty.
    pub(super) fn unknown_clusters(
        &self,
        policies: &PolicySet,
        known: &BTreeSet<ClusterName>,
    ) -> Vec<Diagnostic> {
        policy::unknown_clusters(policies, known).iter().map(|found| self.finding(found)).collect()
    }

    pub(super) fn finding(&self, finding: &PolicyFinding) -> Diagnostic {
        self.fault(finding.policy, &finding.field, &finding.problem)
    }

    /// `policy` is the position in the policy set.
    pub(super) fn fault(&self, policy: usize, field: &Pointer, problem: &str) -> Diagnostic {
        let (path, document) = &self.sources[self.origins[policy]];
        Diagnostic::at(path, document, field, problem)
    }
}

fn sources(paths: &[PathBuf]) -> (Vec<(PathBuf, Document)>, Vec<Diagnostic>) {
    if paths.is_empty() {
        let built_in = Path::new("built-in");
        return match yaml::documents(policy::BUILT_IN) {
            Ok(documents) => {
                (documents.into_iter().map(|document| (built_in.to_owned(), document)).collect(), Vec::new())
            }
            Err(error) => (Vec::new(), vec![Diagnostic::of(built_in, &error.to_string())]),
        };
    }
    let read = documents::read(paths);
    let faults = read.errors.iter().map(Diagnostic::from).collect();
    let sources = read.files.into_iter().flat_map(|File { path, documents }| {
        documents.into_iter().map(move |document| (path.clone(), document))
    });
    (sources.collect(), faults)
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
    fn faults_of_all_files_are_reported_with_file_document_line_and_field() {
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
