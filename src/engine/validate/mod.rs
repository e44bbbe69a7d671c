//! The rules of Kubernetes that go beyond types: what an API server refuses in objects of its own kinds.
//!
//! They are those of the packages `pkg/apis/*/validation` of Kubernetes v1.35.4, and of its defaults, for the
//! kinds that are delivered to many clusters. What a rule holds where a field is missing follows from the
//! default of the field. A value of another type than the field has is skipped: `schema` checks types.
//!
//! Left out: names of objects, changes of fields that cannot be changed later, admission plugins, what
//! depends on a feature gate that is off by default, and fields of volume plugins that Kubernetes no longer
//! has.
//!
//! What is accepted in a template and refused in each object that is made of it is a violation too: an image
//! with space around it in a pod template, labels in the template of a job or of a claim.

mod access;
mod autoscaling;
mod config;
mod container;
mod environment;
mod field;
mod ingress;
mod jobs;
mod metadata;
mod network_policy;
mod pod;
mod probes;
mod quota;
mod resources;
mod schedule;
mod scheduling;
mod security;
mod service;
mod storage;
mod syntax;
mod volumes;
mod workloads;

#[cfg(test)]
mod tests;

use self::field::{Field, Report};
use super::{Draft, pattern};
use crate::domain::{ADMIRALTY_GROUP, Failure, GroupVersionKind, POD_CHAPERON};
use crate::json::{Pointer, Value};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    pub place: Pointer,
    /// `<problem>; <advice>`
    pub problem: String,
}

type Check = fn(&Field<'_>, &mut Report);

/// By API group, versions and kind. Of other kinds only labels and annotations are checked.
const CHECKS: [(&str, &[&str], &str, Check); 23] = [
    ("", &["v1"], "ConfigMap", config::config_map),
    ("", &["v1"], "LimitRange", quota::limit_range),
    ("", &["v1"], "PersistentVolumeClaim", storage::claim),
    ("", &["v1"], "Pod", pod::pod),
    ("", &["v1"], "PodTemplate", workloads::pod_template),
    ("", &["v1"], "ReplicationController", workloads::replication_controller),
    ("", &["v1"], "ResourceQuota", quota::resource_quota),
    ("", &["v1"], "Secret", config::secret),
    ("", &["v1"], "Service", service::service),
    ("apps", &["v1"], "DaemonSet", workloads::daemon_set),
    ("apps", &["v1"], "Deployment", workloads::deployment),
    ("apps", &["v1"], "ReplicaSet", workloads::replica_set),
    ("apps", &["v1"], "StatefulSet", workloads::stateful_set),
    ("autoscaling", &["v1", "v2"], "HorizontalPodAutoscaler", autoscaling::autoscaler),
    ("batch", &["v1"], "CronJob", jobs::cron_job),
    ("batch", &["v1"], "Job", jobs::job),
    ("networking.k8s.io", &["v1"], "Ingress", ingress::ingress),
    ("networking.k8s.io", &["v1"], "NetworkPolicy", network_policy::network_policy),
    ("policy", &["v1"], "PodDisruptionBudget", autoscaling::disruption_budget),
    ("rbac.authorization.k8s.io", &["v1"], "ClusterRole", access::cluster_role),
    ("rbac.authorization.k8s.io", &["v1"], "Role", access::role),
    ("rbac.authorization.k8s.io", &["v1"], "RoleBinding", access::role_binding),
    // Its spec is that of a pod, and the pod is made of it.
    (ADMIRALTY_GROUP, &["v1alpha1"], POD_CHAPERON, pod::pod),
];

/// What an API server would refuse in an object of this kind, in the order of its checks.
pub fn violations(gvk: &GroupVersionKind, object: &Value<'_>) -> Vec<Violation> {
    let root = Field::root(object);
    let mut report = Report::default();
    metadata::metadata(&root.get("metadata"), &mut report);
    if let Some(check) = check_of(gvk) {
        check(&root, &mut report);
    }
    report.found
}

fn check_of(gvk: &GroupVersionKind) -> Option<Check> {
    let is_it = |(group, versions, kind, _): &&(&str, &[&str], &str, Check)| {
        *group == gvk.group && *kind == gvk.kind && versions.contains(&gvk.version.as_str())
    };
    CHECKS.iter().find(is_it).map(|(.., check)| *check)
}

/// The violations that the changes of the draft introduce.
pub(super) fn introduced(object: &Draft<'_>, gvk: &GroupVersionKind) -> Vec<Violation> {
    if object.is_unchanged() {
        return Vec::new();
    }
    let after = violations(gvk, object.value());
    if after.is_empty() { after } else { added(&violations(gvk, object.original()), after) }
}

/// The violations of `after` that are new.
pub fn added(before: &[Violation], after: Vec<Violation>) -> Vec<Violation> {
    let is_new = {
        let before: Vec<_> = before.iter().map(Violation::key).collect();
        let after: Vec<_> = after.iter().map(Violation::key).collect();
        pattern::new_problems(&before, &after)
    };
    after.into_iter().zip(is_new).filter_map(|(violation, is_new)| is_new.then_some(violation)).collect()
}

impl Violation {
    /// The refusal of a revision for it.
    pub(super) fn failure(&self) -> Failure {
        Failure::unprocessable(format!("{}: no API server takes this: {}", self.place, self.problem))
    }

    /// Whether both are the same except for indexes of lists.
    pub(super) fn is_like(&self, other: &Self) -> bool {
        self.problem == other.problem && pattern::of(&self.place) == pattern::of(&other.place)
    }

    fn key(&self) -> (&Pointer, &str) {
        (&self.place, &self.problem)
    }
}
