//! Checks the lists of strategic merge patches against a definition: whether they exist, and by which keys
//! server-side apply identifies their items.

use super::{SchemaPlace, below, keeps_unknown};
use crate::domain::GroupVersionKind;
use crate::engine::{MergeKey, PatchAction, PatchKind};
use crate::json::{Pointer, Value};
use crate::patch::strategic::{ListMerge, Schema, spelled};
use crate::policy::part::Part;

/// The errors of a patch, each with its place in the rule: declared lists that do not fit, and lists that the
/// patch would replace although the definition has keys for them.
pub(super) fn problems(
    patching: &PatchAction,
    gvk: &GroupVersionKind,
    pod_templates: &[Pointer],
    definition: &Value<'_>,
) -> Vec<(Pointer, String)> {
    let PatchKind::Strategic(declared) = &patching.kind else { return Vec::new() };
    let place =
        |position: usize, name: &str| Pointer::of(["patch", "mergeKeys", &position.to_string(), name]);
    let mut found: Vec<(Pointer, String)> = Vec::new();
    for (position, list) in declared.iter().enumerate() {
        let problem = declared_list(list, definition);
        found.extend(problem.map(|(name, problem)| (place(position, name), problem)));
    }
    let schema = Schema::of(&gvk.api_version(), &gvk.kind, pod_templates)
        .declaring(declared.iter().map(MergeKey::declared));
    let mut walk = ListCheck { schema: &schema, steps: Vec::new(), found };
    walk.part(Part::Templated(&patching.value), definition, &Pointer::of(["patch", "value"]));
    walk.found
}

/// The error of a declared list, with the field of the declaration.
fn declared_list(list: &MergeKey, definition: &Value<'_>) -> Option<(&'static str, String)> {
    let path = &list.path;
    let mut at = definition;
    for token in path.tokens() {
        if token == "*" {
            match at.get("items") {
                Some(items) => at = items,
                None if may_be_a_list(at) => return None,
                None => {
                    return Some(("path", format!("the schema has no list that {path} could lead through")));
                }
            }
            continue;
        }
        match below(at, std::slice::from_ref(token)) {
            SchemaPlace::Typed(field) => at = field,
            SchemaPlace::Untyped => return None,
            SchemaPlace::Unknown(field) => {
                return Some(("path", format!("the schema has no field {field:?} on the way of {path}")));
            }
        }
    }
    let Some(items) = at.get("items") else {
        return (!may_be_a_list(at)).then(|| ("path", format!("the schema has no list at {path}")));
    };
    if items.get("type").and_then(Value::as_str).is_some_and(|kind| kind != "object") {
        return Some(("path", format!("the items of the list at {path} are no maps, so they have no keys")));
    }
    if let Some(keys) = map_keys(at) {
        let differ = keys.len() != list.keys.len() || list.keys.iter().any(|key| !keys.contains(key));
        let right = advice(&keys);
        return differ.then(|| {
            ("path", format!("the schema tells the items of {path} apart by {right}; declare these"))
        });
    }
    let missing = |key: &&Pointer| matches!(below(items, key.tokens()), SchemaPlace::Unknown(_));
    let key = list.keys.iter().find(missing)?;
    Some(("path", format!("the items of the list at {path} have no field {:?}", spelled(key))))
}

/// Whether a list is possible where the schema does not define items.
fn may_be_a_list(schema: &Value<'_>) -> bool {
    schema.get("type").is_none() || keeps_unknown(schema)
}

/// The keys by which server-side apply merges a list.
fn map_keys(list: &Value<'_>) -> Option<Vec<Pointer>> {
    if list.get("x-kubernetes-list-type").and_then(Value::as_str) != Some("map") {
        return None;
    }
    let keys = list.get("x-kubernetes-list-map-keys").and_then(Value::as_array)?;
    Some(keys.iter().filter_map(Value::as_str).map(|key| Pointer::of([key])).collect())
}

/// The keys as `mergeKeys` spells them, for messages.
fn advice(keys: &[Pointer]) -> String {
    match keys {
        [key] => format!("`key: {}`", spelled(key)),
        keys => format!("`keys: [{}]`", keys.iter().map(spelled).collect::<Vec<_>>().join(", ")),
    }
}

/// The state of the check while it visits the value of a patch.
struct ListCheck<'s, 't> {
    schema: &'s Schema,
    /// The path from the root. `None` stands for an item of a list.
    steps: Vec<Option<&'t str>>,
    found: Vec<(Pointer, String)>,
}

impl<'t> ListCheck<'_, 't> {
    /// The recursion is as deep as the document is nested, which the parser bounds.
    fn part(&mut self, part: Part<'t>, definition: &Value<'_>, field: &Pointer) {
        if says_replace(part) {
            return;
        }
        for (name, member) in part.members() {
            if let SchemaPlace::Typed(below) = below(definition, &[name.to_owned()]) {
                self.steps.push(Some(name));
                self.part(member, below, &field.join(name));
                self.steps.pop();
            }
        }
        let items = part.items();
        let Some(schema) = definition.get("items").filter(|_| !items.is_empty()) else { return };
        match self.schema.list_at(&self.steps) {
            ListMerge::Keyed { .. } => {
                self.steps.push(None);
                for (position, item) in items.into_iter().enumerate() {
                    self.part(item, schema, &field.join(position.to_string()));
                }
                self.steps.pop();
            }
            ListMerge::Set => {}
            ListMerge::Replaced => {
                if let Some(keys) = map_keys(definition)
                    && !items.into_iter().any(says_replace)
                {
                    let path = Pointer::of(self.steps.iter().map(|step| step.unwrap_or("*")));
                    let right = advice(&keys).replace('`', "");
                    self.found.push((
                        field.clone(),
                        format!(
                            "the list at {path} is replaced as a whole, and the schema has keys for it; add \
                             `mergeKeys: [{{path: {path}, {right}}}]`, or the item `$patch: replace` if this is meant"
                        ),
                    ));
                }
            }
        }
    }
}

/// Whether a map of a patch replaces itself or its list.
fn says_replace(part: Part<'_>) -> bool {
    part.members().into_iter().any(|(name, value)| name == "$patch" && value.text() == Some("replace"))
}
