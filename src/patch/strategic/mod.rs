//! Strategic merge patch: what kubectl and the API server do with one, over values.
//!
//! The rules are those of `kubectl patch --type strategic`; its answers are recorded in tests/data/strategic.jsonl, and ours are
//! held to them. Where ours differ on purpose it says `DIFFERENCE` in the code:
//!
//! * No directive (`$patch`, `$retainKeys`, `$setElementOrder/…`, `$deleteFromPrimitiveList/…`) is ever left in an object.
//! * An accident of kubectl's (a panic, the order of a Go map, the first of several items with one key) is an error with advice.
//! * A list where a kind of Kubernetes' has a map, or a map where it has a scalar, is not merged with another one: an error.
//! * Kinds that are not Kubernetes' own are merged, as their [`Schema`] says.
//! * Lists are merged by the keys that are [declared](Declared) for them. An item of the object that lacks one of these is not named
//!   by any patch, and stays.
//! * Where the merge key is not enough, all keys of server-side apply tell items apart: 53/TCP and 53/UDP are two ports. `$patch:
//!   delete` in an item that names all of them deletes only what has them all.
//! * `$patch` in an item of a list that is replaced: `delete` is an error, and an item of `replace` alone is left out.
//! * Several items with one key, of which the patch names none, stay where they are.
//! * The order of a list is that which it had before anything was deleted from it.
//! * A directive that could not be followed anywhere is refused everywhere, by [`check`].
//!
//! What a patch does not mention stays the same piece of memory. Time is linear in the object and the patch: fields and items are
//! found through indexes, and only lists of which the order is asked for are sorted.
//!
//! `maps` and `list` call each other as deep as values are nested, which [`MAX_DEPTH`](crate::json::MAX_DEPTH) bounds. What is on the
//! stack while they do is kept small: whatever needs more room is done before or after, in a function of its own.

mod atomic;
mod check;
mod clean;
mod directive;
mod identity;
mod list;
mod log;
mod maps;
mod order;
mod reach;
mod scalar;
mod schema;
mod table;

#[cfg(test)]
mod tests;

pub use check::check;
pub use directive::is_directive;
pub use identity::spelled;
pub use log::Shortened;
pub use reach::Unreached;
pub use schema::{Declared, ListMerge, Schema, kinds};

use super::path::{Failed, FieldPath};
use super::{PatchError, PatchErrorKind};
use crate::json::Value;
use log::Log;

/// What came of a patch.
#[derive(Clone, Debug)]
pub struct Merged<'a> {
    /// The object with the patch merged into it.
    pub value: Value<'a>,
    /// The lists of maps that the patch replaced by shorter ones without saying so: neither by `$patch: replace` nor by an empty list.
    pub shortened: Vec<Shortened>,
}

/// Merges `patch` into `object`. `null` is a patch that changes nothing.
///
/// An error is about a place in the object. What [`check`] refuses need not be an error here: it depends on the object.
pub fn merge<'a>(object: &Value<'a>, patch: &Value<'a>, schema: &Schema) -> Result<Merged<'a>, PatchError> {
    let mut log = Log::default();
    let value = root(object, patch, schema, &mut log).map_err(PatchError::from)?;
    Ok(Merged { value, shortened: log.into_shortened() })
}

/// The value that [`merge`] gives.
pub fn apply<'a>(object: &Value<'a>, patch: &Value<'a>, schema: &Schema) -> Result<Value<'a>, PatchError> {
    merge(object, patch, schema).map(|merged| merged.value)
}

fn root<'a>(
    object: &Value<'a>,
    patch: &Value<'a>,
    schema: &Schema,
    log: &mut Log,
) -> Result<Value<'a>, Failed> {
    match (object, patch) {
        (_, Value::Null) => Ok(object.clone()),
        (Value::Object(_), Value::Object(patch))
            if patch.get(directive::PATCH).and_then(directive::word) == Some(directive::Word::Delete) =>
        {
            Err(FieldPath::ROOT.error(PatchErrorKind::DeletesAll))
        }
        (Value::Object(object), Value::Object(patch)) => {
            maps::merge(object, patch, schema.root(), &FieldPath::ROOT, log)
        }
        (Value::Object(_), other) | (other, _) => {
            Err(FieldPath::ROOT.error(PatchErrorKind::NotAMap(other.kind())))
        }
    }
}
