//! Maps that are merged field by field.

use std::collections::HashSet;

use super::clean::{self, Nulls};
use super::directive::{self, DELETE, Key, PATCH, RETAIN, Word};
use super::list;
use super::schema::{ListField, MapField, Node};
use crate::json::{Object, Value};
use crate::patch::edits::Edits;
use crate::patch::place::Place;
use crate::patch::{PatchError, Problem};

type Result<T> = std::result::Result<T, PatchError>;

/// `object` with `patch` merged into it; the same piece of memory if nothing changes.
pub(super) fn merge<'a>(
    object: &Object<'a>,
    patch: &Object<'a>,
    node: Node<'_>,
    place: &Place<'_>,
) -> Result<Value<'a>> {
    if let Some(word) = patch.get(PATCH) {
        return match directive::word(word) {
            Some(Word::Replace) => {
                let new = clean::raw(&Value::Object(patch.clone()));
                let present = Value::Object(object.clone());
                Ok(if present == new { present } else { new })
            }
            Some(Word::Delete) if object.is_empty() => Ok(Value::Object(object.clone())),
            Some(Word::Delete) => Ok(Value::empty_object()),
            None => Err(place.error(Problem::UnknownWord)),
        };
    }
    let mut edits = Edits::new(object);
    if let Some(listed) = patch.get(RETAIN) {
        edits.keep_only(retained(listed, patch, place)?);
    }
    let mut walk = Walk { edits, fields: patch.index(), node, place };
    let done = walk.orders(patch)?;
    for (name, value) in patch.iter() {
        if directive::read(name) == Key::Field && !done.contains(name) {
            walk.field(name, value)?;
        }
    }
    for (name, value) in patch.iter() {
        match directive::read(name) {
            Key::Delete(Some(list)) => walk.delete(list, value, done.contains(list))?,
            Key::Delete(None) => return Err(place.error(Problem::NoListName(DELETE))),
            _ => {}
        }
    }
    Ok(walk.edits.finish())
}

/// The fields that `$retainKeys` keeps. What the patch sets beside it has to be among them.
fn retained<'p>(listed: &'p Value<'_>, patch: &Object<'_>, place: &Place<'_>) -> Result<HashSet<&'p str>> {
    let Some(items) = listed.as_array() else {
        let problem = Problem::NotAList { directive: RETAIN.to_owned(), found: listed.kind() };
        return Err(place.error(problem));
    };
    let mut names = HashSet::with_capacity(items.len());
    for item in items {
        match item {
            Value::String(name) => drop(names.insert(name.as_ref())),
            Value::Array(_) | Value::Object(_) => {
                let problem = Problem::BadItem { directive: RETAIN.to_owned(), found: item.kind() };
                return Err(place.error(problem));
            }
            // No field is called that.
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
    for (name, value) in patch.iter() {
        if directive::read(name) == Key::Field && !value.is_null() && !names.contains(name) {
            return Err(place.error(Problem::NotRetained(name.to_owned())));
        }
    }
    Ok(names)
}

/// One map on its way to its new members.
struct Walk<'o, 'p, 'a, 's> {
    edits: Edits<'o, 'p, 'a>,
    /// What the patch has.
    fields: crate::json::Index<'p, 'a>,
    node: Node<'s>,
    place: &'o Place<'o>,
}

impl<'p, 'a> Walk<'_, 'p, 'a, '_> {
    /// Follows every `$setElementOrder`, and merges the lists that they are about. Gives the names of those.
    fn orders(&mut self, patch: &'p Object<'a>) -> Result<HashSet<&'p str>> {
        let mut done = HashSet::new();
        for (key, order) in patch.iter() {
            let name = match directive::read(key) {
                Key::Order(Some(name)) => name,
                Key::Order(None) => return Err(self.place.error(Problem::NoListName(directive::ORDER))),
                _ => continue,
            };
            let place = self.place.member(name);
            let field = self.node.list(name).ok_or_else(|| unknown(name, "list", &place))?;
            let lists = (self.edits.get(name), self.fields.get(name));
            if let Some(list) = list::put_in_order(lists, order, field, name, &place)? {
                self.edits.set_merged(name, list);
                done.insert(name);
            }
        }
        Ok(done)
    }

    fn field(&mut self, name: &'p str, value: &'p Value<'a>) -> Result<()> {
        let place = self.place.member(name);
        match (self.edits.get(name), value) {
            (_, Value::Null) => self.edits.remove(name),
            (Some(Value::Object(present)), Value::Object(patch)) => {
                match self.node.map(name).ok_or_else(|| unknown(name, "map", &place))? {
                    MapField::Replaced => self.edits.set(name, clean::raw(value)),
                    MapField::Merged(node) => {
                        let merged = merge(present, patch, node, &place)?;
                        self.edits.set_merged(name, merged);
                    }
                }
            }
            (Some(present @ Value::Array(_)), Value::Array(_)) => {
                match self.node.list(name).ok_or_else(|| unknown(name, "list", &place))? {
                    ListField::Replaced => self.edits.set(name, clean::raw(value)),
                    field => {
                        let merged = list::merge(present, value, field, &place)?;
                        self.edits.set_merged(name, merged);
                    }
                }
            }
            _ => match clean::new(value, Nulls::Drop) {
                Some(value) => self.edits.set(name, value),
                None => self.edits.remove(name),
            },
        }
        Ok(())
    }

    /// Follows a `$deleteFromPrimitiveList`. `ordered` says that the list was put in order before, together with what the patch
    /// adds to it.
    fn delete(&mut self, name: &'p str, values: &Value<'a>, ordered: bool) -> Result<()> {
        let place = self.place.member(name);
        if !ordered && self.fields.get(name).is_some_and(|set| overlap(set, values)) {
            // DIFFERENCE: which of the two comes first in kubectl is chance.
            return Err(place.error(Problem::SetAndDeleted(name.to_owned())));
        }
        match values {
            Value::Null => self.edits.remove(name),
            Value::Array(_) => {
                if let Some(list @ Value::Array(_)) = self.edits.get(name) {
                    let field = self.node.list(name).ok_or_else(|| unknown(name, "list", &place))?;
                    let list = list::take_out(list, values, field, &place)?;
                    self.edits.set_merged(name, list);
                }
            }
            // DIFFERENCE: kubectl ignores these, or sets the field to them.
            other => {
                let problem =
                    Problem::NotAList { directive: format!("{DELETE}/{name}"), found: other.kind() };
                return Err(place.error(problem));
            }
        }
        Ok(())
    }
}

/// Whether setting a field and deleting values from it comes out differently the other way round.
pub(super) fn overlap(set: &Value<'_>, deleted: &Value<'_>) -> bool {
    use super::scalar::Scalar;
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

fn unknown(name: &str, holds: &'static str, place: &Place<'_>) -> PatchError {
    place.error(Problem::UnknownField { name: name.to_owned(), holds })
}
