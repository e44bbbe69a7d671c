//! Policies tried on an object.
//!
//! The clusters are those that the policies and transformations name, wildcards filled in, and two more, so that there is one of everything: one that hosts
//! an allocation and one that does not, one that a rule names and one that none does. The first of the two is the heaviest.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use crate::app::policies::Examined;
use crate::documents::{self, Fault};
use crate::domain::{ClusterName, Code, Failure, Schedule, Target, TargetCluster, Workload};
use crate::engine::{ClusterPattern, Idle, PolicySet};
use crate::json::{Pointer, Raw, Text};
use crate::service::{Revised, Service};
use crate::state::memory::MemoryLedger;

/// The clusters that are made up, with their replicas.
const MADE_UP: [(&str, i64); 2] = [("sample-1", 2), ("sample-2", 1)];

/// Runs the policies on the object in the file at `path`, for each cluster. What they fail with is a finding, unless more would have
/// to be known, which is a note.
pub(super) fn run(path: &Path, set: &PolicySet, examined: &Examined, notes: &mut Vec<String>) -> Vec<Fault> {
    let document = match documents::read_one(path) {
        Ok(document) => document,
        Err(problem) => return vec![Fault::from(&problem)],
    };
    let text = document.value.to_string();
    let (workload, text) = match (Workload::read(&document.value), Text::parse(text.as_bytes())) {
        (Ok(workload), Ok(text)) => (workload, text),
        (Err(problem), _) => return vec![Fault::of(path, &problem)],
        (_, Err(error)) => return vec![Fault::of(path, &error.to_string())],
    };
    match set.selection(&workload, &text.root()) {
        Ok(selection) if selection.is_empty() => {
            let warned = selection.warnings.iter();
            notes.extend(warned.map(|warning| format!("warning: {}: {warning}", path.display())));
            return vec![Fault::of(path, "no policy selects this object")];
        }
        Ok(_) => {}
        Err(failure) => return vec![Fault::of(path, &failure.message())],
    }
    let trial = Trial { path, set, examined, workload: &workload, object: text.root() };
    match tokio::runtime::Builder::new_current_thread().build() {
        Ok(runtime) => runtime.block_on(trial.run(notes)),
        Err(error) => vec![Fault::of(path, &error.to_string())],
    }
}

struct Trial<'t> {
    path: &'t Path,
    set: &'t PolicySet,
    examined: &'t Examined,
    workload: &'t Workload,
    object: Raw<'t>,
}

