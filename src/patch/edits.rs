//! Collects changes to the members of one object, to apply them at once.

use std::collections::{HashMap, HashSet};

use crate::json::{Index, Object, Value};

/// Up to this number of changes are applied one by one. For more, the object is rebuilt.
const ONE_BY_ONE: usize = 4;

/// An object and the changes to it. Unchanged members keep their position and their memory.
pub(super) struct Edits<'o, 'p, 'a> {
    object: &'o Object<'a>,
    members: Index<'o, 'a>,
    /// The changed members. `None` means that the member is removed.
    changes: HashMap<&'p str, Option<Value<'a>>>,
    /// The names in `changes`, in the order in which they were first changed.
    touched: Vec<&'p str>,
    /// The only members to keep. `None` keeps all.
    kept: Option<HashSet<&'p str>>,
}

impl<'o, 'p, 'a> Edits<'o, 'p, 'a> {
    pub(super) fn new(object: &'o Object<'a>) -> Self {
        Self { object, members: object.index(), changes: HashMap::new(), touched: Vec::new(), kept: None }
    }

    /// The current value of the member.
    pub(super) fn get(&self, name: &str) -> Option<&Value<'a>> {
        match self.changes.get(name) {
            Some(change) => change.as_ref(),
            None => self.original(name),
        }
    }

    fn original(&self, name: &str) -> Option<&'o Value<'a>> {
        let kept = self.kept.as_ref().is_none_or(|kept| kept.contains(name));
        if kept { self.members.get(name) } else { None }
    }

    /// Removes all members that are not in `kept`. Must be called before any other change.
    pub(super) fn keep_only(&mut self, kept: HashSet<&'p str>) {
        self.kept = Some(kept);
    }

    /// Sets a member to a new value. Nothing happens if the value is equal to the current one.
    pub(super) fn set(&mut self, name: &'p str, value: Value<'a>) {
        if self.get(name) != Some(&value) {
            self.change(name, Some(value));
        }
    }

    /// Sets a member to the result of a merge into its value. Nothing happens if it is the same piece of
    /// memory.
    pub(super) fn set_merged(&mut self, name: &'p str, value: Value<'a>) {
        if !self.get(name).is_some_and(|present| present.is_same(&value)) {
            self.change(name, Some(value));
        }
    }

    pub(super) fn remove(&mut self, name: &'p str) {
        if self.get(name).is_some() {
            self.change(name, None);
        }
    }

    fn change(&mut self, name: &'p str, value: Option<Value<'a>>) {
        if self.changes.insert(name, value).is_none() {
            self.touched.push(name);
        }
    }

    /// The object with the changes. It is the same piece of memory if there are none.
    pub(super) fn finish(mut self) -> Value<'a> {
        let all_kept =
            self.kept.as_ref().is_none_or(|kept| self.object.iter().all(|(name, _)| kept.contains(name)));
        if all_kept && self.touched.len() <= ONE_BY_ONE {
            return Value::Object(self.one_by_one());
        }
        let mut members: Vec<(String, Value<'a>)> =
            Vec::with_capacity(self.object.len() + self.touched.len());
        for (name, value) in self.object.iter() {
            let now = match self.changes.remove(name) {
                Some(change) => change,
                None => self.original(name).map(|_| value.clone()),
            };
            members.extend(now.map(|now| (name.to_owned(), now)));
        }
        for name in self.touched {
            if let Some(Some(value)) = self.changes.remove(name) {
                members.push((name.to_owned(), value));
            }
        }
        Value::Object(members.into_iter().collect())
    }

    fn one_by_one(mut self) -> Object<'a> {
        let mut object = self.object.clone();
        for name in self.touched {
            match self.changes.remove(name).flatten() {
                None => drop(object.remove(name)),
                Some(value) => match object.get_mut(name) {
                    Some(present) => *present = value,
                    None => drop(object.insert(name.to_owned(), value)),
                },
            }
        }
        object
    }
}
