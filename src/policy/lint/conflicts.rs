//! Finds rules that write different values to the same place, for one workload in one cluster.

use std::collections::{BTreeMap, BTreeSet};

use super::clusters::{self, Overlap};
use super::writes::{self, Write};
use super::{Material, home, labels, rule_place};
use crate::domain::shorten;
use crate::engine::{LabelSelector, Owner, Policy, ResourceSelector, Rule};
use crate::expression::Condition;
use crate::policy::finding::Finding;

/// The maximum length of a value in a message.
const MAX_VALUE_BYTES: usize = 80;

/// A rule, and what it writes.
struct Writer<'c> {
    document: usize,
    policy: &'c Policy,
    rule: &'c Rule,
    selector: &'c ResourceSelector,
    write: Write,
}

/// Reports, at the later of two rules, that an earlier rule writes another value. `idle` rules write nothing.
pub(super) fn all(material: &Material<'_>, idle: &BTreeSet<(usize, usize)>, findings: &mut Vec<Finding>) {
    let mut writers: BTreeMap<(String, String), Vec<Writer<'_>>> = BTreeMap::new();
    for (policy_position, document) in material.policies.iter().enumerate() {
        for (position, rule) in document.policy.rules.iter().enumerate() {
            if idle.contains(&(policy_position, position)) {
                continue;
            }
            for selector in &document.policy.selectors {
                let kind = format!("{}/{}", selector.gvk.api_version(), selector.gvk.kind);
                for write in writes::of(rule, &selector.gvk, material.set) {
                    let (document, policy) = (document.document, &document.policy);
                    let key = (kind.clone(), write.what.clone());
                    let writer = Writer { document, policy, rule, selector, write };
                    writers.entry(key).or_default().push(writer);
                }
            }
        }
    }
    let mut reported = BTreeSet::new();
    for writers in writers.values() {
        for (position, later) in writers.iter().enumerate() {
            // Only the last earlier rule that differs is reported. That rule has its own finding.
            let earlier = writers[..position]
                .iter()
                .rev()
                .find_map(|earlier| Some((earlier, conflict(earlier, later)?)));
            let Some((earlier, overlap)) = earlier else { continue };
            let field = rule_place(later.policy, later.rule).concat(&later.write.field);
            if reported.insert((later.document, field.to_string(), later.write.what.clone())) {
                findings.push(Finding {
                    document: later.document,
                    field,
                    problem: problem(earlier, later, &overlap),
                });
            }
        }
    }
}

/// The clusters in which two rules conflict. `None` if they do not conflict.
fn conflict(earlier: &Writer<'_>, later: &Writer<'_>) -> Option<Overlap> {
    let same_rule = std::ptr::eq(earlier.rule, later.rule);
    if same_rule || earlier.write.value == later.write.value || is_meant(earlier, later) {
        return None;
    }
    let containers = (&earlier.write.containers, &later.write.containers);
    let share_containers = containers.0.is_empty()
        || containers.1.is_empty()
        || containers.0.iter().any(|container| containers.1.contains(container));
    if !share_containers || !can_select_one(earlier, later) {
        return None;
    }
    let depends = earlier.rule.when.is_some() || later.rule.when.is_some();
    match clusters::overlap(&earlier.rule.target, &later.rule.target) {
        Overlap::No => None,
        // With the same condition, both rules apply or neither.
        Overlap::Yes(_) if depends && condition(earlier.rule) != condition(later.rule) => {
            Some(Overlap::Perhaps)
        }
        overlap => Some(overlap),
    }
}

fn condition(rule: &Rule) -> Option<&str> {
    rule.when.as_ref().map(Condition::source)
}

/// Whether the documents define which of the two rules wins.
fn is_meant(earlier: &Writer<'_>, later: &Writer<'_>) -> bool {
    if std::ptr::eq(earlier.policy, later.policy) {
        return clusters::is_exception(&earlier.rule.target, &later.rule.target);
    }
    let is_cluster_scoped = |policy: &Policy| matches!(policy.owner, Owner::Cluster { .. });
    is_cluster_scoped(earlier.policy) == is_cluster_scoped(later.policy)
        && earlier.policy.priority != later.policy.priority
}

/// Whether both policies can select the same workload.
fn can_select_one(a: &Writer<'_>, b: &Writer<'_>) -> bool {
    let differ = |a: Option<&str>, b: Option<&str>| matches!((a, b), (Some(a), Some(b)) if a != b);
    !differ(a.selector.name.as_deref(), b.selector.name.as_deref())
        && !differ(a.namespace(), b.namespace())
        && labels::contradiction(a.labels().into_iter().chain(b.labels())).is_none()
}

impl<'c> Writer<'c> {
    fn namespace(&self) -> Option<&'c str> {
        self.selector.namespace.as_deref().or_else(|| home(self.policy))
    }

    fn labels(&self) -> Option<&'c LabelSelector> {
        self.selector.labels.as_ref().filter(|_| self.selector.name.is_none())
    }
}

fn problem(earlier: &Writer<'_>, later: &Writer<'_>, overlap: &Overlap) -> String {
    let value = |write: &Write| shorten(write.value.clone(), MAX_VALUE_BYTES);
    let (may, clusters) = match overlap {
        Overlap::Yes(Some(cluster)) => ("", format!("for cluster {cluster:?} too")),
        Overlap::Yes(None) => ("", "for the same clusters".to_owned()),
        Overlap::Perhaps | Overlap::No => (" may", "for the same cluster".to_owned()),
    };
    let whose = if std::ptr::eq(earlier.policy, later.policy) {
        format!("rule {:?}", earlier.rule.name)
    } else {
        format!("{} rule {:?}", earlier.policy.owner, earlier.rule.name)
    };
    format!(
        "conflict: {whose}{may} set{} {} {clusters}, to {}, and this rule to {}; this one wins, because it comes later",
        if may.is_empty() { "s" } else { "" },
        later.write.what,
        value(&earlier.write),
        value(&later.write)
    )
}
