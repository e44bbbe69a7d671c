//! Copies values of a patch without directives.
//!
//! Both functions share unchanged values with the patch.
//!
//! DIFFERENCE: kubectl leaves `$retainKeys`, `$setElementOrder/…` and `$deleteFromPrimitiveList/…` in both
//! cases, and `$patch` in the second. The API server drops them when it decodes the result.

use super::directive::{self, Key, PATCH};
use super::scalar::Scalar;
use crate::json::Value;

/// Whether nulls in maps are removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Nulls {
    Drop,
    Keep,
}

/// A value for a place that the object does not have. Maps with `$patch` are removed, because they are about
/// an existing value. `None` if the value itself is such a map.
pub(super) fn new<'a>(value: &Value<'a>, nulls: Nulls) -> Option<Value<'a>> {
    match value {
        Value::Object(object) => {
            let dropped_null = |value: &Value<'_>| nulls == Nulls::Drop && value.is_null();
            if object.get(PATCH).is_some_and(|word| !dropped_null(word)) {
                return None;
            }
            Some(members(value, |name, value| {
                if dropped_null(value) || directive::read(name) != Key::Field {
                    None
                } else {
                    new(value, nulls)
                }
            }))
        }
        Value::Array(_) => Some(items(value, |item| new(item, nulls))),
        scalar => Some(scalar.clone()),
    }
}

/// A value that replaces the existing one. Nulls and maps with `$patch` are kept.
pub(super) fn raw<'a>(value: &Value<'a>) -> Value<'a> {
    match value {
        Value::Object(_) => {
            members(
                value,
                |name, value| {
                    if directive::read(name) == Key::Field { Some(raw(value)) } else { None }
                },
            )
        }
        Value::Array(_) => items(value, |item| Some(raw(item))),
        scalar => scalar.clone(),
    }
}

fn members<'a>(value: &Value<'a>, change: impl Fn(&str, &Value<'a>) -> Option<Value<'a>>) -> Value<'a> {
    let Value::Object(object) = value else { return value.clone() };
    let mut all_same = true;
    let mut kept: Vec<(String, Value<'a>)> = Vec::new();
    for (position, (name, member)) in object.iter().enumerate() {
        let changed = change(name, member);
        let same = changed.as_ref().is_some_and(|changed| unchanged(member, changed));
        if all_same && !same {
            all_same = false;
            kept.extend(object.iter().take(position).map(|(name, value)| (name.to_owned(), value.clone())));
        }
        if !all_same {
            kept.extend(changed.map(|changed| (name.to_owned(), changed)));
        }
    }
    if all_same { value.clone() } else { Value::Object(kept.into_iter().collect()) }
}

fn items<'a>(value: &Value<'a>, change: impl Fn(&Value<'a>) -> Option<Value<'a>>) -> Value<'a> {
    let Value::Array(items) = value else { return value.clone() };
    let changed: Vec<Value<'a>> = items.iter().filter_map(change).collect();
    let same = changed.len() == items.len() && items.iter().zip(&changed).all(|(a, b)| unchanged(a, b));
    if same { value.clone() } else { Value::array(changed) }
}

/// Whether `after` is the same value as `before`. Scalars never change.
fn unchanged(before: &Value<'_>, after: &Value<'_>) -> bool {
    before.is_same(after) || Scalar::of(before).is_some()
}
