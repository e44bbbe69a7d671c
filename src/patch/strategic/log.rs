//! Records side effects of a patch, for warnings.

use crate::json::{Pointer, Value};
use crate::patch::path::FieldPath;

/// A list of maps that was replaced by a shorter list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shortened {
    /// The list in the object.
    pub place: Pointer,
    /// The number of items lost.
    pub removed: usize,
}

/// The side effects of a patch so far.
#[derive(Debug, Default)]
pub(super) struct Log(Vec<Shortened>);

impl Log {
    /// Records that `list` was replaced by a list with `items` items.
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
