//! Reads `mergeKeys`: lists that a strategic merge patch merges by keys of their items.

use std::collections::BTreeSet;

use super::decode::{Fields, Node, Notes, did_you_mean, pointer};
use super::part::Part;
use crate::domain::GroupVersionKind;
use crate::engine::{MergeKey, PatchAction, PatchKind, ResourceSelector};
use crate::json::{Pointer, Value};
use crate::patch::PatchErrorKind;
use crate::patch::strategic::{self, Schema, Unreached, spelled};

pub(super) fn merge_keys(node: &Node<'_>, notes: &mut Notes) -> Vec<MergeKey> {
    let mut seen = BTreeSet::new();
    let mut read = |item: Node<'_>, notes: &mut Notes| {
        let mut fields = Fields::of(item, notes)?;
        let path = fields.required("path", notes).and_then(|node| {
            let path = pointer(&node, notes)?;
            if !seen.insert(path.to_string()) {
                notes.note(
                    &node.field,
                    format!("{path} is declared twice; name all keys of a list in one `keys`"),
                );
                return None;
            }
            Some(path)
        });
        let given = (fields.optional("key"), fields.optional("keys"));
        let keys = match given {
            (Some(node), None) => key(&node, notes).map(|key| vec![key]),
            (None, Some(node)) => keys(&node, notes),
            _ => {
                notes.note(&fields.field, "needs exactly one of key, keys");
                None
            }
        };
        fields.end(notes);
        Some(MergeKey { path: path?, keys: keys? })
    };
    node.items(notes).into_iter().filter_map(|item| read(item, notes)).collect()
}

fn keys(node: &Node<'_>, notes: &mut Notes) -> Option<Vec<Pointer>> {
    let items = node.items(notes);
    if items.is_empty() && node.value.as_array().is_some() {
        notes.note(&node.field, "needs at least one item");
    }
    let before = notes.len();
    let mut keys = Vec::new();
    for item in items {
        let Some(key) = key(&item, notes) else { continue };
        if keys.contains(&key) {
            notes.note(&item.field, format!("{} is there twice; remove one", item.value));
            continue;
        }
        keys.push(key);
    }
    Some(keys).filter(|keys| !keys.is_empty() && notes.len() == before)
}

/// The place of a key in an item: names joined by dots, or a JSON pointer.
fn key(node: &Node<'_>, notes: &mut Notes) -> Option<Pointer> {
    let text = node.name(notes)?;
    let key = if text.starts_with('/') { pointer(node, notes)? } else { Pointer::of(text.split('.')) };
    if key.tokens().iter().any(String::is_empty) {
        notes.note(
            &node.field,
            format!(
                "{text:?} has an empty name; write names with dots between them, such as `metadata.name`, or a JSON pointer, \
                 such as `/metadata/name`"
            ),
        );
        return None;
    }
    Some(key)
}

/// Reports declared lists that no object of the selected kinds can have, declared lists that the patch does
/// not have, and deletions of items from lists that a selected kind replaces.
///
/// A custom kind may have any list. `place` is the place of the action.
pub(super) fn check(
    patching: &PatchAction,
    selectors: &[ResourceSelector],
    place: &Pointer,
    notes: &mut Notes,
) {
    let PatchKind::Strategic(declared) = &patching.kind else { return };
    let schema = |selector: &ResourceSelector| {
        let built_in = Schema::built_in(&selector.gvk.api_version(), &selector.gvk.kind)?;
        Some(built_in.declaring(declared.iter().map(MergeKey::declared)))
    };
    let schemas: Vec<Option<Schema>> = selectors.iter().map(schema).collect();
    for (position, list) in declared.iter().enumerate() {
        let field = place.join("mergeKeys").join(position.to_string()).join("path");
        let reached: Vec<Result<Vec<Pointer>, Unreached>> = schemas
            .iter()
            .map(|schema| schema.as_ref().map_or(Ok(Vec::new()), |schema| schema.reach(&list.path)))
            .collect();
        let unreached = selectors.iter().zip(&reached).find_map(|(selector, reached)| {
            reached.as_ref().err().map(|unreached| problem(&list.path, &selector.gvk, unreached))
        });
        match unreached {
            Some(problem) if reached.iter().all(Result::is_err) => notes.note(&field, problem),
            _ => {
                let defaulted: Vec<Pointer> = reached.into_iter().flatten().flatten().collect();
                check_patch(patching, list, &defaulted, (&field, &place.join("value")), notes);
            }
        }
    }
    let lost = schemas.iter().flatten().find_map(|schema| {
        let mut lost = Vec::new();
        deletions(Part::Templated(&patching.value), schema, &mut Vec::new(), &place.join("value"), &mut lost);
        Some(lost).filter(|lost| !lost.is_empty())
    });
    for item in lost.into_iter().flatten() {
        notes.note(&item, PatchErrorKind::DeletesOfWhole.to_string());
    }
}

