//! Warns about selectors and conditions that never match, and about rules that change nothing.

use std::collections::BTreeSet;

use super::{delivery, home, labels, rule_place};
use crate::domain::{ADMIRALTY_GROUP, GroupVersionKind, POD_CHAPERON};
use crate::engine::{
    Action, ClusterField, ClusterPattern, FieldRequirement, Policy, ResourceSelector, Rule, TargetClusters,
};
use crate::json::{Pointer, Value};
use crate::patch::strategic;
use crate::policy::decode::{Notes, did_you_mean};

/// Cluster-scoped built-in kinds that a policy may select.
const CLUSTER_SCOPED: &[(&str, &str)] = &[
    ("", "Namespace"),
    ("", "Node"),
    ("", "PersistentVolume"),
    ("apiextensions.k8s.io", "CustomResourceDefinition"),
    ("networking.k8s.io", "IngressClass"),
    ("rbac.authorization.k8s.io", "ClusterRole"),
    ("rbac.authorization.k8s.io", "ClusterRoleBinding"),
    ("scheduling.k8s.io", "PriorityClass"),
    ("storage.k8s.io", "StorageClass"),
];

/// Reports what never matches. Returns the positions of the rules that never apply or never change anything.
pub(super) fn policy(policy: &Policy, notes: &mut Notes) -> Vec<usize> {
    let selectors = policy.selectors.iter().enumerate();
    let dead_selectors = selectors
        .filter(|(position, selector)| {
            let place = Pointer::of(["spec", "resourceSelectors"]).join(position.to_string());
            selects_nothing(selector, home(policy), &place, notes)
        })
        .count();
    let mut idle: Vec<usize> = Vec::new();
    for (position, rule) in policy.rules.iter().enumerate() {
        if is_idle(rule, &rule_place(policy, rule), notes) {
            idle.push(position);
        }
    }
    let none_left = |count: usize, all: usize| all > 0 && count == all;
    if none_left(dead_selectors, policy.selectors.len()) || none_left(idle.len(), policy.rules.len()) {
        notes.note(&Pointer::of(["spec"]), "nothing of this policy can ever apply");
        return (0..policy.rules.len()).collect();
    }
    idle
}

fn selects_nothing(
    selector: &ResourceSelector,
    home: Option<&str>,
    place: &Pointer,
    notes: &mut Notes,
) -> bool {
    let GroupVersionKind { group, version: _, kind } = &selector.gvk;
    let mut dead = false;
    if let Some(hint) = unknown_kind(&selector.gvk) {
        notes.note(&place.join("kind"), hint);
        dead = true;
    }
    if delivery::is_for_no_member(&selector.gvk) {
        let problem = "matches nothing: Karmada sends no object of this kind to a member";
        notes.note(&place.join("kind"), problem);
        dead = true;
    }
    if CLUSTER_SCOPED.contains(&(group.as_str(), kind.as_str()))
        && (home.is_some() || selector.namespace.is_some())
    {
        let (field, problem) = match home {
            Some(_) => (
                "kind",
                "is not in any namespace, so that a RevisionPolicy selects none; use a ClusterRevisionPolicy",
            ),
            None => ("namespace", "selects nothing: this kind is not in any namespace"),
        };
        notes.note(&place.join(field), problem);
        dead = true;
    }
    if group == ADMIRALTY_GROUP
        && kind == POD_CHAPERON
        && let Some(name) = selector.name.as_ref().filter(|name| !name.ends_with('-'))
    {
        notes.note(
            &place.join("name"),
            format!(
                "selects nothing: a PodChaperon has no name yet when it is created, and its generateName, the name of the pod and a dash, \
                 stands for it; write {:?}",
                format!("{name}-")
            ),
        );
        dead = true;
    }
    let labels = selector.labels.as_ref().filter(|labels| !labels.0.is_empty());
    match (&selector.name, labels) {
        (Some(_), Some(_)) => {
            notes.note(
                &place.join("labelSelector"),
                "is not looked at, because `name` selects; take one of them away",
            );
        }
        (None, Some(labels)) => {
            if let Some(label) = labels::contradiction([labels]) {
                notes.note(&place.join("labelSelector"), impossible("the label", label));
                dead = true;
            }
        }
        _ => {}
    }
    dead
}

