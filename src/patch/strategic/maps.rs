//! Merges maps field by field.

use std::collections::HashSet;

use super::atomic;
use super::clean::{self, Nulls};
use super::directive::{self, DELETE, Key, PATCH, RETAIN, Word};
use super::list;
use super::log::Log;
use super::scalar::Scalar;
use super::schema::{ListField, MapField, SchemaNode};
use crate::json::{Index, Object, Value};
use crate::patch::PatchErrorKind;
use crate::patch::edits::Edits;
use crate::patch::path::{Failed, FieldPath};

pub(super) type Result<T> = std::result::Result<T, Failed>;

/// `object` with `patch` merged into it. It is the same piece of memory if nothing changes.
pub(super) fn merge<'a>(
    object: &Object<'a>,
    patch: &Object<'a>,
    node: SchemaNode<'_>,
    place: &FieldPath<'_>,
    log: &mut Log,
) -> Result<Value<'a>> {
    if let Some(word) = patch.get(PATCH) {
        return follow(word, object, patch, place);
    }
    let mut walk = MapMerge::begin(object, patch, node, place)?;
    for (name, order) in orders(patch) {
        walk.order(name, order, log)?;
    }
    for (name, value) in patch.iter() {
        walk.field(name, value, log)?;
    }
    walk.deletes(patch, log)?;
    Ok(walk.edits.finish())
}

/// Applies `$patch` to a map.
fn follow<'a>(
    word: &Value<'a>,
    object: &Object<'a>,
    patch: &Object<'a>,
    place: &FieldPath<'_>,
) -> Result<Value<'a>> {
    let present = Value::Object(object.clone());
    let new = match directive::word(word) {
        Some(Word::Replace) => clean::raw(&Value::Object(patch.clone())),
        Some(Word::Delete) => Value::empty_object(),
        None => return Err(place.error(PatchErrorKind::UnknownWord)),
    };
    Ok(if present == new { present } else { new })
}

/// The `$setElementOrder` directives of a map: the name of the list, if the directive has one, and the order.
fn orders<'p, 'a>(patch: &'p Object<'a>) -> impl Iterator<Item = (Option<&'p str>, &'p Value<'a>)> {
    patch.iter().filter_map(|(key, order)| match directive::read(key) {
        Key::Order(name) => Some((name, order)),
        _ => None,
    })
}

