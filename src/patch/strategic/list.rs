//! Lists that are merged item by item.

use std::collections::hash_map::Entry as Slot;
use std::collections::{HashMap, HashSet};

use super::clean::{self, Nulls};
use super::directive::{self, ORDER, PATCH, Word};
use super::maps::{self, Result};
use super::order::{Entry, arrange, list_of};
use super::scalar::{Scalar, Type, Types, types};
use super::schema::{ListField, Node};
use crate::json::{Object, Value};
use crate::patch::Problem;
use crate::patch::place::Place;

/// A list on its way to its new items.
struct Work<'v, 'a, 's> {
    entries: Vec<Entry<'v, 'a>>,
    /// The keys of those that are to be put in order.
    names: Vec<Scalar<'v>>,
    /// Entries that items of the patch are still to be merged into.
    merges: Vec<(usize, &'v Object<'a>)>,
    /// What is known about the items.
    node: Node<'s>,
}

/// `list` with the items of `patch` merged into it, as `field` says, which does not say that it is replaced.
pub(super) fn merge<'a>(
    list: &Value<'a>,
    patch: &Value<'a>,
    field: ListField<'_>,
    place: &Place<'_>,
) -> Result<Value<'a>> {
    let mut work = begin(items(list), items(patch), field, place)?;
    work.run(place)?;
    Ok(work.finish(Some(list)))
}

fn begin<'v, 'a, 's>(
    before: &'v [Value<'a>],
    with: &'v [Value<'a>],
    field: ListField<'s>,
    place: &Place<'_>,
) -> Result<Box<Work<'v, 'a, 's>>> {
    let types = types(before.iter().chain(with));
    match (field, types) {
        (_, Types::None) => Ok(Box::new(Work::of(Vec::new()))),
        (ListField::Set, Types::One(kind)) if kind != Type::Map => Ok(Box::new(union(before, with))),
        (ListField::Keyed(key, node), Types::One(Type::Map)) => {
            by_key(before, with, key, node, place).map(Box::new)
        }
        _ => Err(place.error(Problem::MixedItems)),
    }
}

/// `list`, if there is one, merged with `patch`, if there is one, and put into the order of `$setElementOrder`; `None` if there
/// is neither.
pub(super) fn put_in_order<'a>(
    lists: (Option<&Value<'a>>, Option<&Value<'a>>),
    order: &Value<'a>,
    field: ListField<'_>,
    name: &str,
    place: &Place<'_>,
) -> Result<Option<Value<'a>>> {
    let Some(mut work) = begin_in_order(lists, order, field, name, place)? else { return Ok(None) };
    work.run(place)?;
    Ok(Some(work.finish(lists.0)))
}

fn begin_in_order<'v, 'a, 's>(
    (list, patch): (Option<&'v Value<'a>>, Option<&'v Value<'a>>),
    order: &'v Value<'a>,
    field: ListField<'s>,
    name: &str,
    place: &Place<'_>,
) -> Result<Option<Box<Work<'v, 'a, 's>>>> {
    for value in [Some(order), list, patch].into_iter().flatten() {
        if value.as_array().is_none() {
            let problem = Problem::NotAList { directive: format!("{ORDER}/{name}"), found: value.kind() };
            return Err(place.error(problem));
        }
    }
    let key = match field {
        ListField::Keyed(key, _) => Some(key),
        ListField::Replaced | ListField::Set => None,
    };
    let (before, with, order) = (list.map_or(&[][..], items), patch.map_or(&[][..], items), items(order));
    if !with.is_empty() && !order.is_empty() && !follows(with, order, key, place)? {
        return Err(place.error(Problem::OutOfOrder(name.to_owned())));
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

    let mut work = match (patch, field) {
        (None, _) => Work::of(existing(before, key, place)?),
        (Some(_), _) if list.is_none() => Work::of(introduced(with, key, place)?),
        (Some(_), ListField::Replaced) => Work::of(added(with, key, place)?),
        (Some(_), ListField::Set) => union(before, with),
        (Some(_), ListField::Keyed(key, node)) => {
            // Also where the items are replaced, all of them need their key.
            existing(before, Some(key), place)?;
            by_key(before, with, key, node, place)?
        }
    };
    stand_where_they_stood(&mut work.entries, before, key, place)?;
    work.names = order.iter().map(|item| identity(item, key, ORDER, place)).collect::<Result<_>>()?;
    // DIFFERENCE: what kubectl does with a new item that the order leaves out depends on how Go sorts.
    let placed: HashSet<&Scalar<'_>> = work.names.iter().collect();
    let rest = || work.entries.iter().filter(|entry| !placed.contains(&entry.key));
    if rest().nth(1).is_some() && rest().any(|entry| entry.before.is_none()) {
        return Err(place.error(Problem::NoPlace(name.to_owned())));
    }
    Ok(Some(Box::new(work)))
}

impl<'a> Work<'_, 'a, '_> {
    fn run(&mut self, place: &Place<'_>) -> Result<()> {
        for (position, item) in std::mem::take(&mut self.merges) {
            self.item(position, item, place)?;
        }
        Ok(())
    }

