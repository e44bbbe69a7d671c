//! Applies an undo.

use super::record::{container, index};
use super::{Undo, UndoStep};
use crate::json::{Pointer, Value};

/// A revision can't be undone: another writer has changed what it wrote.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{place}: is not what was written there")]
pub struct UndoError {
    pub place: Pointer,
}

impl<'a> Undo<'a> {
    /// The object as it was before the revision.
    ///
    /// A place that holds what was there before is left unchanged. Fails, and changes nothing, if a place
    /// holds neither that nor what the revision wrote.
    pub fn apply(&self, revised: &Value<'a>) -> Result<Value<'a>, UndoError> {
        let mut object = revised.clone();
        for step in self.0.iter().rev() {
            step.take_back(&mut object).ok_or_else(|| UndoError { place: step.place.clone() })?;
        }
        Ok(object)
    }
}

impl<'a> UndoStep<'a> {
    /// `None` if the place holds something else than what was written or was there.
    fn take_back(&self, object: &mut Value<'a>) -> Option<()> {
        if self.place.is_root() {
            return self.take_back_root(object);
        }
        let Some((container, last)) = container(object, &self.place) else {
            // The container is gone. That is fine if the place was empty before the revision.
            return self.was.is_none().then_some(());
        };
        match (container, self.length) {
            (container @ Value::Array(_), Some(length)) => {
                self.take_back_item(container, index(last)?, length)
            }
            (container @ Value::Array(_), None) => {
                let there = container.array_mut()?.get_mut(index(last)?)?;
                self.take_back_root(there)
            }
            (Value::Object(_), Some(_)) => None,
            (container @ Value::Object(_), None) => self.take_back_member(container, last),
            _ => self.was.is_none().then_some(()),
        }
    }

    fn take_back_root(&self, there: &mut Value<'a>) -> Option<()> {
        let (was, wrote) = (self.was.as_ref()?, self.wrote.as_ref()?);
        if stands(there, wrote) {
            *there = was.clone();
            return Some(());
        }
        stands(there, was).then_some(())
    }

    /// An item that was added to a list, or removed from it.
    fn take_back_item(&self, list: &mut Value<'a>, at: usize, length: usize) -> Option<()> {
        let mut items = list.as_array()?.to_vec();
        if items.len() != length {
            return None;
        }
        match (&self.was, &self.wrote) {
            (None, Some(wrote)) => {
                if !items.get(at).is_some_and(|found| stands(found, wrote)) {
                    return None;
                }
                items.remove(at);
            }
            (Some(was), None) if at <= items.len() => items.insert(at, was.clone()),
            _ => return None,
        }
        *list = Value::array(items);
        Some(())
    }

    fn take_back_member(&self, map: &mut Value<'a>, name: &str) -> Option<()> {
        let members = map.object_mut()?;
        let found = members.get(name);
        let is_back = match (found, &self.was) {
            (None, None) => true,
            (Some(found), Some(was)) => stands(found, was),
            _ => false,
        };
        let is_ours = match (found, &self.wrote) {
            (None, None) => true,
            (Some(found), Some(wrote)) => stands(found, wrote),
            _ => false,
        };
        // A map that we made stays if another writer has added to it.
        let is_used = matches!((found, &self.wrote), (Some(Value::Object(found)), Some(Value::Object(wrote)))
            if wrote.is_empty() && !found.is_empty());
        match (is_ours, is_back || is_used, &self.was, self.position) {
            (true, _, Some(was), Some(position)) => members.insert_at(position, name.to_owned(), was.clone()),
            (true, _, Some(was), None) => drop(members.insert(name.to_owned(), was.clone())),
            (true, _, None, _) => drop(members.remove(name)),
            (false, true, _, _) => {}
            (false, false, _, _) => return None,
        }
        Some(())
    }
}

/// Whether `found` is `written` as an API server gives it back: the order of members does not count, and
/// numbers are what Go makes of them, integers of 64 bits or floating-point numbers.
fn stands(found: &Value<'_>, written: &Value<'_>) -> bool {
    match (found, written) {
        (Value::Number(found), Value::Number(written)) => found.same_stored(written),
        (Value::Array(found), Value::Array(written)) => {
            found.len() == written.len()
                && found.iter().zip(written.iter()).all(|(found, written)| stands(found, written))
        }
        (Value::Object(found), Value::Object(written)) => {
            let index = written.index();
            found.len() == written.len()
                && found
                    .iter()
                    .all(|(name, found)| index.get(name).is_some_and(|written| stands(found, written)))
        }
        _ => found == written,
    }
}
