//! The rules of Kubernetes that go beyond types: what an API server refuses in objects of its own kinds.
//!
//! They are those of the packages `pkg/apis/*/validation` of Kubernetes v1.35.4, and of its defaults, for the kinds that are
//! delivered to many clusters. What a rule holds where a field is missing follows from the default of the field. A value of another
//! type than the field has is skipped: `schema` checks types.
//!
//! Left out: names of objects, changes of fields that cannot be changed later, admission plugins, what depends on a feature gate that
//! is off by default, and fields of volume plugins that Kubernetes no longer has.
//!
//! What is accepted in a template and refused in each object that is made of it is a violation too: an image with space around it in a
//! pod template, labels in the template of a job or of a claim.

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

use std::collections::{BTreeMap, BTreeSet};

use self::field::{Field, Report};
use super::Draft;
use crate::domain::{ADMIRALTY_GROUP, Failure, GroupVersionKind, POD_CHAPERON};
use crate::json::{Object, ParseError, Pointer, Raw, Value};

/// A rule of Kubernetes that an object breaks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// Where.
    pub place: Pointer,
    /// What is wrong, and what to do: `<problem>; <advice>`.
    pub problem: String,
}

/// Checks one kind.
type Check = fn(&Field<'_>, &mut Report);

/// By API group, versions and kind. Whatever is not here is checked for its labels and annotations only.
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

/// What an API server would refuse in an object of this kind, in the order of its check.
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

/// What an object violates now and did not before it was changed.
///
/// Of a kind that is not known here no more than the metadata is built.
pub(super) fn introduced(object: &Draft<'_>, gvk: &GroupVersionKind) -> Result<Vec<Violation>, Failure> {
    let metadata = Pointer::of(["metadata"]);
    let is_known = check_of(gvk).is_some();
    if object.is_unchanged() || !is_known && !object.touches(&metadata) {
        return Ok(Vec::new());
    }
    let of = |found: Value<'_>| {
        let object: Object<'_> = [("metadata", found)].into_iter().collect();
        violations(gvk, &Value::Object(object))
    };
    let after = if is_known {
        violations(gvk, &object.to_value()?)
    } else {
        of(object.peek(&metadata)?.unwrap_or(Value::Null))
    };
    if after.is_empty() {
        return Ok(after);
    }
    let original = object.original();
    let misread = |error: ParseError| Failure::unprocessable(error.to_string());
    let before = if is_known {
        violations(gvk, &original.to_value().map_err(misread)?)
    } else {
        let found = original.at(&metadata).map_err(misread)?;
        of(found.as_ref().map(Raw::to_value).transpose().map_err(misread)?.unwrap_or(Value::Null))
    };
    Ok(added(&before, after))
}

/// The violations of `after` that `before` does not have.
///
/// Items of lists move, so an index says nothing about which item it was: of violations that differ by indexes only, as many are new as
/// there are more of them than before. Of those, the ones at a place that had none come first.
pub fn added(before: &[Violation], after: Vec<Violation>) -> Vec<Violation> {
    let in_place: BTreeSet<(&Pointer, &str)> =
        before.iter().map(|violation| (&violation.place, violation.problem.as_str())).collect();
    let mut had: BTreeMap<(String, &str), usize> = BTreeMap::new();
    for violation in before {
        *had.entry(violation.key()).or_default() += 1;
    }
    let mut is_new = vec![true; after.len()];
    // What stands where it stood is not new; only then what has moved is looked for among the rest.
    for is_in_place in [true, false] {
        for (violation, is_new) in after.iter().zip(&mut is_new) {
            let stood = in_place.contains(&(&violation.place, violation.problem.as_str()));
            if !*is_new || is_in_place && !stood {
                continue;
            }
            if let Some(left) = had.get_mut(&violation.key()).filter(|left| **left > 0) {
                *left -= 1;
                *is_new = false;
            }
        }
    }
    after.into_iter().zip(is_new).filter_map(|(violation, is_new)| is_new.then_some(violation)).collect()
}

impl Violation {
    /// The refusal of a revision for it.
    pub(super) fn failure(&self) -> Failure {
        Failure::unprocessable(format!("{}: no API server takes this: {}", self.place, self.problem))
    }

    /// Whether both are the same but for places in lists.
    pub(super) fn is_like(&self, other: &Self) -> bool {
        self.key() == other.key()
    }

    /// What it is, wherever in a list.
    fn key(&self) -> (String, &str) {
        let is_index = |token: &str| !token.is_empty() && token.bytes().all(|byte| byte.is_ascii_digit());
        let place: Vec<&str> =
            self.place.tokens().iter().map(|token| if is_index(token) { "*" } else { token }).collect();
        (place.join("/"), &self.problem)
    }
}
