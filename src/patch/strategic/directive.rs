//! The directives of a strategic merge patch.

/// `$patch`: what to do with the map or list that contains it.
pub(super) const PATCH: &str = "$patch";
/// `$retainKeys`: the only fields to keep.
pub(super) const RETAIN: &str = "$retainKeys";
/// `$setElementOrder/x`: the order of the list `x`.
pub(super) const ORDER: &str = "$setElementOrder";
/// `$deleteFromPrimitiveList/x`: values to remove from the list `x`.
pub(super) const DELETE: &str = "$deleteFromPrimitiveList";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Key<'k> {
    /// The name of a field.
    Field,
    Patch,
    Retain,
    /// The name of the list. `None` if it is missing.
    Order(Option<&'k str>),
    /// The name of the list. `None` if it is missing.
    Delete(Option<&'k str>),
}

/// Parses a key of a patch. A key with the prefix of a directive about a list is that directive.
pub(super) fn read(key: &str) -> Key<'_> {
    if !key.starts_with('$') {
        return Key::Field;
    }
    let list = |directive: &str| key[directive.len()..].strip_prefix('/');
    match key {
        PATCH => Key::Patch,
        RETAIN => Key::Retain,
        _ if key.starts_with(ORDER) => Key::Order(list(ORDER)),
        _ if key.starts_with(DELETE) => Key::Delete(list(DELETE)),
        _ => Key::Field,
    }
}

/// Whether a key of a patch is a directive about the list `name`.
pub fn is_directive(key: &str, name: &str) -> bool {
    matches!(read(key), Key::Order(Some(list)) | Key::Delete(Some(list)) if list == name)
}

/// The value of `$patch`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Word {
    Replace,
    Delete,
}

/// Parses the value of `$patch`. `None` if it is unknown.
pub(super) fn word(value: &crate::json::Value<'_>) -> Option<Word> {
    match value.as_str() {
        Some("replace") => Some(Word::Replace),
        Some("delete") => Some(Word::Delete),
        _ => None,
    }
}
