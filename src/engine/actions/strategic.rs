//! Strategic merge patches of the action `patch`.

use super::Ask;
use super::patch::{MergeKey, refused};
use crate::domain::Failure;
use crate::json::Value;
use crate::patch::strategic::{self, Merged, Schema, Shortened, Unreached};

/// Applies a strategic merge patch, and warns of what it does that its author may not know.
pub(super) fn apply<'a, A: Ask<'a>>(
    object: &Value<'a>,
    patch: &Value<'a>,
    keys: &[MergeKey],
    ask: &mut A,
) -> Result<Value<'a>, A::Error> {
    let gvk = &ask.request().workload.gvk;
    let schema = Schema::of(&gvk.api_version(), &gvk.kind, ask.pod_templates())
        .declaring(keys.iter().map(MergeKey::declared));
    for MergeKey { path, .. } in keys {
        match schema.reach(path) {
            Ok(_) if !has_list(patch, path.tokens()) && !has_list(object, path.tokens()) => {
                ask.warn(format!(
                    "{path}: `mergeKeys` names a list that neither the object nor the patch has; correct the path in the rule"
                ));
            }
            Err(Unreached::Replaced(list)) if has_list(patch, path.tokens()) => {
                Err(Failure::unprocessable(format!(
                    "{list}: the list is replaced as a whole, so `mergeKeys` for {path} has no effect; declare keys for {list} too"
                )))?;
            }
            // The policy may select other kinds, which have such a list.
            Ok(_) | Err(_) => {}
        }
    }
    let Merged { value, shortened } =
        strategic::merge(object, patch, &schema).map_err(|error| refused(&error))?;
    for Shortened { place, removed } in shortened {
        let items = if removed == 1 { "1 item is" } else { &format!("{removed} items are") };
        ask.warn(format!(
            "{place}: the list is replaced as a whole, and {items} removed; declare `mergeKeys` for it or use a JSON patch, in a \
             policy, or add the item `$patch: replace` if this is meant"
        ));
    }
    Ok(value)
}

/// Whether there is a list at a place, or a directive about one.
fn has_list(value: &Value<'_>, tokens: &[String]) -> bool {
    match (tokens, value) {
        ([], value) => value.as_array().is_some(),
        ([items, rest @ ..], Value::Array(list)) if items == "*" => {
            list.iter().any(|item| has_list(item, rest))
        }
        ([name, rest @ ..], Value::Object(object)) => {
            object.get(name).is_some_and(|value| has_list(value, rest))
                || rest.is_empty() && object.iter().any(|(key, _)| strategic::is_directive(key, name))
        }
        _ => false,
    }
}
