//! Everything that can be said about policies before they are in force: `reviser check`.

mod clusters;
mod idle;
mod repeat;
mod samples;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::policies::Examined;
use super::trial::{KnownClusters, TrialObject, TrialObjects, without_template};
use crate::documents::{self, Fault};
use crate::domain::{ClusterName, Schedule};
use crate::engine::PolicySet;
use crate::json::Value;
use crate::policy::{self, PolicyFinding};

use clusters::TrialClusters;
use samples::{Report, Trials};

/// What to check, and with what.
#[derive(Debug)]
pub struct CheckInput<'i> {
    /// Files and directories of policies.
    pub policies: &'i [PathBuf],
    /// Files and directories of objects to try them on.
    pub objects: &'i [PathBuf],
    /// The file with the templates of those objects.
    pub original: Option<&'i Path>,
    /// The clusters to try; none for those that files and policies name.
    pub schedule: Schedule,
    /// What is known about clusters.
    pub known: KnownClusters,
    /// Files of definitions of custom resources.
    pub definitions: &'i [PathBuf],
}

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

/// Checks policies, alone and with objects, clusters and definitions.
pub fn check(input: &CheckInput<'_>) -> Checked {
    let examined = Examined::of(input.policies);
    let (refused, documents) = (examined.faults.len(), examined.sources.len());
    let mut report =
        Report { findings: [examined.faults.as_slice(), &examined.warnings].concat(), notes: Vec::new() };
    match &examined.policies {
        Some(set) => {
            let listed = input.schedule.clusters().iter().map(|entry| entry.name.clone());
            let known: BTreeSet<ClusterName> = input.known.names().into_iter().chain(listed).collect();
            report.findings.extend(examined.unknown_clusters(set, &known));
            let definitions = read(input.definitions, &mut report.findings);
            if !input.objects.is_empty() {
                try_objects(input, set, &examined, &definitions, &mut report);
            }
            if definitions.is_empty() && !input.definitions.is_empty() {
                report.notes.push("there is no definition in the files of --crd".to_owned());
            }
            check_definitions(&definitions, set, &examined, &mut report);
        }
        None if input.objects.is_empty() && input.definitions.is_empty() => {}
        None => report.notes.push("the policies are not tried before they are corrected".to_owned()),
    }
    Checked { findings: Fault::texts(report.findings), refused, documents, notes: report.notes }
}

fn try_objects(
    input: &CheckInput<'_>,
    set: &PolicySet,
    examined: &Examined,
    definitions: &[(PathBuf, crate::yaml::Document)],
    report: &mut Report,
) {
    let TrialObjects { objects, faults, notes } = TrialObjects::read(input.objects, input.original);
    report.findings.extend(faults);
    report.notes.extend(notes);
    let runtime = match tokio::runtime::Builder::new_current_thread().build() {
        Ok(runtime) => runtime,
        Err(error) => return report.findings.push(Fault::of(Path::new("reviser"), &error.to_string())),
    };
    let clusters = TrialClusters::new(&input.schedule, &input.known, set);
    let definitions = definitions.iter().flat_map(|(_, document)| objects_in(&document.value)).collect();
    let trials = Trials::new(set, examined, &input.known, &clusters, definitions);
    let (mut unselected, mut reading): (Vec<&TrialObject>, Vec<&TrialObject>) = (Vec::new(), Vec::new());
    for object in &objects {
        match runtime.block_on(trials.run(object, report)) {
            Ok(tried) => {
                unselected.extend((!tried.is_selected).then_some(object));
                reading.extend(tried.reads_original.then_some(object));
            }
            Err(error) => report.findings.push(object.fault(&error.to_string())),
        }
    }
    report.notes.extend(without_template(reading, input.original));
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
    definitions: &[(PathBuf, crate::yaml::Document)],
    set: &PolicySet,
    examined: &Examined,
    report: &mut Report,
) {
    for (path, document) in definitions {
        for object in objects_in(&document.value) {
            let (found, told) = policy::definition(object, set);
            report.findings.extend(found.into_iter().map(|it| {
                let problem = format!("{}: {}", path.display(), it.problem);
                examined.finding(&PolicyFinding { problem, ..it })
            }));
            report.notes.extend(told.map(|told| format!("{}: {told}", path.display())));
        }
    }
}

/// The items of a list, as `kubectl get -o yaml` prints several objects; else the object itself.
fn objects_in<'v>(document: &'v Value<'static>) -> Vec<&'v Value<'static>> {
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
