//! Merges lists item by item.

use std::collections::hash_map::Entry as Slot;
use std::collections::{HashMap, HashSet};

use super::clean::{self, Nulls};
use super::directive::{self, ORDER, PATCH, Word};
use super::identity::{Identity, Naming};
use super::log::Log;
use super::maps::{self, Result};
use super::order::{ListEntry, arrange, list_of};
use super::scalar::{Scalar, Type, Types, types};
use super::schema::{Keys, ListField, SchemaNode};
use crate::json::{Object, Value};
use crate::patch::PatchErrorKind;
use crate::patch::path::FieldPath;

/// A list while it is merged.
struct Work<'v, 'a, 's> {
    entries: Vec<ListEntry<'v, 'a>>,
    /// The identities of the items in their new order.
    names: Vec<Identity<'v>>,
    /// The positions of entries, each with the item of the patch to merge into it.
    merges: Vec<(usize, &'v Object<'a>)>,
    /// The schema of the items.
    node: SchemaNode<'s>,
}

/// `list` with the items of `patch` merged into it as `field` defines. `field` must not be a replaced list.
pub(super) fn merge<'a>(
    list: &Value<'a>,
    patch: &Value<'a>,
    field: ListField<'_>,
    place: &FieldPath<'_>,
    log: &mut Log,
) -> Result<Value<'a>> {
    let mut work = begin(items(list), items(patch), field, place)?;
    work.run(place, log)?;
    Ok(work.finish(Some(list)))
}

fn begin<'v, 'a, 's>(
    before: &'v [Value<'a>],
    with: &'v [Value<'a>],
    field: ListField<'s>,
    place: &FieldPath<'_>,
) -> Result<Box<Work<'v, 'a, 's>>> {
    let types = types(before.iter().chain(with));
    match (field, types) {
        (_, Types::None) => Ok(Box::new(Work::of(Vec::new()))),
        (ListField::Set, Types::One(kind)) if kind != Type::Map => Ok(Box::new(union(before, with))),
        (ListField::Keyed(keys, node), Types::One(Type::Map)) => {
            by_key(before, with, keys, node, place).map(Box::new)
        }
        _ => Err(place.error(PatchErrorKind::MixedItems)),
    }
}

/// Merges `list` with `patch`, and puts the result into the order of `$setElementOrder`. Both may be missing.
/// `None` if both are.
pub(super) fn put_in_order<'a>(
    lists: (Option<&Value<'a>>, Option<&Value<'a>>),
    order: &Value<'a>,
    field: ListField<'_>,
    name: &str,
    place: &FieldPath<'_>,
    log: &mut Log,
) -> Result<Option<Value<'a>>> {
    let Some(mut work) = begin_in_order(lists, order, field, name, place)? else { return Ok(None) };
    work.run(place, log)?;
    Ok(Some(work.finish(lists.0)))
}

