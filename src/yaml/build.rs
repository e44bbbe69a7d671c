//! Builds values from the events of the parser. Handles open containers, anchors, merges and all limits.

use std::collections::HashMap;

use saphyr_parser::{Event, ScalarStyle, Tag};

use crate::json::{Kind, MAX_DEPTH, Value};

use super::lines::{Lines, SourceSpan};
use super::{Document, Position, YamlError, YamlErrorKind, scalar};

/// The most nodes of a text with its aliases expanded. Long scalars count as more than one.
pub const MAX_NODES: usize = 1_000_000;

/// A scalar counts as one node, plus one for each of this many bytes of its text.
const BYTES_A_NODE: usize = 64;

type Result<T> = std::result::Result<T, YamlError>;

#[derive(Clone)]
struct Built {
    value: Value<'static>,
    place: SourceSpan,
    /// The source text, if it is a plain scalar that is not a string.
    plain: Option<Box<str>>,
    /// The number of nodes, including this one.
    size: usize,
    /// The number of nested levels of containers.
    height: usize,
}

/// A list or a map whose end has not been reached.
struct Open {
    position: Position,
    anchor: usize,
    size: usize,
    height: usize,
    content: Content,
}

enum Content {
    List { items: Vec<Value<'static>>, places: Vec<SourceSpan> },
    Map { members: Members, key: Option<Key> },
}

/// A key whose value is the next event.
enum Key {
    /// The name, its position, and the source text if the name is spelled differently.
    Text(String, Position, Option<Box<str>>),
    Merge,
}

/// The members of a map whose end has not been reached.
#[derive(Default)]
struct Members {
    named: Vec<(String, Value<'static>)>,
    places: Vec<SourceSpan>,
    /// The index of each key in `named` and `places`, and the line of the key; `None` if it was only merged.
    known: HashMap<String, (usize, Option<usize>)>,
}

impl Members {
    /// Adds a member that the map itself has. It replaces a merged member before it. A second member of the
    /// same name is an error.
    fn write(
        &mut self,
        name: String,
        value: Value<'static>,
        place: SourceSpan,
    ) -> std::result::Result<(), YamlErrorKind> {
        let line = place.position().line;
        match self.known.get_mut(&name) {
            Some((_, Some(first))) => {
                return Err(YamlErrorKind::DuplicateKey {
                    name: name.chars().take(64).collect(),
                    first: *first,
                });
            }
            Some((index, merged)) => {
                *merged = Some(line);
                self.named[*index].1 = value;
                self.places[*index] = place;
            }
            None => self.push(name, value, place, Some(line)),
        }
        Ok(())
    }

    /// Adds a member of a merged map. It replaces everything before it, as in go-yaml.
    fn merge(&mut self, name: &str, value: &Value<'static>, place: &SourceSpan) {
        if let Some(&(index, _)) = self.known.get(name) {
            self.named[index].1 = value.clone();
            self.places[index] = place.clone();
        } else {
            self.push(name.to_owned(), value.clone(), place.clone(), None);
        }
    }

    fn push(&mut self, name: String, value: Value<'static>, place: SourceSpan, line: Option<usize>) {
        self.known.insert(name.clone(), (self.named.len(), line));
        self.named.push((name, value));
        self.places.push(place);
    }

    /// Merges a map, or a list of maps, of which the first has precedence.
    fn merge_all(&mut self, value: &Value<'static>, place: &SourceSpan) {
        match value {
            Value::Object(object) => {
                for ((name, value), place) in object.iter().zip(place.below()) {
                    self.merge(name, value, place);
                }
            }
            Value::Array(items) => {
                for (item, place) in items.iter().zip(place.below()).rev() {
                    self.merge_all(item, place);
                }
            }
            _ => {}
        }
    }
}

/// Builds documents: call [`event`](Self::event) with all events of a text, then [`finish`](Self::finish).
#[derive(Default)]
pub(super) struct Builder {
    documents: Vec<Document>,
    open: Vec<Open>,
    root: Option<Built>,
    anchors: HashMap<usize, Built>,
    nodes: usize,
}

impl Builder {
    pub(super) fn event(&mut self, event: Event<'_>, position: Position) -> Result<()> {
        match event {
            Event::Scalar(text, style, anchor, tag) => {
                self.scalar(&text, style == ScalarStyle::Plain, anchor, tag.as_deref(), position)
            }
            Event::SequenceStart(anchor, tag) => self.start(false, anchor, tag.as_deref(), position),
            Event::MappingStart(anchor, tag) => self.start(true, anchor, tag.as_deref(), position),
            Event::SequenceEnd | Event::MappingEnd => self.end(),
            Event::Alias(anchor) => self.alias(anchor, position),
            Event::DocumentEnd => {
                self.document();
                Ok(())
            }
            Event::DocumentStart(_) | Event::StreamStart | Event::StreamEnd | Event::Nothing => Ok(()),
        }
    }

    /// The documents that are not empty.
    pub(super) fn finish(self) -> Vec<Document> {
        self.documents
    }

    fn document(&mut self) {
        self.anchors.clear();
        let Some(Built { value, place, .. }) = self.root.take() else {
            return;
        };
        if !value.is_null() {
            self.documents.push(Document {
                index: self.documents.len(),
                line: place.position().line,
                lines: Lines::new(value.clone(), place),
                value,
            });
        }
    }

