//! The order of a merged list.

use std::collections::HashMap;

use super::identity::Identity;
use crate::json::Value;

/// An item of a list while the list is merged.
#[derive(Debug)]
pub(super) struct ListEntry<'v, 'a> {
    pub(super) key: Identity<'v>,
    /// The item of the object or of the patch, before the merge.
    pub(super) item: &'v Value<'a>,
    pub(super) value: Value<'a>,
    /// The position in the object. `None` if the item is new.
    pub(super) before: Option<usize>,
}

/// Puts entries in order: named entries in the order of `names`, the others in their former order.
///
/// The two sequences are merged from the front. The next unnamed entry goes first only if its position was
/// before the next named entry. A new entry has no former position, so it goes before all unnamed entries
/// that follow the preceding named entry.
///
/// DIFFERENCE: kubectl finds the other items by key, so all items with the same key move to the position of
/// the first. Here they keep their positions.
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
        // Entries with the same key stay together.
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

/// The list of the entries. It is `list` itself if nothing changes.
pub(super) fn list_of<'a>(list: Option<&Value<'a>>, entries: Vec<ListEntry<'_, 'a>>) -> Value<'a> {
    let same = |items: &[Value<'a>]| {
        items.len() == entries.len()
            && items.iter().zip(&entries).all(|(item, entry)| {
                // A merged map that is not the same piece of memory is different, so a comparison is not
                // needed.
                let merged = entry.before.is_some() && item.as_object().is_some();
                if merged { item.is_same(&entry.value) } else { *item == entry.value }
            })
    };
    match list {
        Some(list) if list.as_array().is_some_and(same) => list.clone(),
        _ => Value::array(entries.into_iter().map(|entry| entry.value).collect()),
    }
}