fn begin_in_order<'v, 'a, 's>(
    (list, patch): (Option<&'v Value<'a>>, Option<&'v Value<'a>>),
    order: &'v Value<'a>,
    field: ListField<'s>,
    name: &str,
    place: &FieldPath<'_>,
) -> Result<Option<Box<Work<'v, 'a, 's>>>> {
    for value in [Some(order), list, patch].into_iter().flatten() {
        if value.as_array().is_none() {
            let problem =
                PatchErrorKind::NotAList { directive: format!("{ORDER}/{name}"), found: value.kind() };
            return Err(place.error(problem));
        }
    }
    let keys = match field {
        ListField::Keyed(keys, _) => Some(keys),
        ListField::Replaced | ListField::Set => None,
    };
    let (before, with, order) = (list.map_or(&[][..], items), patch.map_or(&[][..], items), items(order));
    let plain = with.iter().filter(|item| item.get(PATCH).is_none());
    let naming = Naming::for_order(keys, order.iter().chain(plain));
    if !with.is_empty() && !order.is_empty() && !follows(with, order, &naming, place)? {
        return Err(place.error(PatchErrorKind::OutOfOrder(name.to_owned())));
    }
    if list.is_none() && patch.is_none() {
        return Ok(None);
    }
    match types(before.iter().chain(with)) {
        Types::None => return Err(place.error(PatchErrorKind::NothingToOrder(name.to_owned()))),
        Types::One(Type::Map) if keys.is_none() => return Err(place.error(PatchErrorKind::NoKey)),
        Types::One(kind) if keys.is_none() || kind == Type::Map => {}
        Types::One(_) | Types::Mixed => return Err(place.error(PatchErrorKind::MixedItems)),
    }

    let mut work = match (patch, field) {
        (None, _) => Work::of(existing(before, &naming, place)?),
        (Some(_), _) if list.is_none() => Work::of(introduced(with, &naming, place)?),
        (Some(_), ListField::Replaced) => Work::of(added(with, &naming, place)?),
        (Some(_), ListField::Set) => union(before, with),
        (Some(_), ListField::Keyed(keys, node)) => {
            // All items need their key, also if the patch replaces them.
            existing(before, &naming, place)?;
            by_key(before, with, keys, node, place)?
        }
    };
    // The order uses the keys in the directive, which may differ from the keys of the merge.
    for entry in &mut work.entries {
        entry.key = match entry.before {
            Some(_) => naming.of_object(entry.item, place)?,
            None => naming.of_patch(entry.item, "patch", place)?,
        };
    }
    stand_where_they_stood(&mut work.entries, before, &naming, place)?;
    work.names = order.iter().map(|item| naming.of_patch(item, ORDER, place)).collect::<Result<_>>()?;
    // DIFFERENCE: where kubectl puts a new item that the order does not list depends on the sort algorithm of
    // Go.
    let placed: HashSet<&Identity<'_>> = work.names.iter().collect();
    let rest = || work.entries.iter().filter(|entry| !placed.contains(&entry.key));
    if rest().nth(1).is_some() && rest().any(|entry| entry.before.is_none()) {
        return Err(place.error(PatchErrorKind::NoPlace(name.to_owned())));
    }
    Ok(Some(Box::new(work)))
}

impl<'a> Work<'_, 'a, '_> {
    fn run(&mut self, place: &FieldPath<'_>, log: &mut Log) -> Result<()> {
        for (position, item) in std::mem::take(&mut self.merges) {
            self.item(position, item, place, log)?;
        }
        Ok(())
    }

    fn item(
        &mut self,
        position: usize,
        item: &Object<'a>,
        place: &FieldPath<'_>,
        log: &mut Log,
    ) -> Result<()> {
        let entry = &mut self.entries[position];
        if let Value::Object(object) = &entry.value {
            let here = place.item(entry.before.unwrap_or(position));
            entry.value = maps::merge(object, item, self.node, &here, log)?;
        }
        Ok(())
    }

    fn finish(self, list: Option<&Value<'a>>) -> Value<'a> {
        list_of(list, arrange(self.entries, &self.names))
    }
}

impl<'v, 'a> Work<'v, 'a, '_> {
    /// Entries without merges, in their order.
    fn of(entries: Vec<ListEntry<'v, 'a>>) -> Self {
        Work { entries, names: Vec::new(), merges: Vec::new(), node: SchemaNode::OPEN }
    }
}

/// `list` without the values in `values`.
pub(super) fn take_out<'a>(
    list: &Value<'a>,
    values: &Value<'a>,
    field: ListField<'_>,
    place: &FieldPath<'_>,
    log: &mut Log,
) -> Result<Value<'a>> {
    let (before, gone) = (items(list), items(values));
    match types(before.iter().chain(gone)) {
        Types::Mixed => return Err(place.error(PatchErrorKind::MixedItems)),
        Types::None => return Ok(list.clone()),
        // For a list of maps, the directive is another spelling of a patch of the list.
        Types::One(Type::Map) => {
            return match field {
                ListField::Keyed(..) => merge(list, values, field, place, log),
                ListField::Replaced | ListField::Set => Err(place.error(PatchErrorKind::NoKey)),
            };
        }
        Types::One(_) => {}
    }
    let gone: HashSet<Option<Scalar<'_>>> = gone.iter().map(Scalar::of).collect();
    let kept: Vec<Value<'a>> =
        before.iter().filter(|item| !gone.contains(&Scalar::of(item))).cloned().collect();
    Ok(if kept.len() == before.len() { list.clone() } else { Value::array(kept) })
}

