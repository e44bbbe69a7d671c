//! `reviser check`: all findings about policies, alone and with objects, clusters and definitions.

mod clusters;
mod idle;
mod repeat;
mod samples;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::policies::PolicyDocuments;
use super::trial::{KnownClusters, TrialObject, TrialObjects, without_template};
use crate::documents::{self, Diagnostic};
use crate::domain::{ClusterName, Schedule};
use crate::engine::PolicySet;
use crate::json::Value;
use crate::policy::{self, PolicyFinding};
use crate::yaml::Document;

use clusters::TrialClusters;
use samples::{CheckReport, Trials};

/// Paths are files and directories.
#[derive(Debug)]
pub struct CheckInput<'i> {
    pub policies: &'i [PathBuf],
    /// Objects to try the policies on.
    pub objects: &'i [PathBuf],
    /// The file with the templates of the objects.
    pub original: Option<&'i Path>,
    /// The clusters to try; empty for those that files and policies name.
    pub schedule: Schedule,
    pub known: KnownClusters,
    /// CustomResourceDefinitions.
    pub definitions: &'i [PathBuf],
}

#[derive(Debug)]
pub struct Checked {
    /// One line each, by file and line.
    pub findings: Vec<String>,
    /// How many findings make `serve` refuse the policies.
    pub refused: usize,
    /// The number of policy documents.
    pub documents: usize,
    /// What could not be checked, and why.
    pub notes: Vec<String>,
}

pub fn check(input: &CheckInput<'_>) -> Checked {
    let documents = PolicyDocuments::of(input.policies);
    let refused = documents.faults.len();
    let mut report = CheckReport {
        findings: [documents.faults.as_slice(), &documents.warnings].concat(),
        notes: Vec::new(),
    };
    match &documents.policies {
        Some(set) => {
            let listed = input.schedule.clusters().iter().map(|entry| entry.name.clone());
            let known: BTreeSet<ClusterName> = input.known.names().into_iter().chain(listed).collect();
            report.findings.extend(documents.unknown_clusters(set, &known));
            let (definitions, faults) = read(input.definitions);
            report.findings.extend(faults);
            if !input.objects.is_empty() {
                try_objects(input, set, &documents, &definitions, &mut report);
            }
            if definitions.is_empty() && !input.definitions.is_empty() {
                report.notes.push("the files of --crd hold no CustomResourceDefinition".to_owned());
            }
            check_definitions(&definitions, set, &documents, &mut report);
        }
        None if input.objects.is_empty() && input.definitions.is_empty() => {}
        None => report.notes.push(
            "the policies are not tried on objects and definitions until they are corrected".to_owned(),
        ),
    }
    Checked {
        findings: Diagnostic::texts(report.findings),
        refused,
        documents: documents.sources.len(),
        notes: report.notes,
    }
}

fn try_objects(
    input: &CheckInput<'_>,
    set: &PolicySet,
    documents: &PolicyDocuments,
    definitions: &[(PathBuf, Document)],
    report: &mut CheckReport,
) {
    let TrialObjects { objects, faults, notes } = TrialObjects::read(input.objects, input.original);
    report.findings.extend(faults);
    report.notes.extend(notes);
    let runtime = match tokio::runtime::Builder::new_current_thread().build() {
        Ok(runtime) => runtime,
        Err(error) => return report.findings.push(Diagnostic::of(Path::new("reviser"), &error.to_string())),
    };
    let clusters = TrialClusters::new(&input.schedule, &input.known, set);
    let definitions = definitions.iter().flat_map(|(_, document)| objects_in(&document.value)).collect();
    let trials = Trials::new(set, documents, &input.known, &clusters, definitions);
    let (mut unselected, mut reads_original): (Vec<&TrialObject>, Vec<&TrialObject>) = Default::default();
    for object in &objects {
        match runtime.block_on(trials.run(object, report)) {
            Ok(tried) => {
                unselected.extend((!tried.is_selected).then_some(object));
                reads_original.extend(tried.reads_original.then_some(object));
            }
            Err(error) => report.findings.push(object.fault(&error.to_string())),
        }
    }
    report.notes.extend(without_template(reads_original, input.original));
    match unselected.as_slice() {
        [] => {}
        [object] if objects.len() == 1 => {
            report.findings.push(object.fault("no policy selects this object"));
        }
        [first, ..] if unselected.len() == objects.len() => {
            report
                .findings
                .push(first.fault(&format!("no policy selects any of the {} objects", objects.len())));
        }
        some => {
            report.notes.push(format!("no policy selects {} of the {} objects", some.len(), objects.len()));
        }
    }
}

fn check_definitions(
    definitions: &[(PathBuf, Document)],
    set: &PolicySet,
    documents: &PolicyDocuments,
    report: &mut CheckReport,
) {
    for (path, document) in definitions {
        for object in objects_in(&document.value) {
            let (findings, notes) = policy::definition(object, set);
            report.findings.extend(findings.into_iter().map(|it| {
                let problem = format!("{}: {}", path.display(), it.problem);
                documents.finding(&PolicyFinding { problem, ..it })
            }));
            report.notes.extend(notes.map(|note| format!("{}: {note}", path.display())));
        }
    }
}

/// The items of a list, such as `kubectl get -o yaml` prints, else the object itself.
fn objects_in<'v>(document: &'v Value<'static>) -> Vec<&'v Value<'static>> {
    let is_list = document.get("kind").and_then(Value::as_str).is_some_and(|kind| kind.ends_with("List"));
    match document.get("items").and_then(Value::as_array) {
        Some(items) if is_list => items.iter().collect(),
        _ => vec![document],
    }
}

/// The documents in these files, and the faults in them.
fn read(paths: &[PathBuf]) -> (Vec<(PathBuf, Document)>, Vec<Diagnostic>) {
    if paths.is_empty() {
        return Default::default();
    }
    let read = documents::read(paths);
    let faults = read.errors.iter().map(Diagnostic::from).collect();
    let files = read.files.into_iter();
    let documents = files.flat_map(|file| file.documents.into_iter().map(move |it| (file.path.clone(), it)));
    (documents.collect(), faults)
}
