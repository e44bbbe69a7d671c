//! Where the values of a document stand in its text, and which of them mean something else than they look like.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use crate::json::{Pointer, Value};

use super::Position;

/// Where a value stands, and where those below it do, in their order.
#[derive(Clone, Copy, Debug)]
pub(super) struct Spot {
    line: u32,
    column: u32,
}

/// A [`Spot`] and those of the items or members below it, which aliases share.
#[derive(Clone, Debug)]
pub(super) struct SourceSpan {
    spot: Spot,
    below: Option<Arc<[Self]>>,
    /// How the value and its key are written, where that is rare: most are spelled as they are read.
    spelled: Option<Arc<Spelled>>,
}

/// Plain scalars that are read as something spelled otherwise, as they are written.
#[derive(Clone, Debug, Default)]
struct Spelled {
    key: Option<Box<str>>,
    value: Option<Box<str>>,
}

/// A plain scalar that is read as something spelled otherwise: `n` as false, `0755` as 493.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reading {
    written: String,
    read: String,
}

impl Reading {
    /// A problem of the scalar, with how it is read in place of the advice to quote it.
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
        // A text of more than four billion lines is not read by anybody.
        let narrow = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
        Self { line: narrow(position.line), column: narrow(position.column) }
    }
}

impl SourceSpan {
    /// The place of a scalar, or of an empty list or map.
    pub(super) fn leaf(position: Position) -> Self {
        Self { spot: position.into(), below: None, spelled: None }
    }

    /// The place of a list or a map.
    pub(super) fn of(position: Position, below: Vec<Self>) -> Self {
        Self { spot: position.into(), below: (!below.is_empty()).then(|| below.into()), spelled: None }
    }

    /// The place of a scalar that is read as something else than is written.
    pub(super) fn spelled(position: Position, written: &str) -> Self {
        let spelled = Spelled { key: None, value: Some(written.into()) };
        Self { spelled: Some(Arc::new(spelled)), ..Self::leaf(position) }
    }

    /// The same, seen from the map that has it as a member: where its key stands, and how that is written if it is read as something else.
    pub(super) fn keyed(self, key: Position, written: Option<Box<str>>) -> Self {
        let spot = key.into();
        let value = self.spelled.as_ref().and_then(|spelled| spelled.value.clone());
        // Of what an alias stands for, the key is another one.
        let spelled =
            (written.is_some() || value.is_some()).then(|| Arc::new(Spelled { key: written, value }));
        Self { spot, spelled, ..self }
    }

    /// The places of the items or members.
    pub(super) fn below(&self) -> &[Self] {
        self.below.as_deref().unwrap_or_default()
    }

    pub(super) fn position(&self) -> Position {
        let wide = |number: u32| usize::try_from(number).unwrap_or(usize::MAX);
        Position { line: wide(self.spot.line), column: wide(self.spot.column) }
    }
}

/// Whether a problem is that a boolean or a number stands where a string is needed, so that a [`Reading`] explains it.
pub fn asks_for_a_string(problem: &str) -> bool {
    problem.contains("string") && (problem.contains("boolean") || problem.contains("number"))
}

/// Where each value of a document stands: a member of a map where its key does, a list item where it begins.
#[derive(Clone, Debug)]
pub struct Lines {
    value: Value<'static>,
    root: SourceSpan,
}

impl Lines {
    /// Lines of `value`, whose items and members `root` has in the same order.
    pub(super) fn new(value: Value<'static>, root: SourceSpan) -> Self {
        Self { value, root }
    }

    /// Where the value at `pointer` stands. If there is none: the last one on the way to it that there is, which is
    /// where it is missing.
    pub fn of(&self, pointer: &Pointer) -> Position {
        self.nearest(pointer).1.position()
    }

    /// How the scalar at `pointer` is written, if it is read as something spelled otherwise.
    pub fn reading(&self, pointer: &Pointer) -> Option<Reading> {
        let (steps, place, value) = self.nearest(pointer);
        let written = place.spelled.as_ref()?.value.as_deref()?;
        let is_there = steps == pointer.tokens().len();
        is_there.then(|| Reading { written: written.to_owned(), read: value.to_string() })
    }

    /// The members whose key is read as something else than is written, each where it stands first.
    pub fn keys(&self) -> Vec<(Pointer, Reading)> {
        let mut found = Vec::new();
        keys(&self.value, &self.root, &Pointer::ROOT, &mut BTreeSet::new(), &mut found);
        found
    }

    /// The value at `pointer`, or the last one on the way to it: after how many steps, with its place.
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

/// Notes the keys of [`Lines::keys`] in and below a value. An alias and a merge show one text in several places.
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

/// The places in `text`, which has been found to be JSON.
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

/// A list or a map of JSON text that has not ended yet.
struct Open {
    position: Position,
    map: bool,
    below: Vec<SourceSpan>,
}

/// A walk through JSON text.
struct JsonLines {
    line: usize,
    column: usize,
    /// Where the name of the member stands whose value comes next.
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