/// Starts a merge by `keys`. All items are maps.
fn by_key<'v, 'a, 's>(
    before: &'v [Value<'a>],
    patch: &'v [Value<'a>],
    keys: Keys<'s>,
    node: SchemaNode<'s>,
    place: &FieldPath<'_>,
) -> Result<Work<'v, 'a, 's>> {
    let mut naming = Naming::new(Some(keys));
    let mut deleted = HashSet::new();
    let mut plain = Vec::with_capacity(patch.len());
    let mut replaces = false;
    for item in patch {
        match item.get(PATCH).map(directive::word) {
            None => plain.push((naming.of_patch(item, "patch", place)?, item)),
            Some(Some(Word::Delete)) => drop(deleted.insert(naming.of_deletion(item, place)?)),
            Some(Some(Word::Replace)) => replaces = true,
            Some(None) => return Err(place.error(PatchErrorKind::UnknownWord)),
        }
    }
    if replaces {
        return Ok(Work::of(plain.into_iter().map(|(key, item)| new_entry(key, item)).collect()));
    }

    let mut kept = existing(before, &naming, place)?;
    if !deleted.is_empty() {
        kept.retain(|entry| !naming.is_deleted(&entry.key, entry.item, &deleted));
    }
    naming.refine(kept.iter().map(|entry| entry.item), plain.iter().map(|(_, item)| *item));
    if naming.is_refined() {
        for entry in &mut kept {
            entry.key = naming.of_object(entry.item, place)?;
        }
        for (key, item) in &mut plain {
            *key = naming.of_patch(item, "patch", place)?;
        }
    }
    join(kept, plain, &naming, node, place)
}

/// Finds the entry for each item of the patch. New items are added.
fn join<'v, 'a, 's>(
    mut entries: Vec<ListEntry<'v, 'a>>,
    patch: Vec<(Identity<'v>, &'v Value<'a>)>,
    naming: &Naming<'v, '_>,
    node: SchemaNode<'s>,
    place: &FieldPath<'_>,
) -> Result<Work<'v, 'a, 's>> {
    let mut places: HashMap<Identity<'v>, Found> = HashMap::with_capacity(entries.len() + patch.len());
    for (position, entry) in entries.iter().enumerate() {
        match places.entry(entry.key.clone()) {
            Slot::Vacant(slot) => drop(slot.insert(Found::Once(position))),
            Slot::Occupied(mut slot) => drop(slot.insert(Found::Several)),
        }
    }
    let names = patch.iter().map(|(key, _)| key.clone()).collect();
    let mut merges = Vec::new();
    for (identity, item) in patch {
        match places.entry(identity) {
            Slot::Vacant(slot) => {
                entries.push(new_entry(slot.key().clone(), item));
                slot.insert(Found::Added);
            }
            // DIFFERENCE: kubectl takes the first item with the key and ignores the others.
            Slot::Occupied(slot) => match slot.get() {
                Found::Once(position) => merges.extend(item.as_object().map(|item| (*position, item))),
                Found::Several => {
                    return Err(place.error(PatchErrorKind::Ambiguous { key: naming.label(), lacks: None }));
                }
                Found::Added => return Err(place.error(PatchErrorKind::AddedTwice { key: naming.label() })),
            },
        }
    }
    Ok(Work { entries, names, merges, node })
}

fn new_entry<'v, 'a>(key: Identity<'v>, item: &'v Value<'a>) -> ListEntry<'v, 'a> {
    ListEntry { key, item, value: clean::raw(item), before: None }
}

/// The position of the items with one key.
#[derive(Clone, Copy)]
enum Found {
    Once(usize),
    Several,
    Added,
}

