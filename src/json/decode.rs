//! Decodes a tree into typed values. A reader records each error with its place and continues, so that one
//! pass finds all errors.
//!
//! A reader that has recorded an error returns `None`. Null counts as missing, as in the Kubernetes API.

use super::{Number, Object, Pointer, Value};

/// The errors so far, each with its place.
#[derive(Debug, Default)]
pub struct Notes(Vec<(Pointer, String)>);

impl Notes {
    /// Adds an error.
    pub fn note(&mut self, field: &Pointer, problem: impl Into<String>) {
        self.0.push((field.clone(), problem.into()));
    }

    /// How many errors there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are no errors.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl IntoIterator for Notes {
    type Item = (Pointer, String);
    type IntoIter = std::vec::IntoIter<Self::Item>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

/// A value and its place in a document.
#[derive(Clone, Debug)]
pub struct Node<'v, 'd> {
    /// The value.
    pub value: &'v Value<'d>,
    /// The place of the value.
    pub field: Pointer,
}

impl<'v, 'd> Node<'v, 'd> {
    /// The root of a document.
    pub const fn root(value: &'v Value<'d>) -> Self {
        Self { value, field: Pointer::ROOT }
    }

    /// Records that the value should be a `what`.
    pub fn expected<T>(&self, what: &str, notes: &mut Notes) -> Option<T> {
        notes.note(&self.field, format!("must be {what}, is {}", self.value.kind()));
        None
    }

    /// The map. Any other value is an error.
    pub fn map(&self, notes: &mut Notes) -> Option<&'v Object<'d>> {
        self.value.as_object().or_else(|| self.expected("a map", notes))
    }

    /// Whether the value is a map. Any other value is an error.
    pub fn is_map(&self, notes: &mut Notes) -> bool {
        self.map(notes).is_some()
    }

    /// The string. Any other value is an error.
    pub fn string(&self, notes: &mut Notes) -> Option<&'v str> {
        self.value.as_str().or_else(|| self.expected("a string", notes))
    }

    /// The string, which must not be empty.
    pub fn name(&self, notes: &mut Notes) -> Option<&'v str> {
        let name = self.string(notes)?;
        if name.is_empty() {
            notes.note(&self.field, "must not be empty");
            return None;
        }
        Some(name)
    }

    /// The boolean. Any other value is an error.
    pub fn boolean(&self, notes: &mut Notes) -> Option<bool> {
        self.value.as_bool().or_else(|| self.expected("true or false", notes))
    }

    /// The integer. Any other value is an error.
    pub fn integer(&self, notes: &mut Notes) -> Option<i64> {
        let number = self.value.as_number().or_else(|| self.expected("an integer", notes))?;
        let integer = Number::as_i64(number);
        if integer.is_none() {
            notes.note(&self.field, format!("must be an integer of 64 bits, is {number}"));
        }
        integer
    }

    /// The items of the list. Any other value is an error, and has no items.
    pub fn items(&self, notes: &mut Notes) -> Vec<Self> {
        let items = self.value.as_array().or_else(|| self.expected("a list", notes)).unwrap_or_default();
        let item = |(position, value)| Self { value, field: self.field.join(usize::to_string(&position)) };
        items.iter().enumerate().map(item).collect()
    }

    /// The member `name` of the map.
    pub fn get(&self, name: &str) -> Option<Self> {
        let value = self.value.get(name).filter(|value| !value.is_null())?;
        Some(Self { value, field: self.field.join(name) })
    }

    /// The required member `name`.
    pub fn required(&self, name: &str, notes: &mut Notes) -> Option<Self> {
        let member = self.get(name);
        if member.is_none() {
            notes.note(&self.field.join(name), "is required");
        }
        member
    }

    /// The required map `name`.
    pub fn required_map(&self, name: &str, notes: &mut Notes) -> Option<Self> {
        self.required(name, notes).filter(|map| map.is_map(notes))
    }

    /// The required, non-empty string `name`.
    pub fn required_name(&self, name: &str, notes: &mut Notes) -> Option<&'v str> {
        self.required(name, notes)?.name(notes)
    }

    /// The string `name`. Empty if it is missing.
    pub fn optional_string(&self, name: &str, notes: &mut Notes) -> Option<&'v str> {
        self.get(name).map_or(Some(""), |member| member.string(notes))
    }

    /// The boolean `name`. `false` if it is missing.
    pub fn flag(&self, name: &str, notes: &mut Notes) -> Option<bool> {
        self.get(name).map_or(Some(false), |member| member.boolean(notes))
    }

    /// The integer `name`, which must not be negative. 0 if it is missing.
    pub fn count(&self, name: &str, notes: &mut Notes) -> Option<i64> {
        let Some(member) = self.get(name) else { return Some(0) };
        let number = member.value.as_number().or_else(|| member.expected("an integer", notes))?;
        let count = Number::as_i64(number).filter(|count| *count >= 0);
        if count.is_none() {
            notes.note(&member.field, format!("must be an integer that is not negative, is {number}"));
        }
        count
    }

    /// The items of the list `name`. Empty if it is missing.
    pub fn list(&self, name: &str, notes: &mut Notes) -> Vec<Self> {
        self.get(name).map(|list| list.items(notes)).unwrap_or_default()
    }

    /// The strings in the map `name`, with their names. Empty if it is missing.
    pub fn strings(&self, name: &str, notes: &mut Notes) -> Vec<(&'v str, &'v str)> {
        let Some(map) = self.get(name) else { return Vec::new() };
        let members = map.map(notes).into_iter().flat_map(Object::iter);
        let string = |(name, value): (&'v str, &'v Value<'d>)| {
            // The pointer is created only for an error, because objects may have many labels and annotations.
            let string = value.as_str().or_else(|| Self { value, field: map.field.join(name) }.string(notes));
            Some((name, string?))
        };
        members.filter_map(string).collect()
    }
}
