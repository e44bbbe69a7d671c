//! Rules that would do something else if they were applied to their own result.
//!
//! On the Work door a revision is taken back before the next one, so that this does no harm there; elsewhere nothing says whether an
//! object has been revised already.

use super::writes::{self, Operation};
use crate::engine::{Action, PatchKind, Rule};
use crate::expression::Variable;
use crate::json::Pointer;
use crate::policy::decode::Notes;

pub(super) fn rule(rule: &Rule, place: &Pointer, notes: &mut Notes) {
    // A condition that looks at the object can see that it was there before.
    if rule.when.as_ref().is_some_and(|when| when.uses().contains(&Variable::Object)) {
        return;
    }
    let Action::Patch(patching) = &rule.action else { return };
    let place = place.join("patch").join("value");
    let operations = match patching.kind {
        PatchKind::Json(_) => writes::operations(&patching.value),
        _ => Vec::new(),
    };
    // So can an operation that tests.
    if operations.iter().any(|operation| operation.op == "test") {
        return;
    }
    for operation in &operations {
        if let Some(problem) = repeated(operation) {
            let advice =
                "put a `test` operation before it, or give the rule a `when` that looks at the object";
            notes.note(&place.concat(&operation.field), format!("{problem}; {advice}"));
        }
    }
    for (at, field, source) in writes::reading_themselves(patching) {
        notes.note(
            &place.concat(&field),
            format!("a second application gives another value: `{source}` reads {at}, which it writes; read it from `original`"),
        );
    }
}

/// What a second application of an operation would do that the first did not.
fn repeated(operation: &Operation<'_>) -> Option<String> {
    let path = operation.path;
    let in_list = writes::is_in_list(path);
    Some(match operation.op {
        "add" | "copy" if in_list => format!("a second application puts another item in at {path}"),
        "remove" if in_list => format!("a second application takes another item away at {path}"),
        "move" => {
            format!("a second application fails, because what is moved to {path} is not there any more")
        }
        _ => return None,
    })
}