/// The fields that `$retainKeys` keeps. Fails if the patch sets a field that is not among them.
fn retained<'p>(
    listed: &'p Value<'_>,
    patch: &Object<'_>,
    place: &FieldPath<'_>,
) -> Result<HashSet<&'p str>> {
    let Some(items) = listed.as_array() else {
        let problem = PatchErrorKind::NotAList { directive: RETAIN.to_owned(), found: listed.kind() };
        return Err(place.error(problem));
    };
    let mut names = HashSet::with_capacity(items.len());
    for item in items {
        match item {
            Value::String(name) => drop(names.insert(name.as_ref())),
            Value::Array(_) | Value::Object(_) => {
                let problem = PatchErrorKind::BadItem { directive: RETAIN.to_owned(), found: item.kind() };
                return Err(place.error(problem));
            }
            // These are not names of fields.
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
    for (name, value) in patch.iter() {
        if directive::read(name) == Key::Field && !value.is_null() && !names.contains(name) {
            return Err(place.error(PatchErrorKind::NotRetained(name.to_owned())));
        }
    }
    Ok(names)
}

/// A map while it is merged.
struct MapMerge<'o, 'p, 'a, 's> {
    edits: Edits<'o, 'p, 'a>,
    /// The fields of the patch.
    fields: Index<'p, 'a>,
    /// The lists that have been put in order, and therefore merged.
    ordered: HashSet<&'p str>,
    node: SchemaNode<'s>,
    place: &'o FieldPath<'o>,
}

/// A value to merge with a field of the patch.
enum Merge<'a, 's> {
    Map(Object<'a>, SchemaNode<'s>),
    List(Value<'a>, ListField<'s>),
}

impl<'o, 'p, 'a, 's> MapMerge<'o, 'p, 'a, 's> {
    fn begin(
        object: &'o Object<'a>,
        patch: &'p Object<'a>,
        node: SchemaNode<'s>,
        place: &'o FieldPath<'o>,
    ) -> Result<Box<Self>> {
        let mut edits = Edits::new(object);
        if let Some(listed) = patch.get(RETAIN) {
            edits.keep_only(retained(listed, patch, place)?);
        }
        Ok(Box::new(Self { edits, fields: patch.index(), ordered: HashSet::new(), node, place }))
    }

    /// Applies one `$setElementOrder` and merges its list.
    fn order(&mut self, name: Option<&'p str>, order: &Value<'a>, log: &mut Log) -> Result<()> {
        let name = name.ok_or_else(|| self.place.error(PatchErrorKind::NoListName(directive::ORDER)))?;
        let place = self.place.member(name);
        let field = self.list_field(name, &place)?;
        let list = self.edits.get(name).cloned();
        let lists = (list.as_ref(), self.fields.get(name));
        if let Some(list) = list::put_in_order(lists, order, field, name, &place, log)? {
            self.edits.set_merged(name, list);
            self.ordered.insert(name);
        }
        Ok(())
    }

    fn field(&mut self, name: &'p str, value: &'p Value<'a>, log: &mut Log) -> Result<()> {
        let place = self.place.member(name);
        let merged = match (self.step(name, value, &place, log)?, value) {
            (Some(Merge::Map(present, node)), Value::Object(patch)) => {
                merge(&present, patch, node, &place, log)?
            }
            (Some(Merge::List(present, field)), _) => list::merge(&present, value, field, &place, log)?,
            _ => return Ok(()),
        };
        self.edits.set_merged(name, merged);
        Ok(())
    }

    /// Applies a field of the patch. Returns a merge that is still to be done.
    fn step(
        &mut self,
        name: &'p str,
        value: &Value<'a>,
        place: &FieldPath<'_>,
        log: &mut Log,
    ) -> Result<Option<Merge<'a, 's>>> {
        if directive::read(name) != Key::Field || self.ordered.contains(name) {
            return Ok(None);
        }
        match (self.edits.get(name), value) {
            (_, Value::Null) => self.edits.remove(name),
            (Some(Value::Object(present)), Value::Object(_)) => {
                match self.node.map(name).ok_or_else(|| unknown(name, "map", place))? {
                    MapField::Merged(node) => return Ok(Some(Merge::Map(present.clone(), node))),
                    MapField::Replaced => self.edits.set(name, clean::raw(value)),
                }
            }
            (Some(present @ Value::Array(list)), Value::Array(with)) => match self.list_field(name, place)? {
                ListField::Replaced => {
                    let list = atomic::replace(list, with, place, log)?;
                    self.edits.set(name, list);
                }
                field => return Ok(Some(Merge::List(present.clone(), field))),
            },
            _ => match clean::new(value, Nulls::Drop) {
                Some(value) => self.edits.set(name, value),
                None => self.edits.remove(name),
            },
        }
        Ok(None)
    }

    fn list_field(&self, name: &str, place: &FieldPath<'_>) -> Result<ListField<'s>> {
        self.node.list(name).ok_or_else(|| unknown(name, "list", place))
    }

    /// Applies every `$deleteFromPrimitiveList`.
    fn deletes(&mut self, patch: &'p Object<'a>, log: &mut Log) -> Result<()> {
        for (key, values) in patch.iter() {
            match directive::read(key) {
                Key::Delete(Some(name)) => self.delete(name, values, log)?,
                Key::Delete(None) => return Err(self.place.error(PatchErrorKind::NoListName(DELETE))),
                _ => {}
            }
        }
        Ok(())
    }

    fn delete(&mut self, name: &'p str, values: &Value<'a>, log: &mut Log) -> Result<()> {
        let place = self.place.member(name);
        let ordered = self.ordered.contains(name);
        if !ordered && self.fields.get(name).is_some_and(|set| overlap(set, values)) {
            // DIFFERENCE: kubectl applies the two in random order.
            return Err(place.error(PatchErrorKind::SetAndDeleted(name.to_owned())));
        }
        match values {
            Value::Null => self.edits.remove(name),
            Value::Array(_) => {
                if let Some(list @ Value::Array(_)) = self.edits.get(name) {
                    let list = list::take_out(list, values, self.list_field(name, &place)?, &place, log)?;
                    self.edits.set_merged(name, list);
                }
            }
            // DIFFERENCE: kubectl ignores these, or sets the field to them.
            other => {
                let problem =
                    PatchErrorKind::NotAList { directive: format!("{DELETE}/{name}"), found: other.kind() };
                return Err(place.error(problem));
            }
        }
        Ok(())
    }
}

/// Whether the order matters in which a field is set and values are deleted from it.
pub(super) fn overlap(set: &Value<'_>, deleted: &Value<'_>) -> bool {
    match (set, deleted) {
        (Value::Null, _) => false,
        (_, Value::Null) => true,
        (Value::Array(set), Value::Array(deleted)) => {
            let deleted: HashSet<Scalar<'_>> = deleted.iter().filter_map(Scalar::of).collect();
            set.iter().filter_map(Scalar::of).any(|item| deleted.contains(&item))
        }
        _ => false,
    }
}

fn unknown(name: &str, holds: &'static str, place: &FieldPath<'_>) -> Failed {
    place.error(PatchErrorKind::UnknownField { name: name.to_owned(), holds })
}