impl Trial<'_> {
    /// Policies that fail are left out when those after them are tried, so that all are.
    async fn run(&self, notes: &mut Vec<String>) -> Vec<Fault> {
        let schedule = schedule(self.set);
        let mut tried = PolicySet { policies: Vec::new(), ..self.set.clone() };
        // What the object chooses itself comes after all policies, and is tried without any.
        let mut findings = self.chosen(&tried, &schedule, notes).await;
        for (position, policy) in self.set.policies.iter().enumerate() {
            tried.policies.push(policy.clone());
            // By what is wrong, the clusters for which it is.
            let mut failures: BTreeMap<(String, String), Vec<ClusterName>> = BTreeMap::new();
            let mut unknown = None;
            for (cluster, failure) in self.failures(&tried, &schedule).await {
                let Some(key) = self.place(position, &cluster, &failure) else { continue };
                if failure.code() == Code::Unavailable {
                    unknown.get_or_insert(failure);
                } else {
                    failures.entry(key).or_default().push(cluster);
                }
            }
            notes.extend(unknown.as_ref().map(|unknown| {
                format!("{}: not all of {} can be tried: {unknown}", self.path.display(), policy.owner)
            }));
            if failures.is_empty() && unknown.is_none() {
                continue;
            }
            tried.policies.pop();
            for ((field, problem), clusters) in failures {
                let field = Pointer::parse(&field).unwrap_or(Pointer::ROOT);
                let clusters: Vec<&str> = clusters.iter().map(ClusterName::as_str).collect();
                let problem =
                    format!("fails on {} in {}: {problem}", self.path.display(), clusters.join(", "));
                findings.push(self.examined.fault(position, &field, &problem));
            }
        }
        findings
    }

    async fn chosen(&self, set: &PolicySet, schedule: &Schedule, notes: &mut Vec<String>) -> Vec<Fault> {
        let service = Service::new(set.clone(), Arc::new(MemoryLedger::default()));
        let (mut failures, mut idle, mut warnings) = (Vec::new(), Vec::new(), Vec::new());
        for entry in schedule.clusters() {
            match self.revised(&service, schedule, entry).await {
                Ok(revised) => {
                    idle.extend(revised.idle);
                    warnings.extend(revised.warnings);
                }
                Err(failure) => failures.push(failure),
            }
        }
        let (unknown, failures): (Vec<_>, Vec<_>) =
            failures.into_iter().partition(|failure| failure.code() == Code::Unavailable);
        let path = self.path.display();
        notes.extend(
            unknown.first().map(|unknown| format!("{path}: not all transformations can be tried: {unknown}")),
        );
        notes.extend(warnings.iter().map(|warning| format!("warning: {path}: {warning}")));
        notes.extend(telling(&idle, schedule).map(|idle| format!("warning: {path}: {idle}")));
        failures.iter().map(|failure| Fault::of(self.path, &format!("fails: {failure}"))).collect()
    }

    /// The object for one cluster of `schedule`.
    async fn revised(
        &self,
        service: &Service,
        schedule: &Schedule,
        entry: &TargetCluster,
    ) -> Result<Revised<'_>, Failure> {
        // The door of PodChaperons knows neither.
        let is_known = !self.workload.is_chaperon();
        let target = Target {
            cluster: entry.name.clone(),
            replicas: is_known.then_some(entry.replicas),
            schedule: is_known.then(|| schedule.clone()),
            original: None,
        };
        service.explain(self.workload, self.object, &target).await
    }

    /// Why there is no revision, for the clusters for which there is none.
    async fn failures(&self, set: &PolicySet, schedule: &Schedule) -> Vec<(ClusterName, Failure)> {
        let service = Service::new(set.clone(), Arc::new(MemoryLedger::default()));
        let mut failures = Vec::new();
        for entry in schedule.clusters() {
            let revised = self.revised(&service, schedule, entry).await;
            failures.extend(revised.err().map(|failure| (entry.name.clone(), failure)));
        }
        failures
    }

    /// Which rule of the policy fails, and with what. A failure says by which rule it is; one that is of none is the policy's, but for
    /// those of a transformation.
    fn place(&self, position: usize, cluster: &ClusterName, failure: &Failure) -> Option<(String, String)> {
        let policy = &self.set.policies[position];
        let message = failure.message();
        for (rule_position, rule) in policy.rules.iter().enumerate() {
            let context = format!("{} rule {:?} cluster {:?}: ", policy.owner, rule.name, cluster.as_str());
            if let Some(problem) = message.strip_prefix(&context) {
                let field = Pointer::of(["spec", "rules"]).join(rule_position.to_string());
                return Some((field.to_string(), problem.to_owned()));
            }
        }
        let is_transformation = ["TargetPodTransformation/", "ClusterTargetPodTransformation/"]
            .iter()
            .any(|kind| message.starts_with(kind));
        (!is_transformation).then(|| ("/spec".to_owned(), message))
    }
}

/// Of the transformations that change nothing, those of which somebody should know: an entry is for the cluster, or none of the clusters
/// is changed by it. The latter are told of one cluster.
fn telling<'i>(idle: &'i [Idle], schedule: &'i Schedule) -> impl Iterator<Item = &'i Idle> {
    let everywhere = |one: &Idle| {
        let same = |other: &&Idle| other.transformation == one.transformation;
        idle.iter().filter(same).count() >= schedule.clusters().len()
    };
    let is_first = |position: usize| {
        !idle[..position].iter().any(|earlier| earlier.transformation == idle[position].transformation)
    };
    let tells =
        move |(position, one): &(usize, &Idle)| one.has_entry || is_first(*position) && everywhere(one);
    idle.iter().enumerate().filter(tells).map(|(_, one)| one)
}

/// A schedule over all clusters that the policies and transformations name, and two more.
fn schedule(set: &PolicySet) -> Schedule {
    let rules = set.policies.iter().flat_map(|policy| &policy.rules);
    let patterns = rules.flat_map(|rule| rule.target.names.iter().chain(&rule.target.exclude));
    let transformations = set.transformations.iter();
    let references = transformations.flat_map(|one| one.references().map(|(_, _, name)| name.clone()));
    let named: BTreeSet<ClusterName> = patterns.filter_map(filled).chain(references).collect();
    let made_up = MADE_UP.iter().filter_map(|(name, replicas)| Some((ClusterName::new(*name)?, *replicas)));
    let clusters: BTreeMap<ClusterName, i64> =
        named.into_iter().map(|name| (name, 1)).chain(made_up).collect();
    let clusters = clusters.into_iter().map(|(name, replicas)| TargetCluster { name, replicas });
    // No name is there twice in a map.
    Schedule::new(clusters.collect()).unwrap_or_default()
}

/// A name that a pattern stands for.
fn filled(pattern: &ClusterPattern) -> Option<ClusterName> {
    ClusterName::new(pattern.0.replace('*', "sample").replace('?', "1"))
}
