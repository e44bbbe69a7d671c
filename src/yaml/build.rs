//! Values out of the events of the parser: a stack of what is open, anchors, merges and all the bounds.

use std::collections::HashMap;

use saphyr_parser::{Event, ScalarStyle, Tag};

use crate::json::{Kind, MAX_DEPTH, Value};

use super::lines::{Lines, SourceSpan};
use super::{Document, Position, YamlError, YamlErrorKind, scalar};

/// How many nodes a text may have with its aliases expanded. Long scalars count for more than one.
pub const MAX_NODES: usize = 1_000_000;

/// A scalar counts as one node, and as one more for each time that its text has this many bytes.
const BYTES_A_NODE: usize = 64;

type Result<T> = std::result::Result<T, YamlError>;

/// A finished value.
#[derive(Clone)]
struct Built {
    value: Value<'static>,
    place: SourceSpan,
    /// Its text, if it is a plain scalar that is no string.
    plain: Option<Box<str>>,
    /// How many nodes there are in it, itself included.
    size: usize,
    /// How many levels of containers there are in it.
    height: usize,
}

/// A list or a map that has not ended yet.
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

/// A key whose value comes next.
enum Key {
    /// The name, where it stands, and how it is written if it is read as something else.
    Text(String, Position, Option<Box<str>>),
    Merge,
}

/// The members of a map that has not ended yet.
#[derive(Default)]
struct Members {
    named: Vec<(String, Value<'static>)>,
    places: Vec<SourceSpan>,
    /// Where each key is in the two above, and on which line it is written; none if it was only merged.
    known: HashMap<String, (usize, Option<usize>)>,
}

impl Members {
    /// A member that is written in the map itself. It wins over a merged one before it.
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

    /// A member that comes from a merge. It wins over everything before it, as in go-yaml.
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

    /// Merges a map, or the maps of a list, of which the first counts most.
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

/// The builder. Feed it all events of a text, then take the documents.
#[derive(Default)]
pub(super) struct Builder {
    documents: Vec<Document>,
    open: Vec<Open>,
    root: Option<Built>,
    anchors: HashMap<usize, Built>,
    nodes: usize,
}

impl Builder {
    /// Takes the next event.
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

    /// The documents that were not empty.
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

    /// Whether a key comes next.
    fn at_key(&self) -> bool {
        matches!(self.open.last(), Some(Open { content: Content::Map { key: None, .. }, .. }))
    }

    fn set_key(&mut self, next: Key) {
        if let Some(Open { content: Content::Map { key, .. }, .. }) = self.open.last_mut() {
            *key = Some(next);
        }
    }

    /// Puts a finished node where it belongs. `position` is where it stands, which is not where an alias leads.
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

/// Whether a boolean or a number is spelled like this in JSON too.
fn is_spelled_so(value: &Value<'_>, text: &str) -> bool {
    match value {
        Value::Bool(flag) => text == if *flag { "true" } else { "false" },
        Value::Number(number) => number.as_str() == text,
        _ => true,
    }
}

/// Whether `<<` takes this: a map, or a list of maps.
fn is_mergeable(value: &Value<'_>) -> bool {
    match value {
        Value::Object(_) => true,
        Value::Array(items) => items.iter().all(|item| item.kind() == Kind::Object),
        _ => false,
    }
}
