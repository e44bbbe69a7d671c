//! Decodes types that only policy documents have. [`crate::json`] decodes the general ones.

use std::time::Duration;

use crate::domain::{likeliest, parse_duration};
use crate::engine::below_string;
pub(super) use crate::json::Notes;
use crate::json::{self, Object, Pointer};

/// A value of a document and its place.
pub(super) type Node<'v> = json::Node<'v, 'static>;

/// A duration in the format of Go: `10m`, `1h30m`.
pub(super) fn duration(node: &Node<'_>, notes: &mut Notes) -> Option<Duration> {
    let text = node.string(notes)?;
    let duration = parse_duration(text).filter(|duration| !duration.is_zero());
    if duration.is_none() {
        let problem = format!("must be a duration above zero such as `10m` or `1h30m`, is {text:?}");
        notes.note(&node.field, problem);
    }
    duration
}

/// A JSON pointer. The root is not allowed.
pub(super) fn pointer(node: &Node<'_>, notes: &mut Notes) -> Option<Pointer> {
    let text = node.string(notes)?;
    let problem = match Pointer::parse(text) {
        Ok(pointer) if pointer.is_root() => {
            "must name a place below the root, for instance `/spec/strategy/canary/steps`".to_owned()
        }
        Ok(pointer) => match below_string(&pointer, None) {
            None => return Some(pointer),
            Some(problem) => problem,
        },
        Err(error) => format!("{text:?} is no JSON pointer: {error}"),
    };
    notes.note(&node.field, problem);
    None
}

/// One of the given words.
pub(super) fn one_of<T: Copy>(node: &Node<'_>, words: &[(&str, T)], notes: &mut Notes) -> Option<T> {
    let text = node.string(notes)?;
    let found = words.iter().find(|(word, _)| *word == text).map(|(_, meaning)| *meaning);
    if found.is_none() {
        let list: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
        let hint = did_you_mean(text, list.iter().copied());
        notes.note(&node.field, format!("{text:?} is not one of {}{hint}", list.join(", ")));
    }
    found
}

/// The valid names in a list. Invalid names are reported.
pub(super) fn names<'v>(list: &Node<'v>, notes: &mut Notes) -> Vec<&'v str> {
    list.items(notes).iter().filter_map(|item| item.name(notes)).collect()
}

/// The fields of a map, taken by name. [`end`](Self::end) reports the fields that were not taken.
#[derive(Debug)]
#[must_use = "end() notes the unknown fields"]
pub(super) struct Fields<'v> {
    pub(super) object: &'v Object<'static>,
    pub(super) field: Pointer,
    known: Vec<&'static str>,
}

impl<'v> Fields<'v> {
    pub(super) fn of(node: Node<'v>, notes: &mut Notes) -> Option<Self> {
        Some(Self { object: node.map(notes)?, field: node.field, known: Vec::new() })
    }

    /// The field `name`. Null counts as missing, as in the Kubernetes API.
    pub(super) fn optional(&mut self, name: &'static str) -> Option<Node<'v>> {
        self.known.push(name);
        let value = self.object.get(name).filter(|value| !value.is_null())?;
        Some(Node { value, field: self.field.join(name) })
    }

    /// The field `name`, which is required.
    pub(super) fn required(&mut self, name: &'static str, notes: &mut Notes) -> Option<Node<'v>> {
        let node = self.optional(name);
        if node.is_none() {
            notes.note(&self.field.join(name), "is required");
        }
        node
    }

    /// Reports the fields that have not been taken.
    pub(super) fn end(self, notes: &mut Notes) {
        for (name, _) in self.object.iter().filter(|(name, _)| !self.known.contains(name)) {
            let mut hint = did_you_mean(name, self.known.iter().copied());
            if hint.is_empty() {
                hint = format!("; known here: {}", self.known.join(", "));
            }
            notes.note(&self.field.join(name), format!("unknown field{hint}"));
        }
    }
}

/// `; did you mean "x"?` with the most similar candidate. Empty if no candidate is similar.
pub(super) fn did_you_mean<'c>(name: &str, candidates: impl IntoIterator<Item = &'c str>) -> String {
    likeliest(name, candidates).map_or_else(String::new, |candidate| format!("; did you mean {candidate:?}?"))
}
