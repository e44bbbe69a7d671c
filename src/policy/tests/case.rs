//! Applies one compiled policy to one object for one cluster.

use std::collections::BTreeMap;

use jiff::Timestamp;

use crate::domain::{Cluster, ClusterName, GroupVersionKind, Schedule, Target, TargetCluster, Workload};
use crate::engine::{Deliveries, Facts, PolicySet, Request, Stop, allocations, revise};
use crate::json::{Text, Value};
use crate::policy::compile;
use crate::yaml;

const SELECTORS: &str = "resourceSelectors: [{apiVersion: apps.example.com/v1, kind: Train}]";

/// A policy for `Train`s, and the schedule and cluster of one of them: by default cluster `x` with 3 of 4
/// replicas. The other replica is in `z`.
pub(super) struct Case {
    policies: PolicySet,
    cluster: ClusterName,
    replicas: Option<i64>,
    schedule: Option<Schedule>,
    original: Option<String>,
    known: Option<Cluster>,
}

/// The result of a revision.
#[derive(Debug)]
pub(super) struct Done {
    /// The spec as JSON.
    pub(super) spec: String,
    pub(super) patch: String,
    /// The names of the rules that changed something.
    pub(super) applied: Vec<String>,
    /// The errors of the rules that were skipped.
    pub(super) skipped: Vec<String>,
    /// The warnings of the rules.
    pub(super) warnings: Vec<String>,
    /// The claims for the ledger, as `ALLOCATION=CLUSTER`.
    pub(super) claims: Vec<String>,
}

pub(super) fn document(text: &str) -> Value<'static> {
    let mut documents = yaml::documents(text).unwrap();
    assert_eq!(documents.len(), 1, "{text}");
    documents.pop().unwrap().value
}

/// All errors of a policy with this spec. The selectors are added.
pub(super) fn faults(spec: &str) -> Vec<String> {
    super::findings(&[policy(spec)]).iter().map(|finding| finding.replacen("0 spec.", "", 1)).collect()
}

/// All errors of a policy with only this rule, without the path of the rule.
pub(super) fn rule_faults(rule: &str) -> Vec<String> {
    faults(&rules(rule)).iter().map(|finding| finding.replacen("rules[0].", "", 1)).collect()
}

fn rules(rule: &str) -> String {
    format!("rules:\n- {{name: r, {rule}}}")
}

fn policy(spec: &str) -> Value<'static> {
    let spec = spec.replace('\n', "\n  ");
    document(&format!(
        "apiVersion: reviser.io/v1alpha1\nkind: ClusterRevisionPolicy\nmetadata: {{name: p}}\nspec:\n  {SELECTORS}\n  {spec}"
    ))
}

impl Case {
    /// A policy with this spec. The selectors are added.
    pub(super) fn policy(spec: &str) -> Self {
        Self::documents(&[policy(spec)])
    }

    /// A policy with one rule, `r`.
    pub(super) fn rule(rule: &str) -> Self {
        Self::policy(&rules(rule))
    }

