//! The order of a merged list.

use std::collections::HashMap;

use super::identity::Identity;
use crate::json::Value;

/// An item of a list that is being merged.
#[derive(Debug)]
pub(super) struct ListEntry<'v, 'a> {
    /// What tells it from the others.
    pub(super) key: Identity<'v>,
    /// The item that it is, of the object or of the patch, before anything is merged into it.
    pub(super) item: &'v Value<'a>,
    pub(super) value: Value<'a>,
    /// Where it stood in the object; `None` if it is new.
    pub(super) before: Option<usize>,
}

/// Puts entries in order: those that are named in the order in which they are named, the others as they stood.
///
/// The two rows are then made one from the front: the next of the others goes first only if it stood before the next of the
/// named ones, which a new one did not stand behind. So a new item comes in front of everything that stands before the next
/// named one, and not at the end.
///
/// DIFFERENCE: kubectl looks the others up by their key, so of several with one key all are drawn to the place of the first. Ours
/// stay where they are.
pub(super) fn arrange<'v, 'a>(
    entries: Vec<ListEntry<'v, 'a>>,
    names: &[Identity<'_>],
) -> Vec<ListEntry<'v, 'a>> {
    let mut places = HashMap::new();
    for (place, name) in names.iter().enumerate() {
        places.entry(name).or_insert(place);
    }
    let size = entries.len();
    let (mut listed, mut rest): (Vec<_>, Vec<_>) =
        entries.into_iter().partition(|entry| places.contains_key(&entry.key));
    listed.sort_by_key(|entry| places.get(&entry.key).copied());
    rest.sort_by_key(|entry| entry.before);
    for position in 1..listed.len() {
        // Several with one key go together.
        if listed[position].key == listed[position - 1].key {
            listed[position].before = listed[position - 1].before;
        }
    }

    let mut all = Vec::with_capacity(size);
    let (mut listed, mut rest) = (listed.into_iter().peekable(), rest.into_iter().peekable());
    loop {
        let next = match (listed.peek(), rest.peek()) {
            (Some(new), Some(old)) => match (old.before, new.before) {
                (Some(left), Some(right)) if left < right => rest.next(),
                _ => listed.next(),
            },
            (Some(_), None) => listed.next(),
            _ => rest.next(),
        };
        match next {
            Some(entry) => all.push(entry),
            None => return all,
        }
    }
}

/// The list of the entries; `list` itself if they are its items and in its order.
pub(super) fn list_of<'a>(list: Option<&Value<'a>>, entries: Vec<ListEntry<'_, 'a>>) -> Value<'a> {
    let same = |items: &[Value<'a>]| {
        items.len() == entries.len()
            && items.iter().zip(&entries).all(|(item, entry)| {
                // A map that was merged and is not the same piece of memory differs: no need to look.
                let merged = entry.before.is_some() && item.as_object().is_some();
                if merged { item.is_same(&entry.value) } else { *item == entry.value }
            })
    };
    match list {
        Some(list) if list.as_array().is_some_and(same) => list.clone(),
        _ => Value::array(entries.into_iter().map(|entry| entry.value).collect()),
    }
}
