//! Where the values of a document stand in its text.

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
pub(super) struct Place {
    spot: Spot,
    below: Option<Arc<[Self]>>,
}

impl From<Position> for Spot {
    fn from(position: Position) -> Self {
        // A text of more than four billion lines is not read by anybody.
        let narrow = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
        Self { line: narrow(position.line), column: narrow(position.column) }
    }
}

impl Place {
    /// The place of a scalar, or of an empty list or map.
    pub(super) fn leaf(position: Position) -> Self {
        Self { spot: position.into(), below: None }
    }

    /// The place of a list or a map.
    pub(super) fn of(position: Position, below: Vec<Self>) -> Self {
        Self { spot: position.into(), below: (!below.is_empty()).then(|| below.into()) }
    }

    /// The same, seen from the map that has it as a member: where its key stands.
    pub(super) fn keyed(self, key: Position) -> Self {
        Self { spot: key.into(), ..self }
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

/// Where each value of a document stands: a member of a map where its key does, a list item where it begins.
#[derive(Clone, Debug)]
pub struct Lines {
    value: Value<'static>,
    root: Place,
}

impl Lines {
    /// Lines of `value`, whose items and members `root` has in the same order.
    pub(super) fn new(value: Value<'static>, root: Place) -> Self {
        Self { value, root }
    }

    /// Where the value at `pointer` stands. If there is none: the last one on the way to it that there is, which is
    /// where it is missing.
    pub fn of(&self, pointer: &Pointer) -> Position {
        let (mut value, mut place) = (&self.value, &self.root);
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
        }
        place.position()
    }
}

/// The places in `text`, which has been found to be JSON.
pub(super) fn of_json(text: &str) -> Place {
    let mut walk = Walk { line: 1, column: 1, key: None, open: Vec::new(), root: None };
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
                    walk.ended(Place::of(open.position, open.below));
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
    walk.root.unwrap_or_else(|| Place::leaf(Position { line: 1, column: 1 }))
}

/// A list or a map of JSON text that has not ended yet.
struct Open {
    position: Position,
    map: bool,
    below: Vec<Place>,
}

/// A walk through JSON text.
struct Walk {
    line: usize,
    column: usize,
    /// Where the name of the member stands whose value comes next.
    key: Option<Position>,
    open: Vec<Open>,
    root: Option<Place>,
}

impl Walk {
    fn pass(&mut self, c: char) {
        (self.line, self.column) = if c == '\n' { (self.line + 1, 1) } else { (self.line, self.column + 1) };
    }

    fn leaf(&mut self, here: Position) {
        let position = self.key.take().unwrap_or(here);
        self.ended(Place::leaf(position));
    }

    fn ended(&mut self, place: Place) {
        match self.open.last_mut() {
            Some(open) => open.below.push(place),
            None => self.root = Some(place),
        }
    }
}