    pub(super) fn documents(documents: &[Value<'static>]) -> Self {
        let policies = compile(documents).unwrap_or_else(|findings| panic!("{findings:#?}"));
        let case = Self {
            policies,
            cluster: name("x"),
            replicas: Some(3),
            schedule: None,
            original: None,
            known: None,
        };
        case.schedule(&[("x", 3), ("z", 1)])
    }

    /// Sets the cluster. Its replicas are those of the schedule.
    pub(super) fn cluster(self, cluster: &str) -> Self {
        let cluster = name(cluster);
        let replicas = self.schedule.as_ref().and_then(|schedule| schedule.replicas_of(&cluster));
        Self { cluster, replicas, ..self }
    }

    pub(super) fn schedule(self, clusters: &[(&str, i64)]) -> Self {
        let clusters =
            clusters.iter().map(|&(cluster, replicas)| TargetCluster { name: name(cluster), replicas });
        Self { schedule: Some(Schedule::new(clusters.collect()).unwrap()), ..self }
    }

    pub(super) fn without_schedule(self) -> Self {
        Self { schedule: None, replicas: None, ..self }
    }

    /// Sets the spec of the template.
    pub(super) fn original(self, spec: &str) -> Self {
        Self { original: Some(train(spec)), ..self }
    }

    /// Sets the properties of the cluster: its labels, provider, region and zones.
    pub(super) fn known(self, labels: &[(&str, &str)], fields: [Option<&str>; 2], zones: &[&str]) -> Self {
        let [provider, region] = fields.map(|field| field.map(str::to_owned));
        let known = Cluster {
            name: self.cluster.clone(),
            labels: labels.iter().map(|&(key, value)| (key.to_owned(), value.to_owned())).collect(),
            provider,
            region,
            zones: zones.iter().map(|&zone| zone.to_owned()).collect(),
        };
        Self { known: Some(known), ..self }
    }

    /// Revises a `Train` with this spec, in YAML.
    pub(super) fn revised(&self, spec: &str) -> Result<Done, String> {
        self.revised_whole(&train(spec))
    }

    #[track_caller]
    pub(super) fn spec(&self, spec: &str) -> String {
        self.revised(spec).unwrap().spec
    }

    /// The error of the revision, without the rule and the cluster at its start.
    #[track_caller]
    pub(super) fn refused(&self, spec: &str) -> String {
        let refusal = self.revised(spec).unwrap_err();
        match refusal.split_once("cluster \"") {
            Some((_, rest)) => rest.split_once("\": ").unwrap().1.to_owned(),
            None => refusal,
        }
    }

    /// Revises an object, in JSON.
    #[expect(clippy::unwrap_in_result, reason = "what is an error of the test is none of the result")]
    pub(super) fn revised_whole(&self, object: &str) -> Result<Done, String> {
        let text = Text::parse(object.as_bytes()).unwrap();
        let value = text.root().to_value().unwrap();
        let text_at = |names: &[&str]| {
            let value = names.iter().try_fold(&value, |value, name| value.get(name));
            value.and_then(Value::as_str).unwrap_or_default().to_owned()
        };
        let workload = Workload {
            gvk: GroupVersionKind::of(&text_at(&["apiVersion"]), &text_at(&["kind"])),
            namespace: text_at(&["metadata", "namespace"]),
            name: text_at(&["metadata", "name"]),
        };
        let original = self.original.as_ref().map(|original| Text::parse(original.as_bytes()).unwrap());
        let target = Target {
            cluster: self.cluster.clone(),
            replicas: self.replicas,
            schedule: self.schedule.clone(),
            original: original.as_ref().map(|original| original.root()),
        };
        let object = text.root().into();
        let selection = self.policies.selection(&workload, &object).unwrap();
        let entries: BTreeMap<_, _> =
            allocations(&selection.policies).map(|name| (name.to_owned(), None)).collect();
        let facts = Facts {
            entries: &entries,
            allocations: &self.policies.allocations,
            cluster: self.known.as_ref(),
            cluster_kind: None,
            pod_templates: &self.policies.pod_templates(&workload.gvk).unwrap(),
            deliveries: Deliveries::Unreadable,
            preserves: false,
            now: Timestamp::UNIX_EPOCH,
        };
        let request = Request { workload: &workload, object: &object, target: &target, is_unbound: false };
        let revision = revise(request, &selection, facts).map_err(|stop| match stop {
            Stop::Refused(failure) => format!("{} {}", failure.code().status(), failure.message()),
            Stop::Unread => "unread".to_owned(),
        })?;
        let revised = revision.object.value();
        Ok(Done {
            spec: revised.get("spec").map(ToString::to_string).unwrap_or_default(),
            patch: revision.object.patch().to_text(),
            applied: revision
                .applied
                .iter()
                .filter_map(|name| name.rsplit('/').next())
                .map(str::to_owned)
                .collect(),
            skipped: revision.skipped.iter().map(|skipped| skipped.failure.message()).collect(),
            warnings: revision.warnings,
            claims: revision
                .claims
                .iter()
                .map(|claim| format!("{}={}", claim.allocation, claim.cluster))
                .collect(),
        })
    }
}

pub(super) fn train(spec: &str) -> String {
    let object = format!(
        "{{apiVersion: apps.example.com/v1, kind: Train, metadata: {{name: t, namespace: shop}}, spec: {spec}}}"
    );
    document(&object).to_string()
}

fn name(text: &str) -> ClusterName {
    ClusterName::new(text).unwrap()
}
