//! Tries policies on the objects of `--filename`.

use std::collections::{BTreeMap, BTreeSet};

use super::clusters::TrialClusters;
use super::idle;
use super::repeat::Repeated;
use crate::app::policies::PolicyDocuments;
use crate::app::trial::{KnownClusters, ParsedObject, TrialObject};
use crate::documents::Diagnostic;
use crate::domain::{ClusterName, Code, Failure, Schedule, Target, TargetCluster};
use crate::engine::{IdleTransformation, ObjectSource, PolicySet, Revision, Rule, StepOutcome, TraceStep};
use crate::json::{ParseError, Pointer, Value};
use crate::policy;
use crate::service::Service;
use crate::state::memory::MemoryLedger;

/// What is the same for all objects.
pub(super) struct Trials<'t> {
    pub(super) set: &'t PolicySet,
    pub(super) documents: &'t PolicyDocuments,
    clusters: &'t TrialClusters,
    service: Service,
    /// The set without its policies.
    rest: PolicySet,
    /// CustomResourceDefinitions that results are checked against.
    definitions: Vec<&'t Value<'static>>,
}

#[derive(Debug, Default)]
pub(super) struct CheckReport {
    pub(super) findings: Vec<Diagnostic>,
    pub(super) notes: Vec<String>,
}

#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct RuleFinding {
    policy: usize,
    /// `None` if no rule is named.
    rule: Option<usize>,
    /// A verb: "fails" or "warns".
    does: &'static str,
    problem: String,
}

/// The results of one object in all clusters.
#[derive(Default)]
struct ObjectFindings {
    found: BTreeMap<RuleFinding, Vec<ClusterName>>,
    /// What depends on the name of a made-up cluster, and is not about real clusters.
    of_made_up_names: BTreeMap<(usize, Option<usize>, &'static str), String>,
    /// By policy, why some of its rules can't be tried.
    unknown: BTreeMap<usize, Failure>,
    /// Problems of the object without any policy.
    own: BTreeSet<String>,
    /// Why transformations can't be tried.
    own_unknown: Option<Failure>,
    reads_original: bool,
    idle: Vec<IdleTransformation>,
}

pub(super) struct TrialResult {
    pub(super) is_selected: bool,
    /// Whether a rule read `original`.
    pub(super) reads_original: bool,
}

impl<'t> Trials<'t> {
    pub(super) fn new(
        set: &'t PolicySet,
        documents: &'t PolicyDocuments,
        known: &KnownClusters,
        clusters: &'t TrialClusters,
        definitions: Vec<&'t Value<'static>>,
    ) -> Self {
        let rest = PolicySet { policies: Vec::new(), ..set.clone() };
        let service = known.service(rest.clone(), MemoryLedger::default());
        Self { set, documents, clusters, service, rest, definitions }
    }

    /// Tries the policies on an object for each cluster.
    pub(super) async fn run(
        &self,
        object: &TrialObject,
        report: &mut CheckReport,
    ) -> Result<TrialResult, ParseError> {
        let parsed = object.parse()?;
        let selected = match self.set.selection(&object.workload, &parsed.object.root().into()) {
            Ok(selection) if selection.is_empty() => {
                let warned = selection.warnings.iter();
                report.notes.extend(warned.map(|warning| format!("warning: {}: {warning}", object.label())));
                return Ok(TrialResult { is_selected: false, reads_original: false });
            }
            Ok(selection) => selection.policies,
            Err(failure) => {
                report.findings.push(object.fault(&failure.message()));
                return Ok(TrialResult { is_selected: true, reads_original: false });
            }
        };
        let policies = self.set.policies.iter().enumerate();
        let is_selected = |policy| selected.iter().any(|selected| std::ptr::eq(*selected, policy));
        let selected: Vec<usize> =
            policies.filter(|(_, policy)| is_selected(*policy)).map(|(position, _)| position).collect();
        let unknown = self.service.unknown_targets(&object.workload, &parsed.object.root().into()).await;
        // If this fails, the revision for each cluster fails alike and reports it.
        let unknown = unknown.unwrap_or_default();
        report.findings.extend(unknown.iter().map(|it| object.fault(it)));
        let (mut outcome, mut repeated) = (ObjectFindings::default(), Repeated::default());
        for entry in self.clusters.schedule.clusters() {
            let trial = Trial { trials: self, object, parsed: &parsed, cluster: &entry.name };
            trial.run(&selected, &mut outcome, &mut repeated).await;
        }
        let reads_original = outcome.reads_original;
        outcome.report(self, object, report);
        repeated.report(self, object, report);
        Ok(TrialResult { is_selected: true, reads_original })
    }

