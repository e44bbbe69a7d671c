//! Reads `ClusterRevisionPolicy` and `RevisionPolicy`.

use std::collections::BTreeSet;

use super::decode::{Fields, Node, Notes, duration, one_of};
use super::template::Expressions;
use super::{action, merge_keys, paths, selector, types};
use crate::domain::digest;
use crate::engine::{
    Action, Allocation, AllocationStrategy, Handover, OnError, Owner, Policy, ResourceSelector, Rule,
};
use crate::expression::{Scope, Variable};
use crate::json::{Pointer, Value};

/// The maximum length of an allocation name. `reviser.io/NAME-cluster` has to be a valid annotation name.
const MAX_ALLOCATION_NAME: usize = 63 - "-cluster".len();

/// A policy, with the definitions and references of its document.
pub(super) struct PolicyDocument {
    /// The position of the document.
    pub(super) document: usize,
    pub(super) policy: Policy,
    /// The allocations that it defines, each with its place. `None` if the definition is invalid.
    pub(super) allocations: Vec<(String, Option<Allocation>, Pointer)>,
    /// The allocations that rules name, each with the place.
    pub(super) used: Vec<(String, Pointer)>,
    /// The allocations that expressions name, each with the place.
    pub(super) asked: Vec<(String, Pointer)>,
    /// The variables that its expressions and rules read.
    pub(super) reads: BTreeSet<Variable>,
    /// The variables that each rule reads, directly or through other variables.
    pub(super) rule_reads: Vec<BTreeSet<Variable>>,
}

impl PolicyDocument {
    /// The allocations that its rules and expressions use.
    pub(super) fn used_allocations(&self) -> impl Iterator<Item = &str> {
        let read = self.reads.iter().filter_map(|variable| match variable {
            Variable::Allocation(name) => Some(name.as_str()),
            _ => None,
        });
        read.chain(self.used.iter().map(|(name, _)| name.as_str()))
    }
}

/// Reads the `spec` of a policy.
///
/// `scope` has the allocations that its expressions may read.
pub(super) fn policy(
    document: usize,
    owner: Owner,
    scope: &Scope,
    spec: &mut Fields<'_>,
    notes: &mut Notes,
) -> PolicyDocument {
    let digest = digest([owner.to_string().as_str(), &Value::Object(spec.object.clone()).to_string()]);
    let priority = spec.optional("priority").and_then(|node| node.integer(notes)).unwrap_or_default();
    let home = owner.namespace();
    let selectors =
        spec.required("resourceSelectors", notes).map(|node| non_empty(&node, notes)).unwrap_or_default();
    let selectors: Vec<ResourceSelector> =
        selectors.into_iter().filter_map(|node| selector::resource(node, home, notes)).collect();
    let allocations = spec.optional("allocations").map(|node| node.items(notes)).unwrap_or_default();
    let allocations = allocations.into_iter().filter_map(|node| allocation(node, notes)).collect();
    let mut expressions = Expressions::new(scope.clone());
    let variables =
        spec.optional("variables").map(|node| expressions.variables(&node, notes)).unwrap_or_default();
    let mut used = Vec::new();
    let mut names = BTreeSet::new();
    let (mut rules, mut rule_reads) = (Vec::new(), Vec::new());
    for node in spec.required("rules", notes).map(|node| non_empty(&node, notes)).unwrap_or_default() {
        let (place, before) = (node.field.clone(), notes.len());
        used.extend(used_by(&node));
        let rule = rule(node, &mut expressions, notes);
        let reads = expressions.take_reads();
        let Some(rule) = rule else { continue };
        if let Action::Patch(patching) = &rule.action
            && notes.len() == before
        {
            merge_keys::check(patching, &selectors, &place.join("patch"), notes);
        }
        types::rule(&rule, &selectors, &place, notes);
        paths::check(&rule.action, &selectors, &place, notes);
        if !names.insert(rule.name.clone()) {
            notes.note(
                &place.join("name"),
                format!("{:?} is the name of an earlier rule of this policy", rule.name),
            );
        }
        rules.push(rule);
        rule_reads.push(reads);
    }
    let needs_cluster =
        expressions.needs_cluster() || rules.iter().any(|rule: &Rule| rule.target.needs_cluster());
    let (reads, asked) = expressions.into_reads();
    let needs_original =
        reads.contains(&Variable::Original) || rules.iter().any(|rule: &Rule| rule.action.reads_template());
    let policy =
        Policy { owner, priority, selectors, variables, rules, needs_cluster, needs_original, digest };
    PolicyDocument { document, policy, allocations, used, asked, reads, rule_reads }
}

