//! Warns about rules that give another result when they are applied to their own result.
//!
//! This matters only for `PodChaperon`s: the Work door undoes the earlier revision first, and Karmada calls
//! the interpreter door with an unrevised object. Whether an expression gives the same result again depends
//! on the object; `check -f` tests it.

use super::writes::{self, Operation};
use crate::engine::{Action, OnError, PatchAction, PatchKind, Policy, Rule};
use crate::expression::{Condition, Variable};
use crate::json::Pointer;
use crate::patch::rfc6902::MissingPath;
use crate::policy::decode::Notes;

/// Why and where rules are applied twice, and how to change a rule that then gives another result.
pub const REPEATED_ON_CHAPERONS: &str = "POST /mutate/podchaperons undoes no earlier revision, and so revises twice where its configuration has \
                                         `reinvocationPolicy: IfNeeded`, or where a saved PodChaperon is created again; give the rule a `when` that is \
                                         false for its own result";

/// Warns about the rule at `place` if its second application certainly gives another result.
pub(super) fn rule(policy: &Policy, rule: &Rule, place: &Pointer, notes: &mut Notes) {
    for (field, problem) in certain_repeats(policy, rule) {
        notes.note(&place.concat(&field), format!("a second application {problem}: {REPEATED_ON_CHAPERONS}"));
    }
}

/// The certain effects of a second application of a rule for `PodChaperon`s, each with the place in the rule.
pub fn certain_repeats(policy: &Policy, rule: &Rule) -> Vec<(Pointer, String)> {
    let when = rule.when.iter().flat_map(Condition::uses).cloned();
    // A condition that reads the object can check whether the rule has been applied.
    if !policy.selectors.iter().any(|selector| selector.gvk.is_pod_chaperon())
        || policy.resolved(when).contains(&Variable::Object)
    {
        return Vec::new();
    }
    if let Action::Image(image) = &rule.action {
        // With `from`, the second application does not match the new registry.
        let is_certain =
            image.repository_prefix.is_some() && image.from.is_none() && rule.on_error == OnError::Fail;
        let problem = (Pointer::of(["image", "repositoryPrefix"]), "adds the prefix again".to_owned());
        return is_certain.then_some(problem).into_iter().collect();
    }
    let Action::Patch(patching @ PatchAction { kind: PatchKind::Json(missing), .. }) = &rule.action else {
        return Vec::new();
    };
    let place = Pointer::of(["patch", "value"]);
    let Some(operations) = writes::all_operations(&patching.value) else { return Vec::new() };
    // A test can fail in the second application.
    if operations.iter().any(|operation| operation.op == "test") {
        return Vec::new();
    }
    let is_skipped = *missing == MissingPath::Skip || rule.on_error == OnError::Skip;
    let mut found = Vec::new();
    for (position, operation) in operations.iter().enumerate() {
        let others = operations.iter().enumerate().filter(|(other, _)| *other != position);
        if let Some(problem) = repeated(operation, others.map(|(_, other)| other), is_skipped) {
            found.push((place.concat(&operation.field), problem));
        }
    }
    found
}

/// The effect of a second application of an operation, if it is certain. With `is_skipped`, operations that
/// fail are skipped.
fn repeated<'o>(
    operation: &Operation<'o>,
    mut others: impl Iterator<Item = &'o Operation<'o>>,
    is_skipped: bool,
) -> Option<String> {
    let path = operation.path;
    let in_list = writes::is_in_list(path);
    let list = path.rsplit_once('/').map_or("", |(list, _)| list);
    // Several operations on one list can cancel each other out.
    let mut is_alone = |place: &str, same: &[&str]| {
        others.all(|other| {
            same.contains(&other.op)
                || [Some(other.path), other.from].into_iter().flatten().all(|path| !overlap(path, place))
        })
    };
    match operation.op {
        "add" | "copy" if in_list && is_alone(list, &["add", "copy"]) => {
            Some(format!("adds another item at {path}"))
        }
        "remove" if in_list && is_alone(list, &["remove"]) => Some(format!("removes another item at {path}")),
        "move" => {
            let from = operation.from?;
            (!is_skipped && !writes::is_in_list(from) && is_alone(from, &[]))
                .then(|| format!("fails, because there is nothing at {from} any more"))
        }
        _ => None,
    }
}

/// Whether one place contains the other.
fn overlap(a: &str, b: &str) -> bool {
    let within = |inner: &str, outer: &str| {
        inner.strip_prefix(outer).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    within(a, b) || within(b, a)
}
