//! Lists that are merged item by item.

use std::collections::hash_map::Entry as Slot;
use std::collections::{HashMap, HashSet};

use super::clean::{self, Nulls};
use super::directive::{self, ORDER, PATCH, Word};
use super::maps;
use super::order::{Entry, arrange, list_of};
use super::scalar::{Scalar, Type, Types, types};
use super::schema::{ListField, Node};
use crate::json::{Object, Value};
use crate::patch::place::Place;
use crate::patch::{PatchError, Problem};

type Result<T> = std::result::Result<T, PatchError>;

/// What came of merging two lists: the items, not yet in order, and the keys that the patch names.
type Merged<'v, 'a> = (Vec<Entry<'v, 'a>>, Vec<Scalar<'v>>);

/// `list` with the items of `patch` merged into it, as `field` says.
pub(super) fn merge<'a>(
    list: &Value<'a>,
    patch: &Value<'a>,
    field: ListField<'_>,
    place: &Place<'_>,
) -> Result<Value<'a>> {
    let (before, with) = (items(list), items(patch));
    if before.is_empty() && with.is_empty() {
        return Ok(list.clone());
    }
    let (entries, names) = match field {
        ListField::Replaced => return Ok(clean::raw(patch)),
        ListField::Set => {
            of_type(before, with, |kind| kind != Type::Map, place)?;
            union(before, with)
        }
        ListField::Keyed(key, node) => {
            of_type(before, with, |kind| kind == Type::Map, place)?;
            by_key(before, with, key, node, place)?
        }
    };
    Ok(list_of(list, arrange(entries, &names)))
}

/// `list`, if there is one, merged with `patch`, if there is one, and put into the order of `$setElementOrder`; `None` if there
/// is neither.
pub(super) fn put_in_order<'a>(
    (list, patch): (Option<&Value<'a>>, Option<&Value<'a>>),
    order: &Value<'a>,
    field: ListField<'_>,
    name: &str,
    place: &Place<'_>,
) -> Result<Option<Value<'a>>> {
    let directive = || format!("{ORDER}/{name}");
    for value in [Some(order), list, patch].into_iter().flatten() {
        if value.as_array().is_none() {
            let problem = Problem::NotAList { directive: directive(), found: value.kind() };
            return Err(place.error(problem));
        }
    }
    let key = match field {
        ListField::Keyed(key, _) => Some(key),
        ListField::Replaced | ListField::Set => None,
    };
    let (before, with, order) = (list.map_or(&[][..], items), patch.map_or(&[][..], items), items(order));
    let out_of_order = || place.error(Problem::OutOfOrder(name.to_owned()));
    if !with.is_empty() && !order.is_empty() && !follows(with, order, key, place)? {
        return Err(out_of_order());
    }
    if list.is_none() && patch.is_none() {
        return Ok(None);
    }
    match types(before.iter().chain(with)) {
        Types::None => return Err(place.error(Problem::NothingToOrder(name.to_owned()))),
        Types::One(Type::Map) if key.is_none() => return Err(place.error(Problem::NoKey)),
        Types::One(kind) if key.is_none() || kind == Type::Map => {}
        Types::One(_) | Types::Mixed => return Err(place.error(Problem::MixedItems)),
    }

    let cleaned: Vec<Value<'a>>;
    let mut entries = match (patch, field) {
        (None, _) => existing(before, key, place)?,
        (Some(_), _) if list.is_none() => {
            cleaned = with.iter().filter_map(|item| clean::new(item, Nulls::Keep)).collect();
            added(&cleaned, key, place)?
        }
        (Some(_), ListField::Replaced) => added(with, key, place)?,
        (Some(_), ListField::Set) => union(before, with).0,
        (Some(_), ListField::Keyed(key, node)) => {
            // Also where the items are replaced, all of them need their key.
            existing(before, Some(key), place)?;
            by_key(before, with, key, node, place)?.0
        }
    };
    stand_where_they_stood(&mut entries, before, key, place)?;
    let names: Vec<Scalar<'_>> =
        order.iter().map(|item| identity(item, key, ORDER, place)).collect::<Result<_>>()?;
    // DIFFERENCE: what kubectl does with a new item that the order leaves out depends on how Go sorts.
    let placed: HashSet<&Scalar<'_>> = names.iter().collect();
    let rest = || entries.iter().filter(|entry| !placed.contains(&entry.key));
    if rest().nth(1).is_some() && rest().any(|entry| entry.before.is_none()) {
        return Err(place.error(Problem::NoPlace(name.to_owned())));
    }
    let all = arrange(entries, &names);
    Ok(Some(match list {
        Some(list) => list_of(list, all),
        None => Value::array(all.into_iter().map(|entry| entry.value).collect()),
    }))
}

