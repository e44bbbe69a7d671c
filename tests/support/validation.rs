//! Objects of the kinds of Kubernetes, right and wrong ones, and what an API server answered to each.

use reviser::domain::GroupVersionKind;
use reviser::engine::validate::violations;
use reviser::json::{Pointer, Value as Object};
use reviser::yaml;
use serde_json::Value;

const ROWS: &str = include_str!("../data/validation/rows.yaml");
const FULL: &str = include_str!("../data/validation/full.yaml");

/// An object.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    /// Its kind, and how it differs from the first object of that kind.
    pub(crate) name: String,
    pub(crate) object: Value,
    /// Where it is created, with `{namespace}` for the namespace.
    pub(crate) collection: String,
    /// Why reviser answers otherwise than an API server, if it does.
    pub(crate) differs: Option<String>,
    /// The first place that is changed.
    pub(crate) changed: Option<String>,
}

/// All objects.
pub(crate) fn rows() -> Vec<Row> {
    read(ROWS).iter().flat_map(of_kind).collect()
}

fn read(text: &str) -> Vec<Value> {
    let documents = yaml::documents(text).unwrap();
    documents.iter().map(|document| serde_json::from_str(&document.value.to_string()).unwrap()).collect()
}

/// Objects with many fields, and each of them with each place made wrong in some ways. The first of a kind is
/// unchanged.
pub(crate) fn mutants() -> Vec<Row> {
    let of_one = |document: &Value| {
        let mut places = Vec::new();
        collect(&document["object"], &Pointer::ROOT, &mut places);
        let changed = |(pointer, other): (Pointer, Option<Value>)| {
            let mut changes = serde_json::Map::new();
            changes.insert(pointer.to_string(), other.unwrap_or(Value::Null));
            row(document, changes, None)
        };
        let unchanged = row(document, serde_json::Map::new(), None);
        std::iter::once(unchanged).chain(places.into_iter().map(changed)).collect::<Vec<_>>()
    };
    read(FULL).iter().flat_map(of_one).collect()
}

/// The places below one, each with what is to stand there; nothing for `None`.
fn collect(value: &Value, place: &Pointer, into: &mut Vec<(Pointer, Option<Value>)>) {
    let is_identity = |name: &str| matches!(name, "apiVersion" | "kind" | "name") && place.tokens().len() < 2;
    match value {
        Value::Object(members) => {
            for (name, member) in members {
                let below = place.join(name);
                if place.tokens() == ["metadata"] && name == "name" || place.is_root() && is_identity(name) {
                    continue;
                }
                into.push((below.clone(), None));
                into.extend(others(member).into_iter().map(|other| (below.clone(), Some(other))));
                collect(member, &below, into);
            }
        }
        Value::Array(items) => {
            for (position, item) in items.iter().enumerate() {
                let below = place.join(position.to_string());
                into.extend(others(item).into_iter().map(|other| (below.clone(), Some(other))));
                collect(item, &below, into);
            }
        }
        _ => {}
    }
}

/// Other values of the same type.
fn others(value: &Value) -> Vec<Value> {
    match value {
        Value::Number(_) => [-1, 0, 1, 700, 70_000].map(Value::from).to_vec(),
        Value::String(_) => {
            ["", "x", "A b", "-", "a/b", "../c", "10%", &"a".repeat(64)].map(Value::from).to_vec()
        }
        Value::Bool(flag) => vec![(!flag).into()],
        Value::Array(items) => {
            let twice: Vec<Value> = items.iter().chain(items.first()).cloned().collect();
            vec![Value::Array(Vec::new()), twice.into()]
        }
        _ => vec![serde_json::json!({})],
    }
}

fn of_kind(document: &Value) -> Vec<Row> {
    let changed = |changes: &Value| {
        let mut changes = changes.as_object().unwrap().clone();
        let differs = changes.remove("differs").map(|why| why.as_str().unwrap().to_owned());
        row(document, changes, differs)
    };
    document["rows"].as_array().unwrap().iter().map(changed).collect()
}

fn row(document: &Value, changes: serde_json::Map<String, Value>, differs: Option<String>) -> Row {
    let mut object = document["object"].clone();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let name = format!("{} {}", text(&object["kind"]), text(&object["apiVersion"]));
    let name = format!("{name} {}", Value::Object(changes.clone()));
    let first = changes.keys().next().cloned();
    for (pointer, value) in changes {
        change(&mut object, &Pointer::parse(&pointer).unwrap(), value);
    }
    Row { name, object, collection: text(&document["collection"]), differs, changed: first }
}

/// Puts `value` at a place, making the maps on the way. A null takes away what is there.
fn change(object: &mut Value, pointer: &Pointer, value: Value) {
    let (last, parents) = pointer.tokens().split_last().unwrap();
    let mut place = object;
    for token in parents {
        place = match place {
            Value::Array(items) => &mut items[token.parse::<usize>().unwrap()],
            other => &mut other[token],
        };
    }
    match (place, value) {
        (Value::Array(items), value) => {
            let position = last.parse::<usize>().unwrap();
            if position < items.len() {
                items[position] = value;
            } else {
                items.push(value);
            }
        }
        (map, Value::Null) => drop(map.as_object_mut().unwrap().remove(last)),
        (map, value) => map[last] = value,
    }
}

impl Row {
    /// reviser's findings.
    pub(crate) fn violations(&self) -> Vec<String> {
        let text = self.object.to_string();
        let object = Object::parse(text.as_bytes()).unwrap();
        let text = |name: &str| self.object[name].as_str().unwrap();
        let found = violations(&GroupVersionKind::of(text("apiVersion"), text("kind")), &object);
        found.iter().map(|violation| format!("{}: {}", violation.place, violation.problem)).collect()
    }

    /// How reviser and an API server differ; `None` where they do not, or where that is known.
    pub(crate) fn difference(&self, is_accepted: bool, answer: &str) -> Option<String> {
        let found = self.violations();
        match (&self.differs, found.is_empty() == is_accepted) {
            (None, true) | (Some(_), false) => None,
            (Some(why), true) => Some(format!("{}: they do not differ any more: {why}", self.name)),
            (None, false) => Some(format!("{}: {answer}; reviser: {found:?}", self.name)),
        }
    }
}
