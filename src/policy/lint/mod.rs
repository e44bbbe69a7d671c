//! Warnings about valid documents. `check` prints them, and `serve` logs them.
//!
//! The warnings depend only on the documents, not on a cluster. A rule that may be intended gets no warning:
//! a later rule of the same policy for fewer clusters is an exception from an earlier one, and a higher
//! priority decides which rule wins.
//! Documents with errors get no warnings, but what they use counts as used.

mod clusters;
mod conflicts;
mod delivery;
mod fields;
mod labels;
mod lists;
mod matching;
mod repeat;
mod templates;
mod unused;
mod writes;
mod zero;

#[cfg(test)]
mod tests;

pub use repeat::{REPEATED_ON_CHAPERONS, certain_repeats};
pub(super) use writes::operations;

use std::collections::BTreeSet;

use super::decode::Notes;
use super::finding::Finding;
use super::revision::PolicyDocument;
use crate::domain::GroupVersionKind;
use crate::engine::{Policy, PolicySet, Rule};
use crate::json::Pointer;

/// The input of the lints: documents without errors.
pub(super) struct Material<'c> {
    /// In the order in which they apply.
    pub(super) policies: Vec<&'c PolicyDocument>,
    /// The other definitions, such as the places of pod templates.
    pub(super) set: &'c PolicySet,
    /// The kinds with a `ResourceInterpretation`, each with the position of its document.
    pub(super) interpreted: Vec<(usize, &'c GroupVersionKind)>,
    /// The allocations that any document uses, including documents with errors.
    pub(super) used: BTreeSet<&'c str>,
}

/// All warnings, by document.
pub(super) fn lint(material: &Material<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut idle = BTreeSet::new();
    for (position, document) in material.policies.iter().enumerate() {
        let policy = &document.policy;
        let mut notes = Notes::default();
        let dead = matching::policy(policy, &mut notes);
        for (number, rule) in policy.rules.iter().enumerate() {
            let place = rule_place(policy, rule);
            repeat::rule(policy, rule, &place, &mut notes);
            if !dead.contains(&number) && templates::rule(policy, rule, material.set, &place, &mut notes) {
                idle.insert((position, number));
            }
            fields::rule(policy, rule, &place, &mut notes);
            lists::rule(policy, rule, material.set, &place, &mut notes);
            zero::rule(policy, rule, &place, &mut notes);
        }
        unused::policy(document, &material.used, &mut notes);
        delivery::policy(document, material.set, &mut notes);
        idle.extend(dead.into_iter().map(|rule| (position, rule)));
        findings.extend(Finding::all(document.document, notes));
    }
    unused::interpretations(material, &mut findings);
    conflicts::all(material, &idle, &mut findings);
    findings.sort_by_key(|finding| finding.document);
    findings
}

/// The place of a rule in its document.
fn rule_place(policy: &Policy, rule: &Rule) -> Pointer {
    let position = policy.rules.iter().position(|other| other.name == rule.name).unwrap_or_default();
    Pointer::of(["spec", "rules"]).join(position.to_string())
}

/// The namespace of a policy.
fn home(policy: &Policy) -> Option<&str> {
    policy.owner.namespace()
}
