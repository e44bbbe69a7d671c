//! Reading typed values out of an object, noting every fault and going on.

use crate::json::{Number, Object, Pointer, Value};

/// Faults so far: where, and what is wrong.
#[derive(Debug, Default)]
pub(super) struct Notes(pub(super) Vec<(Pointer, String)>);

impl Notes {
    pub(super) fn note(&mut self, field: &Pointer, problem: impl Into<String>) {
        self.0.push((field.clone(), problem.into()));
    }
}

/// A value and where it is.
#[derive(Clone, Debug)]
pub(super) struct Node<'d> {
    pub(super) value: &'d Value<'static>,
    pub(super) field: Pointer,
}

impl<'d> Node<'d> {
    fn expected<T>(&self, what: &str, notes: &mut Notes) -> Option<T> {
        notes.note(&self.field, format!("must be {what}, is {}", self.value.kind()));
        None
    }

    /// Whether it is a map, which is noted if it is not.
    pub(super) fn is_map(&self, notes: &mut Notes) -> bool {
        self.value.as_object().is_some() || self.expected::<()>("a map", notes).is_some()
    }

    /// The member `name` of a map. Null counts as missing, as in the Kubernetes API.
    pub(super) fn get(&self, name: &str) -> Option<Self> {
        let value = self.value.get(name).filter(|value| !value.is_null())?;
        Some(Self { value, field: self.field.join(name) })
    }

    /// The member `name`, which has to be there.
    pub(super) fn required(&self, name: &str, notes: &mut Notes) -> Option<Self> {
        let member = self.get(name);
        if member.is_none() {
            notes.note(&self.field.join(name), "is required");
        }
        member
    }

    /// The member `name`, which has to be a map and to be there.
    pub(super) fn required_map(&self, name: &str, notes: &mut Notes) -> Option<Self> {
        self.required(name, notes).filter(|map| map.is_map(notes))
    }

    /// The member `name`, which has to be a string that is not empty.
    pub(super) fn required_name(&self, name: &str, notes: &mut Notes) -> Option<&'d str> {
        let member = self.required(name, notes)?;
        let text = member.value.as_str().or_else(|| member.expected("a string", notes))?;
        if text.is_empty() {
            notes.note(&member.field, "must not be empty");
            return None;
        }
        Some(text)
    }

    /// The string `name`; the empty one if it is missing, as in the Kubernetes API.
    pub(super) fn string(&self, name: &str, notes: &mut Notes) -> Option<&'d str> {
        let Some(member) = self.get(name) else { return Some("") };
        member.value.as_str().or_else(|| member.expected("a string", notes))
    }

    /// The string that this is.
    pub(super) fn text(&self, notes: &mut Notes) -> Option<&'d str> {
        self.value.as_str().or_else(|| self.expected("a string", notes))
    }

    /// The strings in the map `name`, with their names; none if it is missing, or no map, which is noted.
    pub(super) fn texts(&self, name: &str, notes: &mut Notes) -> Vec<(&'d str, &'d str)> {
        let Some(map) = self.get(name).filter(|map| map.is_map(notes)) else { return Vec::new() };
        let members = map.value.as_object().into_iter().flat_map(Object::iter);
        let text = |(name, value): (&'d str, &'d Value<'static>)| {
            // A pointer is not cheap, and there are many of these.
            let text = value.as_str().or_else(|| Self { value, field: map.field.join(name) }.text(notes));
            Some((name, text?))
        };
        members.filter_map(text).collect()
    }

    /// The flag `name`; false if it is missing.
    pub(super) fn flag(&self, name: &str, notes: &mut Notes) -> Option<bool> {
        let Some(member) = self.get(name) else { return Some(false) };
        member.value.as_bool().or_else(|| member.expected("true or false", notes))
    }

    /// The number `name` that can't be negative; 0 if it is missing.
    pub(super) fn count(&self, name: &str, notes: &mut Notes) -> Option<i64> {
        let Some(member) = self.get(name) else { return Some(0) };
        let number = member.value.as_number().or_else(|| member.expected("an integer", notes))?;
        let count = Number::as_i64(number).filter(|count| *count >= 0);
        if count.is_none() {
            notes.note(&member.field, format!("must be an integer that is not negative, is {number}"));
        }
        count
    }

    /// The items of the list `name`; none if it is missing, or no list, which is noted.
    pub(super) fn items(&self, name: &str, notes: &mut Notes) -> Vec<Self> {
        let Some(list) = self.get(name) else { return Vec::new() };
        let Some(items) = list.value.as_array().or_else(|| list.expected("a list", notes)) else {
            return Vec::new();
        };
        let item = |(position, value)| Self { value, field: list.field.join(usize::to_string(&position)) };
        items.iter().enumerate().map(item).collect()
    }
}
