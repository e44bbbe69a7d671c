//! Reads the action `patch`.

use super::decode::{Fields, Node, Notes, one_of};
use super::merge_keys::merge_keys;
use super::template::Expressions;
use crate::engine::{IDENTITY, PatchAction, PatchKind, Templated, below_string, protected_by};
use crate::expression::Template;
use crate::json::{Kind, Object, Pointer, Value};
use crate::patch::rfc6902::{self, MissingPath, Op};
use crate::patch::strategic;
use crate::yaml;

#[derive(Clone, Copy, PartialEq)]
enum Type {
    Strategic,
    Merge,
    Json,
}

pub(super) fn patch(node: Node<'_>, expressions: &mut Expressions, notes: &mut Notes) -> Option<PatchAction> {
    const TYPES: &[(&str, Type)] =
        &[("Strategic", Type::Strategic), ("Merge", Type::Merge), ("JSON", Type::Json)];
    const MISSING: &[(&str, MissingPath)] =
        &[("Fail", MissingPath::Fail), ("Create", MissingPath::Create), ("Skip", MissingPath::Skip)];
    let mut fields = Fields::of(node, notes)?;
    let kind = fields.required("type", notes).and_then(|node| one_of(&node, TYPES, notes));
    // `required` would reject a null, which is a patch that changes nothing.
    let given = fields.object.get("value").cloned();
    let _ = fields.optional("value");
    let place = fields.field.join("value");
    if given.is_none() {
        notes.note(&place, "is required");
    }
    let missing =
        fields.optional("missingPath").map(|node| (node.field.clone(), one_of(&node, MISSING, notes)));
    let keys = fields.optional("mergeKeys").map(|node| (node.field.clone(), merge_keys(&node, notes)));
    fields.end(notes);
    let (kind, given) = (kind?, given?);
    if let Some((field, _)) = &missing
        && kind != Type::Json
    {
        notes.note(field, "is for the type JSON, whose operations name places");
    }
    if let Some((field, _)) = &keys
        && kind != Type::Strategic
    {
        notes.note(field, "is for the type Strategic, which merges lists");
    }
    let value = read(given, &place, notes)?;
    // If the whole patch is one expression, it can be checked only with an object.
    let is_expression = value.as_str().is_some_and(Template::is_one_expression);
    if !is_expression {
        check(kind, &value, &place, notes);
    }
    let value = expressions.tree(&value, &place, notes);
    if is_expression {
        check_kind(kind, &value, &place, notes);
    }
    let kind = match kind {
        Type::Strategic => PatchKind::Strategic(keys.map(|(_, keys)| keys).unwrap_or_default()),
        Type::Merge => PatchKind::Merge,
        Type::Json => PatchKind::Json(missing.map_or(Some(MissingPath::Fail), |(_, missing)| missing)?),
    };
    Some(PatchAction { kind, value })
}

/// Reads a strategic merge patch without expressions.
pub(super) fn strategic(given: Value<'static>, place: &Pointer, notes: &mut Notes) -> Option<PatchAction> {
    let value = read(given, place, notes)?;
    check(Type::Strategic, &value, place, notes);
    Some(PatchAction {
        kind: PatchKind::Strategic(Vec::new()),
        value: Templated::Constant(value.as_stored()),
    })
}

