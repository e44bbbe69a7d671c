//! Verifies patches with another implementation, the crate `json-patch`.

use crate::json::Value;
use crate::patch::{Operation, Patch};

/// Whether the crate `json-patch` turns `before` into `after` with `patch`.
pub(super) fn turns(before: &Value<'_>, after: &Value<'_>, patch: &Patch<'_>) -> bool {
    let Ok(theirs) = serde_json::from_value::<json_patch::Patch>(foreign(patch)) else {
        return false;
    };
    let mut document = plain(before);
    json_patch::patch(&mut document, &theirs).is_ok() && document == plain(after)
}

/// The patch as `json-patch` reads it.
fn foreign(patch: &Patch<'_>) -> serde_json::Value {
    patch
        .0
        .iter()
        .map(|operation| {
            let place = operation.path().to_string();
            match operation {
                Operation::Add(_, value) => {
                    serde_json::json!({"op": "add", "path": place, "value": plain(value)})
                }
                Operation::Remove(_) => serde_json::json!({"op": "remove", "path": place}),
                Operation::Replace(_, value) => {
                    serde_json::json!({"op": "replace", "path": place, "value": plain(value)})
                }
            }
        })
        .collect()
}

/// The value for `serde_json`. Numbers become strings, so that another spelling is another value.
pub(super) fn plain(value: &Value<'_>) -> serde_json::Value {
    match value {
        Value::Null => serde_json::Value::Null,
        Value::Bool(flag) => (*flag).into(),
        Value::Number(number) => format!("number {number}").into(),
        Value::String(text) => format!("string {text}").into(),
        Value::Array(items) => items.iter().map(plain).collect(),
        Value::Object(object) => serde_json::Value::Object(
            object.iter().map(|(name, value)| (name.to_owned(), plain(value))).collect(),
        ),
    }
}