    /// The policy (one of `positions`) and the rule that a step of a trace names.
    pub(super) fn rule_named(&self, positions: &[usize], step: &str) -> Option<(usize, usize)> {
        positions.iter().find_map(|&position| {
            let policy = &self.set.policies[position];
            let is_named = |rule: &Rule| step == format!("{}/{}", policy.owner, rule.name);
            Some((position, policy.rules.iter().position(is_named)?))
        })
    }

    /// The set with only the policies at these positions.
    fn policies(&self, positions: &[usize]) -> PolicySet {
        let policies = positions.iter().map(|position| self.set.policies[*position].clone()).collect();
        PolicySet { policies, ..self.rest.clone() }
    }
}

impl ObjectFindings {
    fn report(self, trials: &Trials<'_>, object: &TrialObject, report: &mut CheckReport) {
        let label = object.label();
        report.findings.extend(self.own.iter().map(|problem| object.fault(problem)));
        if let Some(unknown) = self.own_unknown {
            report.notes.push(format!("{label}: not all transformations can be tried: {unknown}"));
        }
        let idle = idle::warnings(&self.idle, &trials.clusters.schedule);
        report.notes.extend(idle.iter().map(|it| format!("warning: {label}: {it}")));
        for (position, failure) in self.unknown {
            let owner = &trials.set.policies[position].owner;
            report.notes.push(format!("{label}: not all of {owner} can be tried: {failure}"));
        }
        let place = |rule: Option<usize>| rule.map_or_else(|| Pointer::of(["spec"]), rule_place);
        for ((policy, rule, does), problem) in self.of_made_up_names {
            // Reported already for a real cluster.
            if self.found.keys().any(|found| (found.policy, found.rule, found.does) == (policy, rule, does)) {
                continue;
            }
            let text = format!("{does} on {label} in a cluster that no policy names: {problem}");
            report.notes.push(trials.documents.fault(policy, &place(rule), &text).to_string());
        }
        for (RuleFinding { policy, rule, does, problem }, clusters) in self.found {
            let text = format!("{does} on {label} in {}: {problem}", listed(&clusters));
            report.findings.push(trials.documents.fault(policy, &place(rule), &text));
        }
    }
}

pub(super) fn rule_place(rule: usize) -> Pointer {
    Pointer::of(["spec", "rules"]).join(rule.to_string())
}

pub(super) fn listed(clusters: &[ClusterName]) -> String {
    clusters.iter().map(ClusterName::as_str).collect::<Vec<_>>().join(", ")
}

/// Whether one of the places contains the other. The items of a list count as one place, because a diff of
/// lists can't identify which of several equal items is new.
pub(super) fn overlap(a: &Pointer, b: &Pointer) -> bool {
    let list = |pointer: &Pointer| {
        let is_item = |token: &String| !token.is_empty() && token.bytes().all(|byte| byte.is_ascii_digit());
        if pointer.tokens().last().is_some_and(is_item) { pointer.parent() } else { pointer.clone() }
    };
    let (a, b) = (list(a), list(b));
    a.contains(&b) || b.contains(&a)
}

/// One object in one cluster.
pub(super) struct Trial<'r, 't, 'p> {
    pub(super) trials: &'r Trials<'t>,
    pub(super) object: &'r TrialObject,
    parsed: &'p ParsedObject<'p>,
    pub(super) cluster: &'r ClusterName,
}

