//! A value of an object with its place, and the list of violations.

use std::collections::HashSet;
use std::fmt;

use super::Violation;
use super::syntax::Syntax;
use crate::domain::Quantity;
use crate::json::{Object, Pointer, Value};

/// A value of an object with its place, or a place that is empty. A null counts as empty, as it does for Go.
#[derive(Clone, Copy, Debug)]
pub(super) struct Field<'n> {
    pub(super) value: Option<&'n Value<'n>>,
    step: PathStep<'n>,
    parent: Option<&'n Self>,
}

#[derive(Clone, Copy, Debug)]
enum PathStep<'n> {
    Root,
    Name(&'n str),
    Names(&'n [&'n str]),
    Index(usize),
}

impl<'n> Field<'n> {
    pub(super) fn root(value: &'n Value<'n>) -> Self {
        Self { value: Some(value), step: PathStep::Root, parent: None }
    }

    pub(super) fn get<'s>(&'s self, name: &'s str) -> Field<'s> {
        self.child(self.value.and_then(|value| value.get(name)), PathStep::Name(name))
    }

    pub(super) fn at<'s>(&'s self, names: &'s [&'s str]) -> Field<'s> {
        let value = names.iter().try_fold(self.value, |value, name| Some(value?.get(name)));
        self.child(value.flatten(), PathStep::Names(names))
    }

    fn child<'s>(&'s self, value: Option<&'s Value<'s>>, step: PathStep<'s>) -> Field<'s> {
        Field { value: value.filter(|value| !value.is_null()), step, parent: Some(self) }
    }

    /// The items of the list; none if it is no list.
    pub(super) fn items(&self) -> impl Iterator<Item = Field<'_>> {
        let items = self.value.and_then(Value::as_array).unwrap_or_default();
        items.iter().enumerate().map(|(position, item)| self.child(Some(item), PathStep::Index(position)))
    }

    /// The members of the map; none if it is no map.
    pub(super) fn entries(&self) -> impl Iterator<Item = (&str, Field<'_>)> {
        let members = self.map().into_iter().flat_map(Object::iter);
        members.map(|(name, value)| (name, self.child(Some(value), PathStep::Name(name))))
    }

    pub(super) fn is_set(&self) -> bool {
        self.value.is_some()
    }

    /// Whether it is missing or the empty string, which is the same to Go.
    pub(super) fn is_blank(&self) -> bool {
        self.value.is_none_or(|value| value.as_str() == Some(""))
    }

    /// Whether it is missing, or an empty list or map.
    pub(super) fn is_empty(&self) -> bool {
        match self.value {
            None => true,
            Some(Value::Array(items)) => items.is_empty(),
            Some(Value::Object(members)) => members.is_empty(),
            Some(_) => false,
        }
    }

    /// The string; empty if there is none.
    pub(super) fn text(&self) -> &'n str {
        self.value.and_then(Value::as_str).unwrap_or_default()
    }

    pub(super) fn integer(&self) -> Option<i64> {
        self.value?.as_number()?.as_i64()
    }

    pub(super) fn is_true(&self) -> bool {
        self.value.and_then(Value::as_bool) == Some(true)
    }

    pub(super) fn map(&self) -> Option<&'n Object<'n>> {
        self.value?.as_object()
    }

    pub(super) fn quantity(&self) -> Option<Quantity> {
        match self.value? {
            Value::String(text) => Quantity::parse(text).ok(),
            Value::Number(number) => Quantity::parse(number.as_str()).ok(),
            _ => None,
        }
    }

    pub(super) fn place(&self) -> Pointer {
        let mut place = self.parent.map_or(Pointer::ROOT, Self::place);
        match self.step {
            PathStep::Root => {}
            PathStep::Name(name) => place.push(name),
            PathStep::Names(names) => names.iter().for_each(|name| place.push(*name)),
            PathStep::Index(position) => place.push(position.to_string()),
        }
        place
    }
}

/// The violations, in the order in which they are found.
#[derive(Debug, Default)]
pub(super) struct Report {
    pub(super) found: Vec<Violation>,
}

impl Report {
    /// `problem` is `<problem>; <advice>`.
    pub(super) fn add(&mut self, field: &Field<'_>, problem: impl Into<String>) {
        self.found.push(Violation { place: field.place(), problem: problem.into() });
    }