/// `list` without the values in `values`.
pub(super) fn take_out<'a>(
    list: &Value<'a>,
    values: &Value<'a>,
    field: ListField<'_>,
    place: &Place<'_>,
) -> Result<Value<'a>> {
    let (before, gone) = (items(list), items(values));
    match types(before.iter().chain(gone)) {
        Types::Mixed => return Err(place.error(Problem::MixedItems)),
        Types::None => return Ok(list.clone()),
        // Of maps it is no more than another way to write the list itself.
        Types::One(Type::Map) => {
            return match field {
                ListField::Keyed(..) => merge(list, values, field, place),
                ListField::Replaced | ListField::Set => Err(place.error(Problem::NoKey)),
            };
        }
        Types::One(_) => {}
    }
    let gone: HashSet<Option<Scalar<'_>>> = gone.iter().map(Scalar::of).collect();
    let kept: Vec<Value<'a>> =
        before.iter().filter(|item| !gone.contains(&Scalar::of(item))).cloned().collect();
    Ok(if kept.len() == before.len() { list.clone() } else { Value::array(kept) })
}

/// Merges maps that `key` tells apart. The items all are maps.
fn by_key<'v, 'a>(
    before: &'v [Value<'a>],
    patch: &'v [Value<'a>],
    key: &str,
    node: Node<'_>,
    place: &Place<'_>,
) -> Result<Merged<'v, 'a>> {
    let mut deleted = HashSet::new();
    let mut plain = Vec::with_capacity(patch.len());
    let mut replace = false;
    for item in patch {
        match item.get(PATCH).map(directive::word) {
            None => plain.push((named(item, key, place)?, item)),
            Some(Some(Word::Delete)) => drop(deleted.insert(named(item, key, place)?)),
            Some(Some(Word::Replace)) => replace = true,
            Some(None) => return Err(place.error(Problem::UnknownWord)),
        }
    }
    if replace {
        let entries =
            plain.into_iter().map(|(key, item)| Entry { key, value: clean::raw(item), before: None });
        return Ok((entries.collect(), Vec::new()));
    }

    let mut entries = Vec::with_capacity(before.len() + plain.len());
    let mut places: HashMap<Scalar<'v>, Found> = HashMap::with_capacity(entries.capacity());
    for entry in existing(before, Some(key), place)? {
        if deleted.contains(&entry.key) {
            continue;
        }
        match places.entry(entry.key) {
            Slot::Vacant(slot) => drop(slot.insert(Found::Once(entries.len()))),
            Slot::Occupied(mut slot) => drop(slot.insert(Found::Several)),
        }
        entries.push(entry);
    }
    let names = plain.iter().map(|(key, _)| *key).collect();
    for (identity, item) in plain {
        let slot = match places.entry(identity) {
            Slot::Vacant(slot) => {
                slot.insert(Found::Added);
                entries.push(Entry { key: identity, value: clean::raw(item), before: None });
                continue;
            }
            Slot::Occupied(slot) => *slot.get(),
        };
        // DIFFERENCE: kubectl takes the first item with the key, whatever the others are.
        let position = match slot {
            Found::Once(position) => position,
            Found::Several => return Err(place.error(Problem::Ambiguous { key: key.to_owned() })),
            Found::Added => return Err(place.error(Problem::AddedTwice { key: key.to_owned() })),
        };
        let entry: &mut Entry<'v, 'a> = &mut entries[position];
        let empty = Object::new();
        let here = place.item(entry.before.unwrap_or(position));
        entry.value = maps::merge(
            entry.value.as_object().unwrap_or(&empty),
            item.as_object().unwrap_or(&empty),
            node,
            &here,
        )?;
    }
    Ok((entries, names))
}

/// Where the items with one key are.
#[derive(Clone, Copy)]
enum Found {
    Once(usize),
    Several,
    Added,
}