    fn scalar(
        &mut self,
        text: &str,
        plain: bool,
        anchor: usize,
        tag: Option<&Tag>,
        position: Position,
    ) -> Result<()> {
        let at = |problem| YamlError { position, problem };
        let size = 1 + text.len() / BYTES_A_NODE;
        self.count(size).map_err(at)?;
        if self.at_key() && scalar::is_merge(text, plain, tag) {
            self.set_key(Key::Merge);
            return Ok(());
        }
        let value = match tag {
            Some(tag) => scalar::tagged(tag, text),
            None => scalar::untagged(text, plain),
        };
        let value = value.map_err(at)?;
        let is_plain = tag.is_none() && matches!(value, Value::Bool(_) | Value::Number(_));
        let is_spelled = is_plain && !is_spelled_so(&value, text);
        let place = if is_spelled { SourceSpan::spelled(position, text) } else { SourceSpan::leaf(position) };
        let plain = (is_plain && (is_spelled || self.at_key())).then(|| text.into());
        self.add(Built { value, place, plain, size, height: 0 }, anchor, position)
    }

    fn start(&mut self, map: bool, anchor: usize, tag: Option<&Tag>, position: Position) -> Result<()> {
        let at = |problem| YamlError { position, problem };
        self.count(1).map_err(at)?;
        if let Some(tag) = tag {
            scalar::check_container(tag, if map { "map" } else { "seq" }).map_err(at)?;
        }
        if self.at_key() {
            return Err(at(YamlErrorKind::Key(if map { Kind::Object } else { Kind::Array })));
        }
        if self.open.len() >= MAX_DEPTH {
            return Err(at(YamlErrorKind::TooDeep));
        }
        let content = if map {
            Content::Map { members: Members::default(), key: None }
        } else {
            Content::List { items: Vec::new(), places: Vec::new() }
        };
        self.open.push(Open { position, anchor, size: 1, height: 0, content });
        Ok(())
    }

    fn end(&mut self) -> Result<()> {
        let Some(Open { position, anchor, size, height, content }) = self.open.pop() else {
            return Ok(());
        };
        let (value, places) = match content {
            Content::List { items, places, .. } => (Value::array(items), places),
            Content::Map { members, .. } => {
                (Value::Object(members.named.into_iter().collect()), members.places)
            }
        };
        let node =
            Built { value, place: SourceSpan::of(position, places), plain: None, size, height: height + 1 };
        self.add(node, anchor, position)
    }

    fn alias(&mut self, anchor: usize, position: Position) -> Result<()> {
        let at = |problem| YamlError { position, problem };
        if self.open.iter().any(|open| open.anchor == anchor) {
            return Err(at(YamlErrorKind::EndlessAlias));
        }
        let node = self.anchors.get(&anchor).cloned().ok_or_else(|| at(YamlErrorKind::UnknownAnchor))?;
        self.count(node.size).map_err(at)?;
        if self.open.len() + node.height > MAX_DEPTH {
            return Err(at(YamlErrorKind::TooDeep));
        }
        self.add(node, 0, position)
    }

    fn count(&mut self, nodes: usize) -> std::result::Result<(), YamlErrorKind> {
        self.nodes = self.nodes.saturating_add(nodes);
        if self.nodes > MAX_NODES { Err(YamlErrorKind::TooMany) } else { Ok(()) }
    }

    /// Whether the next node is a key.
    fn at_key(&self) -> bool {
        matches!(self.open.last(), Some(Open { content: Content::Map { key: None, .. }, .. }))
    }

    fn set_key(&mut self, next: Key) {
        if let Some(Open { content: Content::Map { key, .. }, .. }) = self.open.last_mut() {
            *key = Some(next);
        }
    }

    /// Adds a finished node to the innermost open container. `position` is that of the node itself, also for
    /// an alias.
    fn add(&mut self, node: Built, anchor: usize, position: Position) -> Result<()> {
        let at = |problem| YamlError { position, problem };
        if anchor != 0 {
            self.anchors.insert(anchor, node.clone());
        }
        let Some(open) = self.open.last_mut() else {
            self.root = Some(node);
            return Ok(());
        };
        open.size = open.size.saturating_add(node.size);
        open.height = open.height.max(node.height);
        match &mut open.content {
            Content::List { items, places } => {
                items.push(node.value);
                places.push(node.place);
                Ok(())
            }
            Content::Map { members, key } => match key.take() {
                None => {
                    let name = scalar::key_text(&node.value).map_err(at)?;
                    let written = node.plain.filter(|plain| **plain != *name);
                    *key = Some(Key::Text(name, position, written));
                    Ok(())
                }
                Some(Key::Text(name, key, written)) => members
                    .write(name, node.value, node.place.keyed(key, written))
                    .map_err(|problem| YamlError { position: key, problem }),
                Some(Key::Merge) if is_mergeable(&node.value) => {
                    members.merge_all(&node.value, &node.place);
                    Ok(())
                }
                Some(Key::Merge) => Err(at(YamlErrorKind::Merge)),
            },
        }
    }
}

/// Whether a boolean or a number is spelled like this in JSON.
fn is_spelled_so(value: &Value<'_>, text: &str) -> bool {
    match value {
        Value::Bool(flag) => text == if *flag { "true" } else { "false" },
        Value::Number(number) => number.as_str() == text,
        _ => true,
    }
}

/// Whether `<<` accepts the value: a map, or a list of maps.
fn is_mergeable(value: &Value<'_>) -> bool {
    match value {
        Value::Object(_) => true,
        Value::Array(items) => items.iter().all(|item| item.kind() == Kind::Object),
        _ => false,
    }
}
