//! Kubernetes objects as values: finding them, and what can be said of any of them.

use serde_json::Value;

/// How an object is called among others of a rendering.
pub(crate) fn id(object: &Value) -> String {
    let metadata = &object["metadata"];
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    format!("{} {}/{}", text(&object["kind"]), text(&metadata["namespace"]), text(&metadata["name"]))
}

/// The objects of a kind.
pub(crate) fn of_kind<'o>(objects: &'o [Value], kind: &str) -> Vec<&'o Value> {
    objects.iter().filter(|object| object["kind"] == kind).collect()
}

/// The one object of a kind.
pub(crate) fn the<'o>(objects: &'o [Value], kind: &str) -> &'o Value {
    let found = of_kind(objects, kind);
    let [one] = found[..] else { panic!("{} of {kind}", found.len()) };
    one
}

/// The items of a list; none where there is no list.
pub(crate) fn items(list: &Value) -> impl Iterator<Item = &Value> {
    list.as_array().into_iter().flatten()
}

/// The texts of a list.
pub(crate) fn texts(list: &Value) -> Vec<&str> {
    items(list).map(|item| item.as_str().unwrap()).collect()
}