/// The patch, which may be YAML in a string, or an expression. A text with only comments is null.
pub(super) fn read(given: Value<'static>, place: &Pointer, notes: &mut Notes) -> Option<Value<'static>> {
    let Value::String(text) = &given else { return Some(given) };
    if Template::is_one_expression(text) {
        return Some(given);
    }
    match yaml::documents(text) {
        Ok(mut documents) => match (documents.pop(), documents.len()) {
            (None, _) => Some(Value::Null),
            (Some(document), 0) => {
                for (at, reading) in document.lines.keys() {
                    notes.note(&place.concat(&at), reading.to_string());
                }
                Some(document.value)
            }
            (Some(_), more) => {
                notes.note(place, format!("holds {} YAML documents, and a patch is one", more + 1));
                None
            }
        },
        Err(error) => {
            notes.note(place, format!("is no YAML: {error}"));
            None
        }
    }
}

/// Reports a patch that is one expression of the wrong type.
fn check_kind(kind: Type, value: &Templated, place: &Pointer, notes: &mut Notes) {
    let wanted = if kind == Type::Json { Kind::Array } else { Kind::Object };
    if let Some(gives) = value.kind().filter(|gives| *gives != wanted && *gives != Kind::Null) {
        notes.note(place, format!("must give {wanted}, and gives {gives}"));
    }
}

/// Reports names that contain an expression. Names are not evaluated.
fn check_names(value: &Value<'_>, place: &Pointer, notes: &mut Notes) {
    match value {
        Value::Object(members) => {
            for (name, member) in members.iter() {
                let place = place.join(name);
                if name.contains("${") {
                    notes.note(
                        &place,
                        "names hold no expressions; give the whole map as one: `${{name: value}}`",
                    );
                }
                check_names(member, &place, notes);
            }
        }
        Value::Array(items) => {
            for (position, item) in items.iter().enumerate() {
                check_names(item, &place.join(position.to_string()), notes);
            }
        }
        _ => {}
    }
}

/// Reports errors in a patch that do not depend on an object.
fn check(kind: Type, value: &Value<'static>, place: &Pointer, notes: &mut Notes) {
    check_names(value, place, notes);
    match kind {
        Type::Json if value.is_null() => {}
        Type::Json => match rfc6902::parse(value) {
            Ok(operations) => check_operations(&operations, place, notes),
            Err(fault) => notes.note(&place.concat(&fault.place), fault.problem.to_string()),
        },
        Type::Strategic => {
            for fault in strategic::check(value) {
                notes.note(&place.concat(&fault.place), fault.problem.to_string());
            }
            check_identity(value, place, notes);
        }
        Type::Merge => {
            if !matches!(value, Value::Object(_) | Value::Null) {
                notes.note(place, format!("must be a map, is {}", value.kind()));
            }
            check_identity(value, place, notes);
        }
    }
}

fn check_operations(operations: &[Op<'_>], place: &Pointer, notes: &mut Notes) {
    for (position, operation) in operations.iter().enumerate() {
        let written: &[&Pointer] = match operation {
            Op::Add(path, _) | Op::Remove(path) | Op::Replace(path, _) | Op::Copy(_, path) => &[path],
            Op::Move(from, path) => &[from, path],
            Op::Test(..) => &[],
        };
        for reason in written.iter().filter_map(|path| protected_by(path)) {
            notes.note(&place.join(position.to_string()), reason);
        }
        for (field, path) in operation.pointers() {
            // A path with an expression can be checked only with an object.
            let is_constant = !path.tokens().iter().any(|token| token.contains("${"));
            if let Some(problem) = below_string(path, None).filter(|_| is_constant) {
                notes.note(&place.join(position.to_string()).join(field), problem);
            }
        }
    }
}

/// Reports protected fields that a merge patch writes.
pub(super) fn check_identity(value: &Value<'_>, place: &Pointer, notes: &mut Notes) {
    for at in IDENTITY.map(|field| Pointer::of(field.iter().copied())) {
        if value.at(&at).is_some() {
            notes.note(&place.concat(&at), protected_by(&at).unwrap_or_default());
        }
    }
    let maps: [&[&str]; 4] = [&[], &["metadata"], &["metadata", "labels"], &["metadata", "annotations"]];
    for at in maps.map(|map| Pointer::of(map.iter().copied())) {
        match value.at(&at) {
            Some(Value::Object(map)) if map.get("$patch").is_some() => {
                let reason = protected_by(&at).unwrap_or_default();
                notes.note(&place.concat(&at).join("$patch"), reason);
            }
            Some(Value::Object(map)) => check_keys(map, &at, place, notes),
            // An expression may return a map without protected fields.
            Some(Value::String(text)) if text.contains("${") => {}
            Some(_) if !at.is_root() => notes.note(&place.concat(&at), protected_by(&at).unwrap_or_default()),
            _ => {}
        }
    }
}

/// Reports protected fields that `map`, which is merged at `at`, writes.
fn check_keys(map: &Object<'_>, at: &Pointer, place: &Pointer, notes: &mut Notes) {
    for pointer in map.iter().map(|(key, _)| at.join(key)).filter(|pointer| pointer.tokens().len() == 3) {
        if let Some(reason) = protected_by(&pointer) {
            notes.note(&place.concat(&pointer), reason);
        }
    }
}
