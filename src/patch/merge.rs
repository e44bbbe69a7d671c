//! JSON merge patch (RFC 7386).
//!
//! As the RFC has it, to the letter. kubectl and the API server take nulls out of the maps in a list that a patch brings; we
//! do not. A patch that is no map replaces the whole object: a caller for whom an empty document is an empty patch has to look
//! for `null` itself.

use super::edits::Edits;
use crate::json::{Object, Value};

/// `object` with `patch` merged into it. What the patch does not name stays shared with `object`.
pub fn apply<'a>(object: &Value<'a>, patch: &Value<'a>) -> Value<'a> {
    match (object, patch) {
        (Value::Object(object), Value::Object(patch)) => maps(object, patch),
        // In a place where there is no map a patch starts with an empty one.
        (_, Value::Object(patch)) => maps(&Object::new(), patch),
        (_, other) => other.clone(),
    }
}

fn maps<'a>(object: &Object<'a>, patch: &Object<'a>) -> Value<'a> {
    let mut edits = Edits::new(object);
    for (name, value) in patch.iter() {
        match (edits.get(name), value) {
            (_, Value::Null) => edits.remove(name),
            (Some(present @ Value::Object(_)), Value::Object(_)) => {
                let merged = apply(present, value);
                edits.set_merged(name, merged);
            }
            (_, new) => edits.set(name, apply(&Value::Null, new)),
        }
    }
    edits.finish()
}
