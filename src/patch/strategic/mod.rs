//! Strategic merge patch: what kubectl and the API server do with one, over values.
//!
//! The rules are those of `kubectl patch --type strategic`; its answers are recorded in tests/data/strategic.jsonl, and ours are
//! held to them. Where ours differ on purpose it says `DIFFERENCE` in the code:
//!
//! * No directive (`$patch`, `$retainKeys`, `$setElementOrder/…`, `$deleteFromPrimitiveList/…`) is ever left in an object.
//! * An accident of kubectl's (a panic, the order of a Go map, the first of several items with one key) is an error with advice.
//! * A list where a kind of Kubernetes' has a map, or a map where it has a scalar, is not merged with another one: an error.
//! * Kinds that are not Kubernetes' own are merged, as their [`Schema`] says.
//! * Several items with one key, of which the patch names none, stay where they are.
//! * The order of a list is that which it had before anything was deleted from it.
//! * A directive that could not be followed anywhere is refused everywhere, by [`check`].
//!
//! What a patch does not mention stays the same piece of memory. Time is linear in the object and the patch: fields and items are
//! found through indexes, and only lists of which the order is asked for are sorted.
//!
//! `maps` and `list` call each other as deep as values are nested, which [`MAX_DEPTH`](crate::json::MAX_DEPTH) bounds. What is on the
//! stack while they do is kept small: whatever needs more room is done before or after, in a function of its own.

mod check;
mod clean;
mod directive;
mod list;
mod maps;
mod order;
mod scalar;
mod schema;
mod table;

#[cfg(test)]
mod tests;

pub use check::check;
pub use schema::{ListMerge, Schema, kinds};

use super::place::{Failed, Place};
use super::{PatchError, Problem};
use crate::json::Value;

/// `object` with `patch` merged into it. `null` is a patch that changes nothing.
///
/// An error is about a place in the object. What [`check`] refuses need not be an error here: it depends on the object.
pub fn apply<'a>(object: &Value<'a>, patch: &Value<'a>, schema: &Schema) -> Result<Value<'a>, PatchError> {
    root(object, patch, schema).map_err(PatchError::from)
}

fn root<'a>(object: &Value<'a>, patch: &Value<'a>, schema: &Schema) -> Result<Value<'a>, Failed> {
    match (object, patch) {
        (_, Value::Null) => Ok(object.clone()),
        (Value::Object(_), Value::Object(patch))
            if patch.get(directive::PATCH).and_then(directive::word) == Some(directive::Word::Delete) =>
        {
            Err(Place::ROOT.error(Problem::DeletesAll))
        }
        (Value::Object(object), Value::Object(patch)) => {
            maps::merge(object, patch, schema.root(), &Place::ROOT)
        }
        (Value::Object(_), other) | (other, _) => Err(Place::ROOT.error(Problem::NotAMap(other.kind()))),
    }
}