/// A message about a kind that does not exist in a built-in group, if a similar kind does.
fn unknown_kind(gvk: &GroupVersionKind) -> Option<String> {
    let version = gvk.api_version();
    let known: Vec<&str> = strategic::kinds(&version).collect();
    if known.is_empty() || known.contains(&gvk.kind.as_str()) {
        return None;
    }
    let hint = did_you_mean(&gvk.kind, known);
    (!hint.is_empty()).then(|| format!("{version} has no kind {:?}{hint}", gvk.kind))
}

fn impossible(what: &str, name: &str) -> String {
    format!("matches nothing: what is required of {what} {name:?} can't all be")
}

/// Whether a rule never applies or never changes anything.
fn is_idle(rule: &Rule, place: &Pointer, notes: &mut Notes) -> bool {
    let target = place.join("targetCluster");
    let mut idle = targets_nothing(&rule.target, &target, notes);
    if rule.when.as_ref().is_some_and(|when| when.source().trim() == "false") {
        notes.note(&place.join("when"), "never holds, so that the rule never applies");
        idle = true;
    }
    if let Action::Patch(patching) = &rule.action
        && patching.value.constant().is_some_and(is_empty)
    {
        notes.note(&place.join("patch").join("value"), "is empty, so that the rule changes nothing");
        idle = true;
    }
    idle
}

fn is_empty(patch: &Value<'_>) -> bool {
    match patch {
        Value::Null => true,
        Value::Object(members) => members.is_empty(),
        Value::Array(items) => items.is_empty(),
        _ => false,
    }
}

fn targets_nothing(target: &TargetClusters, place: &Pointer, notes: &mut Notes) -> bool {
    let mut dead = false;
    let excluded = |pattern: &ClusterPattern| {
        target.exclude.iter().find(|exclude| {
            *exclude == pattern
                || exclude.0 == "*"
                || pattern.name().is_some_and(|name| exclude.matches(&name))
        })
    };
    let mut gone = 0;
    for (position, pattern) in target.names.iter().enumerate() {
        if let Some(exclude) = excluded(pattern) {
            gone += 1;
            let field = place.join("clusterNames").join(position.to_string());
            notes.note(&field, format!("matches nothing: `exclude` has {:?}", exclude.0));
        }
    }
    if gone > 0 && gone == target.names.len() {
        dead = true;
    }
    if target.names.is_empty() && target.exclude.iter().any(|exclude| exclude.0 == "*") {
        notes.note(&place.join("exclude"), "excludes every cluster, so that the rule never applies");
        dead = true;
    }
    if let Some(label) = target.labels.as_ref().and_then(|labels| labels::contradiction([labels])) {
        notes.note(&place.join("labelSelector"), impossible("the label", label));
        dead = true;
    }
    for (field, name) in
        [(ClusterField::Provider, "provider"), (ClusterField::Region, "region"), (ClusterField::Zone, "zone")]
    {
        if field_is_impossible(&target.fields, field) {
            notes.note(&place.join("fieldSelector"), impossible("the field", name));
            dead = true;
        }
    }
    dead
}

fn field_is_impossible(requirements: &[FieldRequirement], field: ClusterField) -> bool {
    let (mut allowed, mut refused) = (None, BTreeSet::new());
    for requirement in requirements.iter().filter(|requirement| requirement.field == field) {
        if requirement.is_in {
            allowed = Some(labels::narrowed(allowed, &requirement.values));
        } else {
            refused.extend(requirement.values.iter().map(String::as_str));
        }
    }
    allowed.is_some_and(|allowed| allowed.is_subset(&refused))
}
