//! Taking back.

use super::record::{container, index};
use super::stands::stands;
use super::{Undo, UndoStep};
use crate::json::{Pointer, Value};

/// Why a revision can't be taken back: somebody else has changed what it wrote.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{place}: is not what was written there")]
pub struct UndoError {
    /// Where.
    pub place: Pointer,
}

impl<'a> Undo<'a> {
    /// The object as it was before the revision.
    ///
    /// A place that holds what was there before is left as it is. Fails, and changes nothing, if a place holds neither
    /// that nor what the revision wrote.
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
            // With what held it gone, nothing is there; fine if nothing was.
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

    /// A value in the place of another one.
    fn take_back_root(&self, there: &mut Value<'a>) -> Option<()> {
        let (was, wrote) = (self.was.as_ref()?, self.wrote.as_ref()?);
        if stands(there, wrote) {
            *there = was.clone();
            return Some(());
        }
        stands(there, was).then_some(())
    }

    /// An item that was put into a list, or taken out of it.
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
        // A map that we made, in which somebody else has put something, stays for that.
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