/// The allocation that a rule names, with its place, even if the rule is invalid.
fn used_by(rule: &Node<'_>) -> Option<(String, Pointer)> {
    let name = rule.value.get("fort")?.get("allocation")?.as_str()?;
    Some((name.to_owned(), rule.field.join("fort").join("allocation"))).filter(|(name, _)| !name.is_empty())
}

fn non_empty<'v>(node: &Node<'v>, notes: &mut Notes) -> Vec<Node<'v>> {
    let items = node.items(notes);
    if items.is_empty() && node.value.as_array().is_some() {
        notes.note(&node.field, "needs at least one item");
    }
    items
}

fn allocation(node: Node<'_>, notes: &mut Notes) -> Option<(String, Option<Allocation>, Pointer)> {
    const STRATEGIES: &[(&str, AllocationStrategy)] = &[("HighestWeight", AllocationStrategy::HighestWeight)];
    let place = node.field.clone();
    let mut fields = Fields::of(node, notes)?;
    let name = fields.required("name", notes).and_then(|node| allocation_name(&node, notes));
    let strategy = fields
        .optional("strategy")
        .map_or_else(|| Some(AllocationStrategy::default()), |node| one_of(&node, STRATEGIES, notes))
        .unwrap_or_default();
    let handover =
        fields.optional("handover").map_or_else(|| Some(Handover::default()), |node| handover(node, notes));
    fields.end(notes);
    Some((name?.to_owned(), handover.map(|handover| Allocation { strategy, handover }), place.join("name")))
}

fn allocation_name<'v>(node: &Node<'v>, notes: &mut Notes) -> Option<&'v str> {
    let name = node.name(notes)?;
    let edge = |byte: Option<u8>| byte.is_some_and(|byte| byte.is_ascii_alphanumeric());
    let inner = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    let bytes = name.as_bytes();
    let fits = bytes.len() <= MAX_ALLOCATION_NAME
        && edge(bytes.first().copied())
        && edge(bytes.last().copied())
        && bytes.iter().copied().all(inner);
    if !fits {
        notes.note(
            &node.field,
            format!(
                "{name:?} can't name an annotation `reviser.io/NAME-cluster`; use up to {MAX_ALLOCATION_NAME} letters, digits, `-`, `_` and `.`, \
                 with a letter or digit at both ends"
            ),
        );
        return None;
    }
    Some(name)
}

fn handover(node: Node<'_>, notes: &mut Notes) -> Option<Handover> {
    const MODES: &[(&str, bool)] = &[("AfterRelease", true), ("Immediate", false)];
    let mut fields = Fields::of(node, notes)?;
    let waits = fields.optional("mode").map_or(Some(true), |node| one_of(&node, MODES, notes));
    let timeout = fields.optional("timeout");
    fields.end(notes);
    match (waits?, timeout) {
        (true, None) => Some(Handover::AfterRelease { timeout: None }),
        (true, Some(node)) => Some(Handover::AfterRelease { timeout: Some(duration(&node, notes)?) }),
        (false, None) => Some(Handover::Immediate),
        (false, Some(node)) => {
            notes.note(&node.field, "has no meaning with the mode Immediate, which never waits");
            None
        }
    }
}

fn rule(node: Node<'_>, expressions: &mut Expressions, notes: &mut Notes) -> Option<Rule> {
    const ON_ERROR: &[(&str, OnError)] = &[("Fail", OnError::Fail), ("Skip", OnError::Skip)];
    let mut fields = Fields::of(node, notes)?;
    let name = fields.required("name", notes).and_then(|node| node.name(notes));
    let target = fields
        .optional("targetCluster")
        .map(|node| selector::target_clusters(node, notes))
        .unwrap_or_default();
    let when = fields.optional("when").map(|node| expressions.condition(&node, notes));
    let action = action::action(&mut fields, expressions, notes);
    let on_error = fields.optional("onError");
    let on_error = on_error.map_or(Some(OnError::Fail), |node| {
        let on_error = one_of(&node, ON_ERROR, notes)?;
        if on_error == OnError::Skip && action.as_ref().is_some_and(|action| !action.can_be_skipped()) {
            notes.note(&node.field, "a fort that is skipped would run everywhere; `fort` takes only Fail");
        }
        Some(on_error)
    });
    fields.end(notes);
    let asks = expressions.take_asks();
    let when = match when {
        Some(when) => Some(when?),
        None => None,
    };
    Some(Rule { name: name?.to_owned(), target, when, action: action?, on_error: on_error?, asks })
}
