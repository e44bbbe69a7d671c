//! Reads single objects from an API server.

use std::collections::BTreeMap;

use super::{Node, Notes, binding, cluster};
use crate::domain::{
    Binding, Cluster, ClusterKind, ClusterName, StoredBinding, Workload, annotated_allocation,
};
use crate::json::Value;

/// Reads a binding and the workload that it belongs to. `namespace` is empty for a `ClusterResourceBinding`.
pub(in crate::state) fn read_binding(text: &str, namespace: &str) -> Result<(Workload, Binding), String> {
    whole(text, |object, notes| {
        let metadata = object.required_map("metadata", notes)?;
        let name = metadata.required_name("name", notes);
        let resource_version = metadata.required_name("resourceVersion", notes);
        let allocations = allocations(&metadata, notes);
        let (workload, binding) = binding::read(object, namespace, name?, notes)?;
        let stored = StoredBinding { resource_version: resource_version?.to_owned(), allocations };
        Some((workload, Binding { stored: Some(Box::new(stored)), ..binding }))
    })
}

/// The allocations in the annotations of a binding. Empty values are ignored.
fn allocations(metadata: &Node<'_>, notes: &mut Notes) -> BTreeMap<String, ClusterName> {
    let annotations = metadata.strings("annotations", notes);
    let entry = |(key, value): (&str, &str)| {
        Some((annotated_allocation(key)?.to_owned(), ClusterName::new(value.to_owned())?))
    };
    annotations.into_iter().filter_map(entry).collect()
}

/// Reads a cluster or target.
pub(in crate::state) fn read_cluster(kind: ClusterKind, name: &str, text: &str) -> Result<Cluster, String> {
    whole(text, |object, notes| cluster::read(kind, ClusterName::new(name)?, object, notes))
}

/// Parses and reads an object. Fails with the first error that `read` adds to the notes.
fn whole<T>(text: &str, read: impl FnOnce(&Node<'_>, &mut Notes) -> Option<T>) -> Result<T, String> {
    let value = Value::parse(text.as_bytes()).map_err(|error| error.to_string())?;
    let mut notes = Notes::default();
    let node = Node::root(&value);
    if value.as_object().is_none() {
        return Err(format!("must be a map, is {}", value.kind()));
    }
    let read = read(&node, &mut notes);
    match (read, notes.into_iter().next()) {
        (Some(read), None) => Ok(read),
        (_, Some((field, problem))) => Err(format!("{field}: {problem}")),
        (None, None) => Err("it is not what it should be".to_owned()),
    }
}
