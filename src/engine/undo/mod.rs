//! How a revision is taken back.
//!
//! An [`Undo`] holds what a revision changed: each place with what was there and what was written. What was written is
//! what makes it safe: [`Undo::apply`] takes back only what still stands, so that an edit of somebody else is found and not
//! overwritten. What others put *beside* our changes stays where it is.
//!
//! * `undo(f(x)) = x` by every byte: nulls, empty maps, the order of members, the spelling of numbers.
//! * It is kept in an annotation ([`Undo::to_text`], [`Undo::from_value`]), and the object goes through an API server
//!   meanwhile: numbers come back in another spelling, members in another order, and Karmada's webhook adds labels and
//!   annotations. Hence [`stands`](stands::stands), and labels and annotations one by one even if we made the map.

mod apply;
mod record;
mod stands;
mod text;

#[cfg(test)]
mod tests;

pub use apply::UndoError;
pub use text::UndoTextError;

use crate::json::{Pointer, Value};

/// What a revision changed, in the order in which it did.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Undo<'a>(Vec<UndoStep<'a>>);

/// One change.
#[derive(Clone, Debug, PartialEq)]
struct UndoStep<'a> {
    place: Pointer,
    /// What was there; `None` for nothing.
    was: Option<Value<'a>>,
    /// What was written; `None` for what was taken away.
    wrote: Option<Value<'a>>,
    /// Which member it was, of a map that it was taken out of.
    position: Option<usize>,
    /// How many items the list has since, where one was put in or taken out.
    length: Option<usize>,
}

impl Undo<'_> {
    /// Whether there is nothing to take back.
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
