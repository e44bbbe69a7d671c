//! Everything that can be said about policies before they are in force: `reviser check`.

mod samples;

use std::path::PathBuf;

use super::policies::Examined;
use crate::documents::{self, Fault};
use crate::json::Value;
use crate::policy;

/// What came of a check.
#[derive(Debug)]
pub struct Checked {
    /// Every finding, each in one line, by file and line.
    pub findings: Vec<String>,
    /// How many of them make `serve` refuse the policies.
    pub refused: usize,
    /// How many documents were read.
    pub documents: usize,
    /// What could not be looked at, and why.
    pub notes: Vec<String>,
}

/// Checks the policies in these files and directories, alone and with objects and definitions.
pub fn check(policies: &[PathBuf], samples: &[PathBuf], definitions: &[PathBuf]) -> Checked {
    let examined = Examined::of(policies);
    let (refused, documents) = (examined.faults.len(), examined.sources.len());
    let mut findings = [examined.faults.as_slice(), &examined.warnings].concat();
    let mut notes = Vec::new();
    match &examined.policies {
        Some(set) => {
            for path in samples {
                findings.extend(samples::run(path, set, &examined, &mut notes));
            }
            let read = read(definitions, &mut findings);
            if read.is_empty() && !definitions.is_empty() {
                notes.push("there is no definition in the files of --crd".to_owned());
            }
            for (path, document) in &read {
                for object in objects(&document.value) {
                    let (found, told) = policy::definition(object, set);
                    findings.extend(found.iter().map(|it| {
                        let problem = format!("{}: {}", path.display(), it.problem);
                        examined.fault(it.policy, &it.field, &problem)
                    }));
                    notes.extend(told.map(|told| format!("{}: {told}", path.display())));
                }
            }
        }
        None if samples.is_empty() && definitions.is_empty() => {}
        None => notes.push("the policies are not tried before they are mended".to_owned()),
    }
    Checked { findings: Fault::texts(findings), refused, documents, notes }
}

/// The items of a list, as `kubectl get -o yaml` prints several objects; else the object itself.
fn objects<'v>(document: &'v Value<'static>) -> Vec<&'v Value<'static>> {
    let is_list = document.get("kind").and_then(Value::as_str).is_some_and(|kind| kind.ends_with("List"));
    match document.get("items").and_then(Value::as_array) {
        Some(items) if is_list => items.iter().collect(),
        _ => vec![document],
    }
}

/// The documents in these files; what is wrong with those is a finding.
fn read(paths: &[PathBuf], findings: &mut Vec<Fault>) -> Vec<(PathBuf, crate::yaml::Document)> {
    if paths.is_empty() {
        return Vec::new();
    }
    let reading = documents::read(paths);
    findings.extend(reading.problems.iter().map(Fault::from));
    let files = reading.files.into_iter();
    files.flat_map(|file| file.documents.into_iter().map(move |it| (file.path.clone(), it))).collect()
}