    /// Refuses a missing value or an empty string.
    pub(super) fn required(&mut self, field: &Field<'_>) {
        if field.is_blank() {
            self.add(field, "is missing or empty, and is required; set it");
        }
    }

    /// Refuses a missing or empty list or map.
    pub(super) fn not_empty(&mut self, field: &Field<'_>, what: &str) {
        if field.is_empty() {
            self.add(field, format!("is missing or empty; give at least one {what}"));
        }
    }

    /// Refuses any value but an empty list.
    pub(super) fn forbidden(&mut self, field: &Field<'_>, because: impl fmt::Display) {
        let is_empty_list = field.value.and_then(Value::as_array).is_some_and(<[_]>::is_empty);
        if field.is_set() && !is_empty_list {
            self.add(field, format!("must not be set {because}; remove it"));
        }
    }

    /// Refuses a string that is none of `allowed`. The empty one stands for the default.
    pub(super) fn one_of(&mut self, field: &Field<'_>, allowed: &[&str]) {
        let text = field.text();
        if !text.is_empty() && !allowed.contains(&text) {
            self.add(
                field,
                format!("is {text:?}, which is not supported; use one of {}", allowed.join(", ")),
            );
        }
    }

    /// The same, for a field where the empty string is not the default.
    pub(super) fn one_of_these(&mut self, field: &Field<'_>, allowed: &[&str]) {
        if field.value.and_then(Value::as_str) == Some("") {
            self.add(field, format!("is empty; use one of {}, or remove it", allowed.join(", ")));
        }
        self.one_of(field, allowed);
    }

    /// Refuses a string that is empty or has the wrong syntax, if it is set.
    pub(super) fn spelled_if_set(&mut self, field: &Field<'_>, syntax: &Syntax) {
        if field.is_set() {
            self.required_as(field, syntax);
        }
    }

    /// Refuses a string with the wrong syntax. An empty one is not checked.
    pub(super) fn spelled(&mut self, field: &Field<'_>, syntax: &Syntax) {
        let text = field.text();
        if !text.is_empty() && !(syntax.holds)(text) {
            self.misspelt(field, text, syntax);
        }
    }

    /// Refuses a string that is missing, empty, or has the wrong syntax.
    pub(super) fn required_as(&mut self, field: &Field<'_>, syntax: &Syntax) {
        self.required(field);
        self.spelled(field, syntax);
    }

    /// Adds that `text`, which belongs to the field, has the wrong syntax.
    pub(super) fn misspelt(&mut self, field: &Field<'_>, text: &str, syntax: &Syntax) {
        self.add(field, format!("{text:?} is no {}; use {}", syntax.name, syntax.advice));
    }

    pub(super) fn not_negative(&mut self, field: &Field<'_>) {
        self.range(field, 0, i64::MAX);
    }

    /// Refuses an integer outside of these bounds, which are inclusive.
    pub(super) fn range(&mut self, field: &Field<'_>, least: i64, most: i64) {
        let Some(number) = field.integer().filter(|number| !(least..=most).contains(number)) else { return };
        let advice = match (least, most) {
            (_, i64::MAX) => format!("{least} or more"),
            _ => format!("a number from {least} to {most}"),
        };
        self.add(field, format!("is {number}; give {advice}"));
    }

    /// Refuses a string that another item has. `seen` holds those of the items before.
    pub(super) fn unique(&mut self, field: &Field<'_>, seen: &mut HashSet<String>, what: &str) {
        let text = field.text();
        if !text.is_empty() && !seen.insert(text.to_owned()) {
            self.add(field, format!("{text:?} is the {what} of another one too; use another {what}"));
        }
    }

    /// Refuses an integer that is missing, or outside of these bounds.
    pub(super) fn required_range(&mut self, field: &Field<'_>, least: i64, most: i64) {
        if !field.is_set() {
            self.required(field);
        }
        self.range(field, least, most);
    }

    /// Refuses all members that are set but the first. Returns the first.
    pub(super) fn at_most_one<'s>(
        &mut self,
        source: &Field<'_>,
        members: &[&'s str],
        what: &str,
    ) -> Option<&'s str> {
        let mut given = members.iter().filter(|name| source.get(name).is_set());
        let first = given.next()?;
        for other in given {
            let problem =
                format!("is set together with `{first}`, and {what} has only one; remove one of the two");
            self.add(&source.get(other), problem);
        }
        Some(first)
    }
}
