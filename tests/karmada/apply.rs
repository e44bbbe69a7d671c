//! Objects to an API server, as a person would apply them.

use std::path::Path;

use serde_json::Value;

use crate::patience::until_some;
use crate::support::client::{Client, MERGE};

/// The path of the collection that an object belongs to.
pub(crate) fn collection(object: &Value) -> String {
    let [version, kind] = ["apiVersion", "kind"].map(|field| object[field].as_str().unwrap());
    let root = if version.contains('/') { "/apis" } else { "/api" };
    let kind = kind.to_lowercase();
    let plural = match kind.strip_suffix('y') {
        Some(stem) => format!("{stem}ies"),
        None => format!("{kind}s"),
    };
    match object["metadata"]["namespace"].as_str() {
        Some(namespace) => format!("{root}/{version}/namespaces/{namespace}/{plural}"),
        None => format!("{root}/{version}/{plural}"),
    }
}

/// The path of an object.
pub(crate) fn path(object: &Value) -> String {
    format!("{}/{}", collection(object), object["metadata"]["name"].as_str().unwrap())
}

/// Creates the object, or merges it into the existing one, so that additions of Karmada stay. A server that
/// can't take it yet is asked again: kinds and webhooks are served a little later than they are made.
pub(crate) fn apply(client: &Client, object: &Value) -> Value {
    until_some(&format!("{} is applied", path(object)), || {
        let mut reply = client.create(&collection(object), object);
        if reply.code == 409 {
            reply = client.patch(&path(object), MERGE, object);
        }
        let later = matches!(reply.code, 404 | 409 | 500 | 503);
        if later { None } else { Some(reply.ok()) }
    })
}

/// The documents of YAML that is not ours to check.
pub(crate) fn documents(text: &str) -> Vec<Value> {
    let documents = reviser::yaml::documents(text).unwrap();
    let values = documents.into_iter().map(|document| document.value.to_string());
    values.map(|text| serde_json::from_str(&text).unwrap()).filter(|value: &Value| !value.is_null()).collect()
}

/// The documents of a file.
pub(crate) fn file(path: &Path) -> Vec<Value> {
    documents(&std::fs::read_to_string(path).unwrap())
}

/// The documents of all files of YAML in a folder and the folders in it, in the order of their names.
pub(crate) fn folder(path: &Path) -> Vec<Value> {
    let mut entries: Vec<_> = std::fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    let of = |entry: &std::path::PathBuf| match entry.extension() {
        Some(extension) if extension == "yaml" => file(entry),
        _ if entry.is_dir() => folder(entry),
        _ => Vec::new(),
    };
    entries.iter().flat_map(of).collect()
}
