//! One object, as an API server has it.

use std::collections::BTreeMap;

use super::binding;
use super::cluster;
use super::draft::join;
use super::{Node, Notes};
use crate::domain::{
    Binding, Cluster, ClusterKind, ClusterName, Delivery, StoredBinding, Workload, annotated_allocation,
};
use crate::json::{Object, Pointer, Value};

/// Reads a binding, and whose it is. `namespace` is empty for a `ClusterResourceBinding`. The error says what is wrong with it.
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

/// Where allocations are, as the annotations of a binding say. An empty one says nothing.
fn allocations(metadata: &Node<'_>, notes: &mut Notes) -> BTreeMap<String, ClusterName> {
    let annotations = metadata.strings("annotations", notes);
    let entry = |(key, value): (&str, &str)| {
        Some((annotated_allocation(key)?.to_owned(), ClusterName::new(value.to_owned())?))
    };
    annotations.into_iter().filter_map(entry).collect()
}

/// The same, at most one a cluster: the cluster is free of a workload when all Works that deliver it are gone.
pub(in crate::state) fn one_a_cluster(mut deliveries: Vec<Delivery>) -> Vec<Delivery> {
    deliveries.sort_by(|a, b| a.cluster.cmp(&b.cluster));
    deliveries.dedup_by(|other, kept| kept.cluster == other.cluster && join(kept, other));
    deliveries
}

/// Reads a cluster or target. The error says what is wrong with it.
pub(in crate::state) fn read_cluster(kind: ClusterKind, name: &str, text: &str) -> Result<Cluster, String> {
    whole(text, |object, notes| cluster::read(kind, ClusterName::new(name)?, object, notes))
}

/// What `read` makes of an object in which it notes nothing.
fn whole<T>(text: &str, read: impl FnOnce(&Node<'_>, &mut Notes) -> Option<T>) -> Result<T, String> {
    let value = Value::parse(text.as_bytes()).map_err(|error| error.to_string())?;
    let mut notes = Notes::default();
    let node = Node { value: &value, field: Pointer::ROOT };
    if value.as_object().map(Object::len).is_none() {
        return Err(format!("must be a map, is {}", value.kind()));
    }
    let read = read(&node, &mut notes);
    match (read, notes.into_iter().next()) {
        (Some(read), None) => Ok(read),
        (_, Some((field, problem))) => Err(format!("{field}: {problem}")),
        (None, None) => Err("it is not what it should be".to_owned()),
    }
}
