//! The keys of a patch that say how it is meant.

/// `$patch`: what to do with the map or list that it is in.
pub(super) const PATCH: &str = "$patch";
/// `$retainKeys`: the only fields that stay.
pub(super) const RETAIN: &str = "$retainKeys";
/// `$setElementOrder/x`: the order of the list `x`.
pub(super) const ORDER: &str = "$setElementOrder";
/// `$deleteFromPrimitiveList/x`: values to take out of the list `x`.
pub(super) const DELETE: &str = "$deleteFromPrimitiveList";

/// A key of a patch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Key<'k> {
    /// The name of a field.
    Field,
    Patch,
    Retain,
    /// With the name of the list; `None` if it has none.
    Order(Option<&'k str>),
    /// With the name of the list; `None` if it has none.
    Delete(Option<&'k str>),
}

/// What a key of a patch is. Whatever begins like one of the two directives with a name is taken for it.
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

/// What `$patch` says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Word {
    Replace,
    Delete,
}

/// The word of a `$patch`, if it is one that can be done.
pub(super) fn word(value: &crate::json::Value<'_>) -> Option<Word> {
    match value.as_str() {
        Some("replace") => Some(Word::Replace),
        Some("delete") => Some(Word::Delete),
        _ => None,
    }
}