/// The values of both lists without repetitions. All items are scalars.
fn union<'v, 'a, 's>(before: &'v [Value<'a>], patch: &'v [Value<'a>]) -> Work<'v, 'a, 's> {
    let mut seen = HashSet::new();
    let places = (0..before.len()).map(Some).chain(std::iter::repeat(None));
    let entries = before.iter().chain(patch).zip(places).filter_map(|(item, place)| {
        let key = Scalar::of(item).filter(|key| seen.insert(*key))?;
        Some(ListEntry { key: Identity::One(key), item, value: item.clone(), before: place })
    });
    let entries = entries.collect();
    Work {
        entries,
        names: patch.iter().filter_map(Scalar::of).map(Identity::One).collect(),
        merges: Vec::new(),
        node: SchemaNode::OPEN,
    }
}

/// Entries for the items of the object.
fn existing<'v, 'a>(
    before: &'v [Value<'a>],
    naming: &Naming<'v, '_>,
    place: &FieldPath<'_>,
) -> Result<Vec<ListEntry<'v, 'a>>> {
    let entry = |(position, item): (usize, &'v Value<'a>)| {
        let key = naming.of_object(item, &place.item(position))?;
        Ok(ListEntry { key, item, value: item.clone(), before: Some(position) })
    };
    before.iter().enumerate().map(entry).collect()
}

/// Entries for items that replace all others.
fn added<'v, 'a>(
    with: &'v [Value<'a>],
    naming: &Naming<'v, '_>,
    place: &FieldPath<'_>,
) -> Result<Vec<ListEntry<'v, 'a>>> {
    let entry = |item: &'v Value<'a>| Ok(new_entry(naming.of_patch(item, "patch", place)?, item));
    with.iter().map(entry).collect()
}

/// Entries for the items of a list that the object does not have.
fn introduced<'v, 'a>(
    with: &'v [Value<'a>],
    naming: &Naming<'v, '_>,
    place: &FieldPath<'_>,
) -> Result<Vec<ListEntry<'v, 'a>>> {
    let entry = |item: &'v Value<'a>| {
        let value = clean::new(item, Nulls::Keep)?;
        let entry = |key| ListEntry { key, item, value, before: None };
        Some(naming.of_patch(item, "patch", place).map(entry))
    };
    with.iter().filter_map(entry).collect()
}

/// Items of the patch that replace others with the same key take their position.
///
/// DIFFERENCE: kubectl looks for the position in the list after deletions and additions.
fn stand_where_they_stood<'v, 'a>(
    entries: &mut [ListEntry<'v, 'a>],
    before: &'v [Value<'a>],
    naming: &Naming<'v, '_>,
    place: &FieldPath<'_>,
) -> Result<()> {
    if entries.iter().all(|entry| entry.before.is_some()) {
        return Ok(());
    }
    let mut positions = HashMap::new();
    for entry in existing(before, naming, place)? {
        positions.entry(entry.key).or_insert(entry.before);
    }
    for entry in entries.iter_mut().filter(|entry| entry.before.is_none()) {
        entry.before = positions.get(&entry.key).copied().flatten();
    }
    Ok(())
}

/// Whether the items of the patch without `$patch` are in the order of the directive.
fn follows<'v, 'a>(
    patch: &'v [Value<'a>],
    order: &'v [Value<'a>],
    naming: &Naming<'v, '_>,
    place: &FieldPath<'_>,
) -> Result<bool> {
    let word =
        |item: &Value<'a>| if naming.is_by_key() { item.get(PATCH).map(directive::word) } else { None };
    let mut rest = patch.iter().filter(|item| word(item) != Some(Some(Word::Delete))).peekable();
    let mut order = order.iter().peekable();
    while let (Some(item), Some(next)) = (rest.peek(), order.peek()) {
        if word(item).is_none() {
            if naming.of_patch(item, "patch", place)? != naming.of_patch(next, ORDER, place)? {
                order.next();
                continue;
            }
            order.next();
        }
        rest.next();
    }
    Ok(rest.peek().is_none())
}

fn items<'v, 'a>(list: &'v Value<'a>) -> &'v [Value<'a>] {
    list.as_array().unwrap_or_default()
}