/// The items with `$patch: delete` in lists that `schema` replaces. The recursion is as deep as the document
/// is nested, which the parser bounds.
fn deletions<'t>(
    part: Part<'t>,
    schema: &Schema,
    steps: &mut Vec<Option<&'t str>>,
    field: &Pointer,
    found: &mut Vec<Pointer>,
) {
    let members = part.members();
    if members.iter().any(|(name, _)| *name == "$patch") {
        return;
    }
    for (name, member) in members {
        steps.push(Some(name));
        deletions(member, schema, steps, &field.join(name), found);
        steps.pop();
    }
    let items = part.items().into_iter().enumerate();
    let mut items = items.map(|(position, item)| (item, field.join(position.to_string()))).peekable();
    if items.peek().is_none() {
        return;
    }
    if schema.replaces(steps) {
        let deletes = |item: Part<'_>| {
            item.members().into_iter().any(|(name, word)| name == "$patch" && word.text() == Some("delete"))
        };
        found.extend(items.filter(|(item, _)| deletes(*item)).map(|(_, field)| field));
        return;
    }
    steps.push(None);
    for (item, field) in items {
        deletions(item, schema, steps, &field, found);
    }
    steps.pop();
}

/// Why a declared list cannot exist or is not merged, and how to fix the declaration.
pub(super) fn problem(path: &Pointer, gvk: &GroupVersionKind, unreached: &Unreached) -> String {
    let kind = format!("{} {}", gvk.api_version(), gvk.kind);
    match unreached {
        Unreached::NoField { field, names } => {
            let name = field.tokens().last().map_or("", String::as_str);
            let hint = did_you_mean(name, names.iter().copied());
            let hint = if hint.is_empty() { "; correct the path".to_owned() } else { hint };
            format!("{kind} has no list or map at {field}{hint}")
        }
        Unreached::NoListOfMaps => {
            format!(
                "{kind} has no list of maps at {path} that could be merged; correct the path, or remove it"
            )
        }
        Unreached::Replaced(list) => {
            format!(
                "the list at {list} is replaced as a whole, and so are the lists in its items; declare its keys too"
            )
        }
        Unreached::NoItems(list) => {
            format!("there is a list at {list}, and its items are the step `*`; write {list}/*/…")
        }
    }
}

/// Reports a declared list that the patch does not have, and items of the list without a key.
fn check_patch(
    patching: &PatchAction,
    list: &MergeKey,
    defaulted: &[Pointer],
    (field, value): (&Pointer, &Pointer),
    notes: &mut Notes,
) {
    let patch = Part::Templated(&patching.value);
    if patch.constant().is_some_and(Value::is_null) {
        return;
    }
    let mut search = Search { lists: Vec::new(), may_have_more: false };
    search.part(patch, list.path.tokens(), &Pointer::ROOT);
    if search.lists.is_empty() && !search.may_have_more {
        notes.note(field, format!("the patch has no list at {}; correct the path, or remove it", list.path));
    }
    for (place, items) in search.lists {
        for (position, item) in items.into_iter().enumerate() {
            let is_replace = |name: &str, part: Part<'_>| name == "$patch" && part.text() == Some("replace");
            if item.is_expression() || item.members().into_iter().any(|(name, part)| is_replace(name, part)) {
                continue;
            }
            let lacking = list.keys.iter().find(|key| !defaulted.contains(key) && !has(item, key.tokens()));
            if let Some(key) = lacking {
                notes.note(
                    &value.concat(&place).join(position.to_string()),
                    format!("the list is merged by `{}`, and this item has none; write it", spelled(key)),
                );
            }
        }
    }
}

/// Whether an item has or may have a key.
fn has(item: Part<'_>, key: &[String]) -> bool {
    match key {
        _ if item.is_expression() => true,
        [] => item.constant().is_some_and(|value| value.as_object().is_none() && !value.is_null()),
        [name, rest @ ..] => {
            item.members().into_iter().any(|(member, part)| member == name && has(part, rest))
        }
    }
}

/// The search for the lists of a patch at a place.
struct Search<'t> {
    /// The lists found: their places in the patch, and their items.
    lists: Vec<(Pointer, Vec<Part<'t>>)>,
    /// Whether an expression or a directive may produce more lists.
    may_have_more: bool,
}

impl<'t> Search<'t> {
    fn part(&mut self, part: Part<'t>, tokens: &[String], place: &Pointer) {
        if part.is_expression() {
            self.may_have_more = true;
            return;
        }
        match tokens {
            [] if part.is_list() => self.lists.push((place.clone(), part.items())),
            [] => {}
            [items, rest @ ..] if items == "*" && part.is_list() => {
                for (position, item) in part.items().into_iter().enumerate() {
                    self.part(item, rest, &place.join(position.to_string()));
                }
            }
            [name, rest @ ..] => {
                for (member, part) in part.members() {
                    if member == name {
                        self.part(part, rest, &place.join(member));
                    } else if rest.is_empty() && strategic::is_directive(member, name) {
                        self.may_have_more = true;
                    }
                }
            }
        }
    }
}