    fn item(&mut self, position: usize, item: &Object<'a>, place: &Place<'_>) -> Result<()> {
        let entry = &mut self.entries[position];
        if let Value::Object(object) = &entry.value {
            let here = place.item(entry.before.unwrap_or(position));
            entry.value = maps::merge(object, item, self.node, &here)?;
        }
        Ok(())
    }

    fn finish(self, list: Option<&Value<'a>>) -> Value<'a> {
        list_of(list, arrange(self.entries, &self.names))
    }
}

impl<'v, 'a> Work<'v, 'a, '_> {
    /// Entries that only have to be put in order.
    fn of(entries: Vec<Entry<'v, 'a>>) -> Self {
        Work { entries, names: Vec::new(), merges: Vec::new(), node: Node::Open }
    }
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

/// Begins to merge maps that `key` tells apart. The items all are maps.
fn by_key<'v, 'a, 's>(
    before: &'v [Value<'a>],
    patch: &'v [Value<'a>],
    key: &str,
    node: Node<'s>,
    place: &Place<'_>,
) -> Result<Work<'v, 'a, 's>> {
    let mut deleted = HashSet::new();
    let mut plain = Vec::with_capacity(patch.len());
    let mut replace = false;
    for item in patch.iter().filter_map(Value::as_object) {
        match item.get(PATCH).map(directive::word) {
            None => plain.push((named(item, key, place)?, item)),
            Some(Some(Word::Delete)) => drop(deleted.insert(named(item, key, place)?)),
            Some(Some(Word::Replace)) => replace = true,
            Some(None) => return Err(place.error(Problem::UnknownWord)),
        }
    }
    if replace {
        return Ok(Work::of(plain.into_iter().map(|(key, item)| new_entry(key, item)).collect()));
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
    let mut merges = Vec::new();
    for (identity, item) in plain {
        match places.entry(identity) {
            Slot::Vacant(slot) => {
                slot.insert(Found::Added);
                entries.push(new_entry(identity, item));
            }
            // DIFFERENCE: kubectl takes the first item with the key, whatever the others are.
            Slot::Occupied(slot) => match slot.get() {
                Found::Once(position) => merges.push((*position, item)),
                Found::Several => return Err(place.error(Problem::Ambiguous { key: key.to_owned() })),
                Found::Added => return Err(place.error(Problem::AddedTwice { key: key.to_owned() })),
            },
        }
    }
    Ok(Work { entries, names, merges, node })
}

fn new_entry<'v, 'a>(key: Scalar<'v>, item: &Object<'a>) -> Entry<'v, 'a> {
    Entry { key, value: clean::raw(&Value::Object(item.clone())), before: None }
}

/// Where the items with one key are.
#[derive(Clone, Copy)]
enum Found {
    Once(usize),
    Several,
    Added,
}

/// All values of both lists, each once. The items are scalars.
fn union<'v, 'a, 's>(before: &'v [Value<'a>], patch: &'v [Value<'a>]) -> Work<'v, 'a, 's> {
    let mut seen = HashSet::new();
    let places = (0..before.len()).map(Some).chain(std::iter::repeat(None));
    let entries = before.iter().chain(patch).zip(places).filter_map(|(item, place)| {
        let key = Scalar::of(item).filter(|key| seen.insert(*key))?;
        Some(Entry { key, value: item.clone(), before: place })
    });
    let entries = entries.collect();
    Work {
        entries,
        names: patch.iter().filter_map(Scalar::of).collect(),
        merges: Vec::new(),
        node: Node::Open,
    }
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

/// Items that take the place of all others.
fn added<'v, 'a>(with: &'v [Value<'a>], key: Option<&str>, place: &Place<'_>) -> Result<Vec<Entry<'v, 'a>>> {
    let entry = |item: &'v Value<'a>| {
        let identity = identity(item, key, "patch", place)?;
        Ok(Entry { key: identity, value: clean::raw(item), before: None })
    };
    with.iter().map(entry).collect()
}

/// Items of a list that the object does not have.
fn introduced<'v, 'a>(
    with: &'v [Value<'a>],
    key: Option<&str>,
    place: &Place<'_>,
) -> Result<Vec<Entry<'v, 'a>>> {
    let entry = |item: &'v Value<'a>| {
        let value = clean::new(item, Nulls::Keep)?;
        let entry = |key| Entry { key, value, before: None };
        Some(identity(item, key, "patch", place).map(entry))
    };
    with.iter().filter_map(entry).collect()
}

/// Gives items that the patch puts in the place of others with their key the position of those.
///
/// DIFFERENCE: kubectl looks for the position in the list that it has deleted from and added to meanwhile.
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

/// The merge key of an item of a patch: null is none.
fn named<'v>(item: &'v Object<'_>, key: &str, place: &Place<'_>) -> Result<Scalar<'v>> {
    match item.get(key).and_then(Scalar::of) {
        None | Some(Scalar::Null) => {
            Err(place.error(Problem::KeyMissing { key: key.to_owned(), of: "patch" }))
        }
        Some(identity) => Ok(identity),
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
        Some(key) => {
            let missing = || place.error(Problem::KeyMissing { key: key.to_owned(), of });
            item.get(key).and_then(Scalar::of).ok_or_else(missing)
        }
    }
}

fn items<'v, 'a>(list: &'v Value<'a>) -> &'v [Value<'a>] {
    list.as_array().unwrap_or_default()
}
