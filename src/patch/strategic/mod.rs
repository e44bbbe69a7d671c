//! Strategic merge patch, as in kubectl and the API server.
//!
//! The rules are those of `kubectl patch --type strategic`. Its results are recorded in
//! tests/data/strategic.jsonl, and tests compare this implementation with them. Intended differences have a
//! comment `DIFFERENCE` in the code:
//!
//! * No directive (`$patch`, `$retainKeys`, `$setElementOrder/…`, `$deleteFromPrimitiveList/…`) is left in an
//!   object.
//! * Where kubectl panics or its result is accidental (the order of a Go map, the first of several items with
//!   one key), the result is an error with advice.
//! * A list where a built-in kind has a map, or a map where it has a scalar, is an error.
//! * Custom kinds are merged as their [`Schema`] defines.
//! * Lists are merged by the keys that are [declared](Declared) for them. No patch can address an item of the
//!   object that lacks one of these keys, so it stays unchanged.
//! * Where the merge key is not enough, all keys of server-side apply identify an item: 53/TCP and 53/UDP are
//!   two ports. An item with `$patch: delete` that has all of these keys deletes only the item that has all
//!   of them.
//! * In a list that is replaced, an item with `$patch: delete` is an error, and an item with only `$patch:
//!   replace` is dropped.
//! * Several items with the same key keep their places if the patch does not name the key.
//! * The order of a list is the order before any deletion.
//! * [`check`] refuses a directive that no object can satisfy.
//!
//! Values that a patch does not mention share their memory with the object. Time is linear in the size of the
//! object and the patch: fields and items are found by index, and only lists with `$setElementOrder` are
//! sorted.
//!
//! `maps` and `list` call each other as deep as values are nested, which
//! [`MAX_DEPTH`](crate::json::MAX_DEPTH) bounds. Their stack frames are kept small: code that needs more
//! stack is in separate functions.

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

/// The result of a patch.
#[derive(Clone, Debug)]
pub struct Merged<'a> {
    /// The object with the patch merged into it.
    pub value: Value<'a>,
    /// The lists of maps that the patch shortened without `$patch: replace` and without an empty list.
    pub shortened: Vec<Shortened>,
}

/// Merges `patch` into `object`. `null` is a patch that changes nothing.
///
/// The place of an error is in the object. A patch that [`check`] refuses may still succeed here, depending
/// on the object.
pub fn merge<'a>(object: &Value<'a>, patch: &Value<'a>, schema: &Schema) -> Result<Merged<'a>, PatchError> {
    let mut log = Log::default();
    let value = root(object, patch, schema, &mut log).map_err(PatchError::from)?;
    Ok(Merged { value, shortened: log.into_shortened() })
}

/// The value that [`merge`] returns.
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
