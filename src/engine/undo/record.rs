//! Makes the undo of a change.

use super::{Undo, UndoStep};
use crate::json::{Pointer, Value};
use crate::patch::{Operation, diff};

/// Maps that other writers change too.
const SHARED: [[&str; 2]; 2] = [["metadata", "labels"], ["metadata", "annotations"]];

impl<'a> Undo<'a> {
    /// The undo that turns `after` back into `before`.
    pub fn of(before: &Value<'a>, after: &Value<'a>) -> Self {
        let mut undo = Self::default();
        // Each operation is applied to a copy, so that its undo starts from what the operations before it
        // have left.
        let mut value = before.clone();
        for operation in diff(before, after).0 {
            match operation {
                Operation::Add(place, added) => match put_in(&mut value, &place, &added) {
                    Some(length) => {
                        undo.0.push(UndoStep { length: Some(length), ..wrote(place, None, added) });
                    }
                    None if is_shared(&place) => undo.make_map(place, None, &added),
                    None => undo.0.push(wrote(place, None, added)),
                },
                Operation::Replace(place, written) => {
                    let was = replace(&mut value, &place, &written);
                    if is_shared(&place) && was.as_ref().is_some_and(Value::is_null) {
                        undo.make_map(place, was, &written);
                    } else {
                        undo.0.push(wrote(place, was, written));
                    }
                }
                Operation::Remove(place) => {
                    let (was, position, length) = take_out(&mut value, &place);
                    undo.0.push(UndoStep { place, was, wrote: None, position, length });
                }
            }
        }
        undo
    }

    /// A map of labels or annotations that was missing: first the empty map, then each key.
    fn make_map(&mut self, place: Pointer, was: Option<Value<'a>>, made: &Value<'a>) {
        let Value::Object(members) = made else {
            return self.0.push(wrote(place, was, made.clone()));
        };
        let keys = members.iter().map(|(key, value)| wrote(place.join(key), None, value.clone()));
        let keys: Vec<UndoStep<'a>> = keys.collect();
        self.0.push(wrote(place, was, Value::empty_object()));
        self.0.extend(keys);
    }
}

fn is_shared(place: &Pointer) -> bool {
    SHARED.iter().any(|shared| place.tokens() == shared.as_slice())
}

fn wrote<'a>(place: Pointer, was: Option<Value<'a>>, wrote: Value<'a>) -> UndoStep<'a> {
    UndoStep { place, was, wrote: Some(wrote), position: None, length: None }
}

/// The container that holds `place`, and the last token of it; `None` for the root.
pub(super) fn container<'v, 'a, 'p>(
    root: &'v mut Value<'a>,
    place: &'p Pointer,
) -> Option<(&'v mut Value<'a>, &'p str)> {
    let (last, parents) = place.tokens().split_last()?;
    let mut container = root;
    for token in parents {
        container = match container {
            Value::Object(members) => members.get_mut(token)?,
            Value::Array(_) => container.array_mut()?.get_mut(index(token)?)?,
            _ => return None,
        };
    }
    Some((container, last))
}

/// A list index, without leading zeros or a sign.
pub(super) fn index(token: &str) -> Option<usize> {
    let canonical = token == "0" || !token.starts_with(['0', '+']);
    token.parse().ok().filter(|_| canonical)
}

/// Adds a member or item at `place`. Returns the length of the list, if it is one.
pub(super) fn put_in<'a>(root: &mut Value<'a>, place: &Pointer, added: &Value<'a>) -> Option<usize> {
    let (container, last) = container(root, place)?;
    if let Value::Array(items) = container {
        let mut changed = items.to_vec();
        changed.insert(index(last).unwrap_or(changed.len()).min(changed.len()), added.clone());
        let length = changed.len();
        *container = Value::array(changed);
        return Some(length);
    }
    container.object_mut()?.insert(last.to_owned(), added.clone());
    None
}

/// Returns the value that was replaced.
pub(super) fn replace<'a>(root: &mut Value<'a>, place: &Pointer, written: &Value<'a>) -> Option<Value<'a>> {
    if place.is_root() {
        return Some(std::mem::replace(root, written.clone()));
    }
    let (container, last) = container(root, place)?;
    let there = match container {
        Value::Array(_) => container.array_mut()?.get_mut(index(last)?)?,
        _ => container.object_mut()?.get_mut(last)?,
    };
    Some(std::mem::replace(there, written.clone()))
}

/// Removes the member or item at `place`. Returns it, its position in a map, and the new length of a list.
pub(super) fn take_out<'a>(
    root: &mut Value<'a>,
    place: &Pointer,
) -> (Option<Value<'a>>, Option<usize>, Option<usize>) {
    let Some((container, last)) = container(root, place) else {
        return (None, None, None);
    };
    if let Value::Array(items) = container {
        let mut changed = items.to_vec();
        let was = index(last).filter(|at| *at < changed.len()).map(|at| changed.remove(at));
        let length = changed.len();
        *container = Value::array(changed);
        return (was, None, Some(length));
    }
    let Some(members) = container.object_mut() else {
        return (None, None, None);
    };
    let position = members.iter().position(|(name, _)| name == last);
    (members.remove(last), position, None)
}