impl<'p> Trial<'_, '_, 'p> {
    async fn run(&self, selected: &[usize], outcome: &mut ObjectFindings, repeated: &mut Repeated) {
        // Problems of the object itself, and of the transformations that it names, occur without any policy.
        match self.revise(&[]).await {
            Ok(revised) => {
                outcome.own.extend(revised.warnings.iter().map(|warning| self.without_cluster(warning)));
            }
            Err(failure) if self.is_unknown(&failure, &[]).await => {
                outcome.own_unknown.get_or_insert(failure);
                return;
            }
            Err(failure) => {
                outcome.own.insert(format!("fails: {failure}"));
                return;
            }
        }
        let mut tried = selected.to_vec();
        let Some(revised) = self.revise_without_failing(&mut tried, outcome).await else { return };
        outcome.reads_original |= revised.reads_original;
        for warning in &revised.warnings {
            let own = self.without_cluster(warning);
            if outcome.own.contains(&own) {
                continue;
            }
            match self.warning_rule(&tried, &revised, warning) {
                Some((policy, rule, problem)) => {
                    self.keep(RuleFinding { policy, rule: Some(rule), does: "warns", problem }, outcome)
                        .await;
                }
                None => {
                    outcome.own.insert(own);
                }
            }
        }
        let (kind, result) = (&self.object.workload.gvk, revised.object.value());
        let definitions = self.trials.definitions.iter();
        outcome.own.extend(definitions.flat_map(|it| policy::misfits_of_object(it, kind, result)));
        outcome.idle.extend(revised.idle.iter().cloned());
        repeated.run(self, &tried, &revised).await;
    }

