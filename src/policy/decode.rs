//! Reading typed values out of a document, noting every fault and going on.
//!
//! A reader that finds a fault notes it and gives `None` (or what is left); the caller goes on with what it has, so
//! that one look finds all faults. Whatever was noted, nothing is compiled in the end.

use std::time::Duration;

use super::finding::{Finding, nearest};
use crate::engine::below_string;
use crate::json::{Number, Object, Pointer, Value};

/// The faults of one document so far.
#[derive(Debug)]
pub(super) struct Notes {
    document: usize,
    findings: Vec<Finding>,
}

impl Notes {
    pub(super) fn new(document: usize) -> Self {
        Self { document, findings: Vec::new() }
    }

    pub(super) fn note(&mut self, field: &Pointer, problem: impl Into<String>) {
        self.findings.push(Finding {
            document: self.document,
            field: field.clone(),
            problem: problem.into(),
        });
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.findings.len()
    }

    pub(super) fn into_findings(self) -> Vec<Finding> {
        self.findings
    }
}

/// A value of a document and where it is.
#[derive(Clone, Debug)]
pub(super) struct Node<'v> {
    pub(super) value: &'v Value<'static>,
    pub(super) field: Pointer,
}

impl<'v> Node<'v> {
    fn expected<T>(&self, what: &str, notes: &mut Notes) -> Option<T> {
        notes.note(&self.field, format!("must be {what}, is {}", self.value.kind()));
        None
    }

    pub(super) fn string(&self, notes: &mut Notes) -> Option<&'v str> {
        self.value.as_str().or_else(|| self.expected("a string", notes))
    }

    /// A string that is not empty.
    pub(super) fn name(&self, notes: &mut Notes) -> Option<&'v str> {
        let name = self.string(notes)?;
        if name.is_empty() {
            notes.note(&self.field, "must not be empty");
            return None;
        }
        Some(name)
    }

    pub(super) fn boolean(&self, notes: &mut Notes) -> Option<bool> {
        self.value.as_bool().or_else(|| self.expected("true or false", notes))
    }

    pub(super) fn integer(&self, notes: &mut Notes) -> Option<i64> {
        let integer = self.value.as_number().and_then(Number::as_i64);
        if integer.is_none()
            && let Some(number) = self.value.as_number()
        {
            notes.note(&self.field, format!("must be an integer of 64 bits, is {number}"));
            return None;
        }
        integer.or_else(|| self.expected("an integer", notes))
    }

    /// A duration as Go spells it: `10m`, `1h30m`.
    pub(super) fn duration(&self, notes: &mut Notes) -> Option<Duration> {
        let text = self.string(notes)?;
        let duration = crate::domain::parse_duration(text).filter(|duration| !duration.is_zero());
        if duration.is_none() {
            notes.note(
                &self.field,
                format!("must be a duration above zero such as `10m` or `1h30m`, is {text:?}"),
            );
        }
        duration
    }

    /// A JSON pointer that is not the root.
    pub(super) fn pointer(&self, notes: &mut Notes) -> Option<Pointer> {
        let text = self.string(notes)?;
        match Pointer::parse(text) {
            Ok(pointer) if pointer.is_root() => {
                notes.note(
                    &self.field,
                    "must name a place below the root, for instance `/spec/strategy/canary/steps`",
                );
                None
            }
            Ok(pointer) => {
                if let Some(problem) = below_string(&pointer, None) {
                    notes.note(&self.field, problem);
                    return None;
                }
                Some(pointer)
            }
            Err(error) => {
                notes.note(&self.field, format!("{text:?} is no JSON pointer: {error}"));
                None
            }
        }
    }

    /// One of these words.
    pub(super) fn one_of<T: Copy>(&self, words: &[(&str, T)], notes: &mut Notes) -> Option<T> {
        let text = self.string(notes)?;
        let found = words.iter().find(|(word, _)| *word == text).map(|(_, meaning)| *meaning);
        if found.is_none() {
            let list: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
            notes.note(
                &self.field,
                format!(
                    "{text:?} is not one of {}{}",
                    list.join(", "),
                    did_you_mean(text, list.iter().copied())
                ),
            );
        }
        found
    }

    /// The items of a list; none if it is no list.
    pub(super) fn items(&self, notes: &mut Notes) -> Vec<Self> {
        let Some(items) = self.value.as_array().or_else(|| self.expected("a list", notes)) else {
            return Vec::new();
        };
        let item = |(position, value)| Self { value, field: self.field.join(usize::to_string(&position)) };
        items.iter().enumerate().map(item).collect()
    }

    /// The strings of a list of names, without those that are none.
    pub(super) fn names(&self, notes: &mut Notes) -> Vec<&'v str> {
        self.items(notes).iter().filter_map(|item| item.name(notes)).collect()
    }

    pub(super) fn fields(self, notes: &mut Notes) -> Option<Fields<'v>> {
        match self.value.as_object() {
            Some(object) => Some(Fields { object, field: self.field, known: Vec::new() }),
            None => self.expected("a map", notes),
        }
    }
}

/// A map of a document, from which fields are taken by name. [`end`](Self::end) notes those nobody asked for.
#[derive(Debug)]
#[must_use = "end() notes the unknown fields"]
pub(super) struct Fields<'v> {
    pub(super) object: &'v Object<'static>,
    pub(super) field: Pointer,
    known: Vec<&'static str>,
}

impl<'v> Fields<'v> {
    /// The field `name`. Null counts as missing, as in the Kubernetes API.
    pub(super) fn optional(&mut self, name: &'static str) -> Option<Node<'v>> {
        self.known.push(name);
        let value = self.object.get(name).filter(|value| !value.is_null())?;
        Some(Node { value, field: self.field.join(name) })
    }

    /// The field `name`, which has to be there.
    pub(super) fn required(&mut self, name: &'static str, notes: &mut Notes) -> Option<Node<'v>> {
        let node = self.optional(name);
        if node.is_none() {
            notes.note(&self.field.join(name), "is required");
        }
        node
    }

    /// Notes the fields that nobody asked for.
    pub(super) fn end(self, notes: &mut Notes) {
        for (name, _) in self.object.iter().filter(|(name, _)| !self.known.contains(name)) {
            let hint = did_you_mean(name, self.known.iter().copied());
            let hint =
                if hint.is_empty() { format!("; known here: {}", self.known.join(", ")) } else { hint };
            notes.note(&self.field.join(name), format!("unknown field{hint}"));
        }
    }
}

/// `; did you mean "x"?`, or nothing.
pub(super) fn did_you_mean<'c>(name: &str, candidates: impl IntoIterator<Item = &'c str>) -> String {
    nearest(name, candidates).map(|near| format!("; did you mean {near:?}?")).unwrap_or_default()
}
