//! Warns about fields that a patch writes and the kind does not have.

use crate::engine::{Policy, Rule};
use crate::json::Pointer;
use crate::policy::decode::Notes;
use crate::policy::types;

pub(super) fn rule(policy: &Policy, rule: &Rule, place: &Pointer, notes: &mut Notes) {
    for (at, field) in types::unknown_fields(rule, &policy.selectors) {
        notes.note(
            &place.concat(&at),
            format!("{field}: unknown field; an API server drops it: check its spelling"),
        );
    }
}