    /// Revises the object by the policies at `positions`.
    async fn revise(&self, positions: &[usize]) -> Result<Revision<'p>, Failure> {
        let target = self.parsed.target(self.cluster, &self.trials.clusters.schedule);
        self.revise_for(positions, &self.parsed.object.root().into(), &target).await
    }

    /// Revises the result of a revision as if it were the object.
    pub(super) async fn revise_again<'a>(
        &self,
        positions: &[usize],
        result: &ObjectSource<'a>,
    ) -> Result<Revision<'a>, Failure>
    where
        'p: 'a,
    {
        let target = self.parsed.target(self.cluster, &self.trials.clusters.schedule);
        self.revise_for(positions, result, &target).await
    }

    async fn revise_for<'a>(
        &self,
        positions: &[usize],
        object: &ObjectSource<'a>,
        target: &Target<'a>,
    ) -> Result<Revision<'a>, Failure> {
        let service = &self.trials.service;
        service.replace_policies(self.trials.policies(positions));
        service.explain(&self.object.workload, object, target).await
    }

    /// Revises the object by the policies in `tried`. A policy that fails is recorded and removed, until the
    /// others pass.
    async fn revise_without_failing(
        &self,
        tried: &mut Vec<usize>,
        outcome: &mut ObjectFindings,
    ) -> Option<Revision<'p>> {
        loop {
            let failure = match self.revise(tried).await {
                Ok(revised) => return Some(revised),
                Err(failure) => failure,
            };
            let (policy, rule, problem) = self.failing_rule(tried, &failure).await?;
            outcome.reads_original |= self.trials.set.policies[policy].needs_original;
            if self.is_unknown(&failure, &[policy]).await || self.depends_on_schedule(policy, rule).await {
                outcome.unknown.entry(policy).or_insert(failure);
            } else {
                self.keep(RuleFinding { policy, rule, does: "fails", problem }, outcome).await;
            }
            tried.retain(|position| *position != policy);
        }
    }

    /// The rule that a warning is about, and the rest of the warning. A warning about the whole result
    /// belongs to the last rule that changed the place.
    fn warning_rule(
        &self,
        tried: &[usize],
        revised: &Revision<'_>,
        warning: &str,
    ) -> Option<(usize, usize, String)> {
        let named = tried.iter().find_map(|&policy| Some((policy, self.rule_of(policy, warning)?)));
        if let Some((policy, (rule, problem))) = named {
            return Some((policy, rule, problem));
        }
        let problem = self.without_cluster(warning);
        let place = Pointer::parse(problem.split(": ").next()?).ok()?;
        let is_writer = |step: &&TraceStep<'_>| match &step.outcome {
            StepOutcome::Changed(changes) => changes.iter().any(|change| overlap(&change.place, &place)),
            _ => false,
        };
        let step = revised.trace.as_ref()?.steps.iter().rev().find(is_writer)?;
        let (policy, rule) = self.trials.rule_named(tried, &step.rule)?;
        Some((policy, rule, problem))
    }

    fn without_cluster(&self, message: &str) -> String {
        let cluster = format!("cluster {:?}: ", self.cluster.as_str());
        match message.strip_prefix(&cluster) {
            Some(rest) => rest.to_owned(),
            None => message.replacen(&format!(" {cluster}"), ": ", 1),
        }
    }

    async fn keep(&self, found: RuleFinding, outcome: &mut ObjectFindings) {
        if self.comes_of_made_up_name(&found).await {
            let RuleFinding { policy, rule, does, problem } = found;
            // The problem differs between clusters only by their name.
            outcome.of_made_up_names.entry((policy, rule, does)).or_insert(problem);
        } else {
            outcome.found.entry(found).or_default().push(self.cluster.clone());
        }
    }

    /// Whether a finding depends on the name of a made-up cluster: the rule looks the name up and misses it,
    /// or the finding disappears when the cluster is renamed to a real one.
    async fn comes_of_made_up_name(&self, found: &RuleFinding) -> bool {
        let (clusters, Some(rule)) = (self.trials.clusters, found.rule) else { return false };
        let policy = &self.trials.set.policies[found.policy];
        let rule = &policy.rules[rule];
        if !clusters.is_made_up(self.cluster) || !policy::reads_cluster_name(policy, rule) {
            return false;
        }
        if policy::misses_cluster_name(policy, rule, &found.problem) {
            return true;
        }
        for (name, schedule) in clusters.in_place_of(self.cluster) {
            if !rule.target.needs_cluster() && !rule.target.includes(&name, None).unwrap_or(false) {
                continue;
            }
            let target = self.parsed.target(&name, &schedule);
            let revised = self.revise_for(&[found.policy], &self.parsed.object.root().into(), &target).await;
            if revised.is_ok_and(|revised| revised.warnings.is_empty()) {
                return true;
            }
        }
        false
    }

    /// The policy and rule that fail, and the problem. A failure that names no rule belongs to the first
    /// policy with which the revision fails.
    async fn failing_rule(
        &self,
        tried: &[usize],
        failure: &Failure,
    ) -> Option<(usize, Option<usize>, String)> {
        let message = failure.message();
        for &position in tried {
            if let Some((rule, problem)) = self.rule_of(position, &message) {
                return Some((position, Some(rule), problem));
            }
        }
        for count in 1..=tried.len() {
            if let Err(failure) = self.revise(&tried[..count]).await {
                return Some((tried[count - 1], None, failure.message()));
            }
        }
        None
    }

    /// The rule of the policy at `position` that a message is about, and the rest of the message.
    pub(super) fn rule_of(&self, position: usize, message: &str) -> Option<(usize, String)> {
        let policy = &self.trials.set.policies[position];
        policy.rules.iter().enumerate().find_map(|(rule, it)| {
            let context =
                format!("{} rule {:?} cluster {:?}: ", policy.owner, it.name, self.cluster.as_str());
            Some((rule, message.strip_prefix(&context)?.to_owned()))
        })
    }

    /// Whether a failure is due to state that a server would have and that no flag gives. The door for
    /// `PodChaperon`s has no schedule and no template, so that their absence is a failure there.
    async fn is_unknown(&self, failure: &Failure, policies: &[usize]) -> bool {
        if failure.code() != Code::Unavailable || self.trials.clusters.are_described {
            return false;
        }
        let target = self.parsed.whole_target(self.cluster, &self.trials.clusters.schedule);
        !self.object.is_chaperon()
            || self.revise_for(policies, &self.parsed.object.root().into(), &target).await.is_err()
    }

    /// Whether a `divide` rule fails only because of the number of made-up clusters.
    async fn depends_on_schedule(&self, policy: usize, rule: Option<usize>) -> bool {
        let rules = &self.trials.set.policies[policy].rules;
        let divides = rule.is_some_and(|rule| rules[rule].action.reads_template());
        if self.trials.clusters.is_given || !divides {
            return false;
        }
        let alone = TargetCluster { name: self.cluster.clone(), replicas: 1 };
        let schedule = Schedule::new(vec![alone]).unwrap_or_default();
        let target = self.parsed.target(self.cluster, &schedule);
        self.revise_for(&[policy], &self.parsed.object.root().into(), &target).await.is_ok()
    }
}
