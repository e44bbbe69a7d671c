//! What a patch does to an object besides what it says.

use crate::json::{Pointer, Value};
use crate::patch::path::FieldPath;

/// A list of maps that was replaced by a shorter one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shortened {
    /// The list in the object.
    pub place: Pointer,
    /// How many items it has less.
    pub removed: usize,
}

/// What was noted while a patch was applied.
#[derive(Debug, Default)]
pub(super) struct Log(Vec<Shortened>);

impl Log {
    /// Notes that `list` is replaced by that many items.
    pub(super) fn replaced(&mut self, list: &[Value<'_>], items: usize, place: &FieldPath<'_>) {
        let removed = list.len().saturating_sub(items);
        if removed > 0 && list.iter().any(|item| item.as_object().is_some()) {
            self.0.push(Shortened { place: place.pointer(), removed });
        }
    }

    pub(super) fn into_shortened(self) -> Vec<Shortened> {
        self.0
    }
}
