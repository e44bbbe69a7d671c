//! How a revision is undone.
//!
//! An [`Undo`] holds each place that a revision changed, with the value before and the value written. The
//! written value makes it safe: [`Undo::apply`] fails where another writer has changed it since. What others
//! add *beside* our changes is left unchanged.
//!
//! * `undo(f(x)) = x` by every byte: nulls, empty maps, the order of members, the spelling of numbers.
//! * It is kept in an annotation ([`Undo::to_text`], [`Undo::from_value`]), and an API server stores the
//!   object meanwhile: numbers come back in another spelling, members in another order, and Karmada's webhook
//!   adds labels and annotations. Values are therefore compared as an API server stores them, and labels and
//!   annotations are undone one by one even if we made the map.

mod apply;
mod record;
mod text;

#[cfg(test)]
mod tests;

pub use apply::UndoError;
pub use text::UndoTextError;

use crate::json::{Pointer, Value};

/// The changes of a revision, in order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Undo<'a>(Vec<UndoStep<'a>>);

#[derive(Clone, Debug, PartialEq)]
struct UndoStep<'a> {
    place: Pointer,
    /// The value before; `None` if the place was missing.
    was: Option<Value<'a>>,
    /// The value written; `None` if the place was removed.
    wrote: Option<Value<'a>>,
    /// The position of a member that was removed from a map.
    position: Option<usize>,
    /// The length of the list after an item was added or removed.
    length: Option<usize>,
}

impl Undo<'_> {
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The same, independent of the text that the object was read from.
    pub fn into_owned(self) -> Undo<'static> {
        let owned = |step: UndoStep<'_>| UndoStep {
            place: step.place,
            was: step.was.map(Value::into_owned),
            wrote: step.wrote.map(Value::into_owned),
            position: step.position,
            length: step.length,
        };
        Undo(self.0.into_iter().map(owned).collect())
    }
}
