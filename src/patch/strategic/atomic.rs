//! Lists that are replaced as a whole.

use super::clean;
use super::directive::{self, PATCH, Word};
use super::log::Log;
use super::maps::Result;
use crate::json::Value;
use crate::patch::PatchErrorKind;
use crate::patch::path::FieldPath;

/// The result of replacing `list` with `patch`.
///
/// DIFFERENCE: kubectl ignores `$patch` in such a list and leaves it in the items. The item to delete would
/// then be the only item left.
pub(super) fn replace<'a>(
    list: &[Value<'a>],
    patch: &[Value<'a>],
    place: &FieldPath<'_>,
    log: &mut Log,
) -> Result<Value<'a>> {
    let mut is_meant = patch.is_empty();
    for word in patch.iter().filter_map(|item| item.get(PATCH)) {
        match directive::word(word) {
            Some(Word::Replace) => is_meant = true,
            Some(Word::Delete) => return Err(place.error(PatchErrorKind::DeletesOfWhole)),
            None => return Err(place.error(PatchErrorKind::UnknownWord)),
        }
    }
    let items: Vec<Value<'a>> = patch.iter().filter(|item| !says_only_that(item)).map(clean::raw).collect();
    if !is_meant {
        log.replaced(list, items.len(), place);
    }
    Ok(Value::array(items))
}

/// Whether an item contains only `$patch`.
fn says_only_that(item: &Value<'_>) -> bool {
    item.as_object().is_some_and(|item| item.len() == 1 && item.get(PATCH).is_some())
}
