//! The positions of the values of a document in its text, and the plain scalars that are not what they look
//! like.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use crate::json::{Pointer, Value};

use super::Position;

/// The position of a value.
#[derive(Clone, Copy, Debug)]
pub(super) struct Spot {
    line: u32,
    column: u32,
}

/// The position of a value, and the spans of its items or members in order. Aliases share them.
#[derive(Clone, Debug)]
pub(super) struct SourceSpan {
    spot: Spot,
    below: Option<Arc<[Self]>>,
    /// How the value and its key are spelled, if that differs from how they are read. This is rare.
    spelled: Option<Arc<Spelled>>,
}

/// The source text of a key and a value that are spelled differently from how they are read.
#[derive(Clone, Debug, Default)]
struct Spelled {
    key: Option<Box<str>>,
    value: Option<Box<str>>,
}

/// A plain scalar that is read as something spelled differently: `n` as false, `0755` as 493.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reading {
    written: String,
    read: String,
}

impl Reading {
    /// Adds to a problem how the scalar is read. Replaces the advice to quote it, which is part of that.
    pub fn explain(&self, problem: &str) -> String {
        format!("{}; {self}", problem.strip_suffix("; put it in quotes").unwrap_or(problem))
    }
}

impl fmt::Display for Reading {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` is read as {}; put it in quotes", self.written, self.read)
    }
}

impl From<Position> for Spot {
    fn from(position: Position) -> Self {
        // No real text has more than four billion lines.
        let narrow = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
        Self { line: narrow(position.line), column: narrow(position.column) }
    }
}

impl SourceSpan {
    /// The span of a scalar, or of an empty list or map.
    pub(super) fn leaf(position: Position) -> Self {
        Self { spot: position.into(), below: None, spelled: None }
    }

    /// The span of a list or a map.
    pub(super) fn of(position: Position, below: Vec<Self>) -> Self {
        Self { spot: position.into(), below: (!below.is_empty()).then(|| below.into()), spelled: None }
    }

    /// The span of a scalar that is spelled differently from how it is read.
    pub(super) fn spelled(position: Position, written: &str) -> Self {
        let spelled = Spelled { key: None, value: Some(written.into()) };
        Self { spelled: Some(Arc::new(spelled)), ..Self::leaf(position) }
    }

    /// The same span for a member of a map: with the position of the key, and the source text of the key if
    /// it is spelled differently.
    pub(super) fn keyed(self, key: Position, written: Option<Box<str>>) -> Self {
        let spot = key.into();
        let value = self.spelled.as_ref().and_then(|spelled| spelled.value.clone());
        // An alias shares the value of its anchor, but has another key.
        let spelled =
            (written.is_some() || value.is_some()).then(|| Arc::new(Spelled { key: written, value }));
        Self { spot, spelled, ..self }
    }

    /// The spans of the items or members.
    pub(super) fn below(&self) -> &[Self] {
        self.below.as_deref().unwrap_or_default()
    }

    pub(super) fn position(&self) -> Position {
        let wide = |number: u32| usize::try_from(number).unwrap_or(usize::MAX);
        Position { line: wide(self.spot.line), column: wide(self.spot.column) }
    }
}

/// Whether a problem is that a boolean or a number stands where a string is needed, so that a [`Reading`]
/// explains it.
pub fn asks_for_a_string(problem: &str) -> bool {
    problem.contains("string") && (problem.contains("boolean") || problem.contains("number"))
}

/// The position of each value of a document. A member of a map has the position of its key, a list item that
/// of its first character.
#[derive(Clone, Debug)]
pub struct Lines {
    value: Value<'static>,
    root: SourceSpan,
}

impl Lines {
    /// `root` has the items and members of `value` in the same order.
    pub(super) fn new(value: Value<'static>, root: SourceSpan) -> Self {
        Self { value, root }
    }

    /// The position of the value at `pointer`. If there is no such value, the position of its nearest
    /// ancestor.
    pub fn of(&self, pointer: &Pointer) -> Position {
        self.nearest(pointer).1.position()
    }

    /// How the scalar at `pointer` is spelled, if that differs from how it is read.
    pub fn reading(&self, pointer: &Pointer) -> Option<Reading> {
        let (steps, place, value) = self.nearest(pointer);
        let written = place.spelled.as_ref()?.value.as_deref()?;
        let is_there = steps == pointer.tokens().len();
        is_there.then(|| Reading { written: written.to_owned(), read: value.to_string() })
    }

    /// The members whose key is spelled differently from how it is read. A key that is shown several times by
    /// aliases is listed once.
    pub fn keys(&self) -> Vec<(Pointer, Reading)> {
        let mut found = Vec::new();
        keys(&self.value, &self.root, &Pointer::ROOT, &mut BTreeSet::new(), &mut found);
        found
    }

    /// The value at `pointer` or its nearest ancestor: the number of tokens that lead to it, its span, and
    /// the value.
    fn nearest(&self, pointer: &Pointer) -> (usize, &SourceSpan, &Value<'static>) {
        let (mut value, mut place, mut steps) = (&self.value, &self.root, 0);
        for token in pointer.tokens() {
            let step = match value {
                Value::Object(object) => object
                    .iter()
                    .enumerate()
                    .find_map(|(n, (name, below))| (name == token).then_some((n, below))),
                Value::Array(items) => token.parse().ok().and_then(|n: usize| Some((n, items.get(n)?))),
                _ => None,
            };
            let Some((below, next)) = step.and_then(|(n, below)| Some((below, place.below().get(n)?))) else {
                break;
            };
            (value, place) = (below, next);
            steps += 1;
        }
        (steps, place, value)
    }
}

/// Appends the keys of [`Lines::keys`] in and below a value. Keys whose position is in `seen` are skipped.
fn keys(
    value: &Value<'static>,
    place: &SourceSpan,
    pointer: &Pointer,
    seen: &mut BTreeSet<Position>,
    found: &mut Vec<(Pointer, Reading)>,
) {
    match value {
        Value::Object(members) => {
            for ((name, member), place) in members.iter().zip(place.below()) {
                let pointer = pointer.join(name);
                let written = place.spelled.as_ref().and_then(|spelled| spelled.key.as_deref());
                if let Some(written) = written.filter(|_| seen.insert(place.position())) {
                    let reading = Reading { written: written.to_owned(), read: name.to_owned() };
                    found.push((pointer.clone(), reading));
                }
                keys(member, place, &pointer, seen, found);
            }
        }
        Value::Array(items) => {
            for (position, (item, place)) in items.iter().zip(place.below()).enumerate() {
                keys(item, place, &pointer.join(position.to_string()), seen, found);
            }
        }
        _ => {}
    }
}

/// The spans of `text`, which must be valid JSON.
pub(super) fn of_json(text: &str) -> SourceSpan {
    let mut walk = JsonLines { line: 1, column: 1, key: None, open: Vec::new(), root: None };
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        let here = Position { line: walk.line, column: walk.column };
        walk.pass(c);
        match c {
            '{' | '[' => {
                let position = walk.key.take().unwrap_or(here);
                walk.open.push(Open { position, map: c == '{', below: Vec::new() });
            }
            '}' | ']' => {
                if let Some(open) = walk.open.pop() {
                    walk.ended(SourceSpan::of(open.position, open.below));
                }
            }
            '"' => {
                let mut escaped = false;
                for c in chars.by_ref() {
                    walk.pass(c);
                    match c {
                        '"' if !escaped => break,
                        _ => escaped = c == '\\' && !escaped,
                    }
                }
                if walk.key.is_none() && walk.open.last().is_some_and(|open| open.map) {
                    walk.key = Some(here);
                } else {
                    walk.leaf(here);
                }
            }
            ' ' | '\t' | '\r' | '\n' | ',' | ':' => {}
            _ => {
                while let Some(c) = chars.next_if(|c| c.is_ascii_alphanumeric() || "+-.".contains(*c)) {
                    walk.pass(c);
                }
                walk.leaf(here);
            }
        }
    }
    walk.root.unwrap_or_else(|| SourceSpan::leaf(Position { line: 1, column: 1 }))
}

/// A list or a map of JSON text whose end has not been reached.
struct Open {
    position: Position,
    map: bool,
    below: Vec<SourceSpan>,
}

/// Scans JSON text for the positions of its values.
struct JsonLines {
    line: usize,
    column: usize,
    /// The position of the key whose value is next.
    key: Option<Position>,
    open: Vec<Open>,
    root: Option<SourceSpan>,
}

impl JsonLines {
    fn pass(&mut self, c: char) {
        (self.line, self.column) = if c == '\n' { (self.line + 1, 1) } else { (self.line, self.column + 1) };
    }

    fn leaf(&mut self, here: Position) {
        let position = self.key.take().unwrap_or(here);
        self.ended(SourceSpan::leaf(position));
    }

    fn ended(&mut self, place: SourceSpan) {
        match self.open.last_mut() {
            Some(open) => open.below.push(place),
            None => self.root = Some(place),
        }
    }
}