/// All values of both lists, each once. The items are scalars.
fn union<'v, 'a>(before: &'v [Value<'a>], patch: &'v [Value<'a>]) -> Merged<'v, 'a> {
    let mut seen = HashSet::new();
    let places = (0..before.len()).map(Some).chain(std::iter::repeat(None));
    let entries = before.iter().chain(patch).zip(places).filter_map(|(item, place)| {
        let key = Scalar::of(item).filter(|key| seen.insert(*key))?;
        Some(Entry { key, value: item.clone(), before: place })
    });
    (entries.collect(), patch.iter().filter_map(Scalar::of).collect())
}

/// The items of the list in the object.
fn existing<'v, 'a>(
    before: &'v [Value<'a>],
    key: Option<&str>,
    place: &Place<'_>,
) -> Result<Vec<Entry<'v, 'a>>> {
    let entry = |(position, item): (usize, &'v Value<'a>)| {
        let identity = identity(item, key, "object", &place.item(position))?;
        Ok(Entry { key: identity, value: item.clone(), before: Some(position) })
    };
    before.iter().enumerate().map(entry).collect()
}

/// Items that the object did not have.
fn added<'v, 'a>(with: &'v [Value<'a>], key: Option<&str>, place: &Place<'_>) -> Result<Vec<Entry<'v, 'a>>> {
    let entry = |item: &'v Value<'a>| {
        let identity = identity(item, key, "patch", place)?;
        Ok(Entry { key: identity, value: clean::raw(item), before: None })
    };
    with.iter().map(entry).collect()
}

/// Gives items that the patch puts in the place of others with their key the position of those.
fn stand_where_they_stood<'v, 'a>(
    entries: &mut [Entry<'v, 'a>],
    before: &'v [Value<'a>],
    key: Option<&str>,
    place: &Place<'_>,
) -> Result<()> {
    if entries.iter().all(|entry| entry.before.is_some()) {
        return Ok(());
    }
    let mut positions = HashMap::new();
    for entry in existing(before, key, place)? {
        positions.entry(entry.key).or_insert(entry.before);
    }
    for entry in entries.iter_mut().filter(|entry| entry.before.is_none()) {
        entry.before = positions.get(&entry.key).copied().flatten();
    }
    Ok(())
}

/// Whether the items of the patch that have no `$patch` come in the order of the directive.
fn follows<'a>(
    patch: &[Value<'a>],
    order: &[Value<'a>],
    key: Option<&str>,
    place: &Place<'_>,
) -> Result<bool> {
    let word = |item: &Value<'a>| if key.is_some() { item.get(PATCH).map(directive::word) } else { None };
    let mut rest = patch.iter().filter(|item| word(item) != Some(Some(Word::Delete))).peekable();
    let mut order = order.iter().peekable();
    while let (Some(item), Some(next)) = (rest.peek(), order.peek()) {
        if word(item).is_none() {
            if identity(item, key, "patch", place)? != identity(next, key, ORDER, place)? {
                order.next();
                continue;
            }
            order.next();
        }
        rest.next();
    }
    Ok(rest.peek().is_none())
}

/// The merge key of an item of a patch, which says something: null is no key.
fn named<'v>(item: &'v Value<'_>, key: &str, place: &Place<'_>) -> Result<Scalar<'v>> {
    match identity(item, Some(key), "patch", place)? {
        Scalar::Null => Err(place.error(Problem::KeyMissing { key: key.to_owned(), of: "patch" })),
        identity => Ok(identity),
    }
}

/// What tells an item from the others: its merge key, or the item itself where there is none.
fn identity<'v>(
    item: &'v Value<'_>,
    key: Option<&str>,
    of: &'static str,
    place: &Place<'_>,
) -> Result<Scalar<'v>> {
    match key {
        None => Scalar::of(item).ok_or_else(|| place.error(Problem::MixedItems)),
        Some(key) => item
            .get(key)
            .and_then(Scalar::of)
            .ok_or_else(|| place.error(Problem::KeyMissing { key: key.to_owned(), of })),
    }
}

/// Makes sure that all items are of one type, and of one that will do.
fn of_type<'a>(
    before: &[Value<'a>],
    patch: &[Value<'a>],
    will_do: impl Fn(Type) -> bool,
    place: &Place<'_>,
) -> Result<()> {
    match types(before.iter().chain(patch)) {
        Types::One(kind) if will_do(kind) => Ok(()),
        _ => Err(place.error(Problem::MixedItems)),
    }
}

fn items<'v, 'a>(list: &'v Value<'a>) -> &'v [Value<'a>] {
    list.as_array().unwrap_or_default()
}
