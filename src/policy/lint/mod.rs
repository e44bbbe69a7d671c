//! What is strange about documents that may be in force: warnings, which `check` tells and `serve` only logs.
//!
//! Only what can be seen in the documents is said, and a rule that might be meant as it is gets no warning: a later rule of the same policy
//! for fewer clusters is an exception from an earlier one, and a higher priority says who has the last word. Documents with faults are not
//! looked at, but what they use counts as used.

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
use crate::domain::GroupVersionKind;
use crate::engine::{Allocation, Policy, PolicySet, Rule};
use crate::expression::Variable;
use crate::json::Pointer;

/// A policy, and the document that it is from, in which nothing is wrong.
pub(super) struct Subject<'c> {
    pub(super) document: usize,
    pub(super) policy: &'c Policy,
    /// What its expressions and rules read.
    pub(super) reads: &'c BTreeSet<Variable>,
    /// What each of its rules reads, also by way of variables.
    pub(super) rule_reads: &'c [BTreeSet<Variable>],
    /// The allocations that it defines, each with the place.
    pub(super) allocations: &'c [(String, Option<Allocation>, Pointer)],
}

/// All that is looked at.
pub(super) struct Material<'c> {
    /// In the order in which they apply.
    pub(super) subjects: Vec<Subject<'c>>,
    /// What documents define besides policies: where there are pod templates.
    pub(super) set: &'c PolicySet,
    /// The kinds that documents without faults interpret.
    pub(super) interpreted: Vec<(usize, &'c GroupVersionKind)>,
    /// The allocations that any document reads.
    pub(super) asked: BTreeSet<&'c str>,
}

/// All warnings, by document.
pub(super) fn lint(material: &Material<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut idle = BTreeSet::new();
    for (position, subject) in material.subjects.iter().enumerate() {
        let mut notes = Notes::default();
        let dead = matching::policy(subject.policy, &mut notes);
        for (number, rule) in subject.policy.rules.iter().enumerate() {
            let place = rule_place(subject.policy, rule);
            repeat::rule(subject.policy, rule, &place, &mut notes);
            if !dead.contains(&number)
                && templates::rule(subject.policy, rule, material.set, &place, &mut notes)
            {
                idle.insert((position, number));
            }
            fields::rule(subject.policy, rule, &place, &mut notes);
            lists::rule(subject.policy, rule, material.set, &place, &mut notes);
            zero::rule(subject.policy, rule, &place, &mut notes);
        }
        unused::policy(subject, &material.asked, &mut notes);
        delivery::policy(subject, material.set, &mut notes);
        idle.extend(dead.into_iter().map(|rule| (position, rule)));
        findings.extend(Finding::all(subject.document, notes));
    }
    unused::interpretations(material, &mut findings);
    conflicts::all(material, &idle, &mut findings);
    findings.sort_by_key(|finding| finding.document);
    findings
}

/// Where a rule stands in its document.
fn rule_place(policy: &Policy, rule: &Rule) -> Pointer {
    let position = policy.rules.iter().position(|other| other.name == rule.name).unwrap_or_default();
    Pointer::of(["spec", "rules"]).join(position.to_string())
}

/// The namespace that a policy is for.
fn home(policy: &Policy) -> Option<&str> {
    policy.owner.namespace()
}
