//! `ResourceBinding` and `ClusterResourceBinding`.
//!
//! Source: karmada-io/karmada@f8fdd02 `pkg/apis/work/v1alpha2/binding_types.go`.

use std::collections::{HashMap, HashSet};

use super::builder::UNKNOWN;
use super::{Node, Notes};
use crate::domain::{Binding, ClusterName, GroupVersionKind, Schedule, TargetCluster, Workload};

/// Reads a binding and the workload that it belongs to. `namespace` is empty for a `ClusterResourceBinding`.
pub(super) fn read(
    object: &Node<'_>,
    namespace: &str,
    name: &str,
    notes: &mut Notes,
) -> Option<(Workload, Binding)> {
    let spec = object.required_map("spec", notes)?;
    let workload = workload(&spec, namespace, notes);
    let schedule = schedule(&spec, notes);
    let preserves = spec.flag("preserveResourcesOnDeletion", notes);
    let binding = Binding {
        namespace: namespace.to_owned(),
        name: name.to_owned(),
        schedule: schedule?,
        preserves: preserves?,
        stored: None,
    };
    Some((workload?, binding))
}

fn workload(spec: &Node<'_>, namespace: &str, notes: &mut Notes) -> Option<Workload> {
    let resource = spec.required_map("resource", notes)?;
    let api_version = resource.required_name("apiVersion", notes);
    let kind = resource.required_name("kind", notes);
    // A namespaced binding belongs to an object in the same namespace. In the output of kubectl this is the
    // last field that is read, so the check also detects truncated files.
    let own = if namespace.is_empty() {
        resource.optional_string("namespace", notes)
    } else {
        let own = resource.required_name("namespace", notes);
        if let Some(own) = own.filter(|own| *own != namespace && namespace != UNKNOWN) {
            let problem = format!("must be {namespace:?}, the namespace of the binding, is {own:?}");
            notes.note(&resource.field.join("namespace"), problem);
        }
        own
    };
    let name = resource.required_name("name", notes);
    Some(Workload {
        gvk: GroupVersionKind::of(api_version?, kind?),
        namespace: own?.to_owned(),
        name: name?.to_owned(),
    })
}

/// `spec.clusters`, then the clusters of `spec.requiredBy` that are not among them.
fn schedule(spec: &Node<'_>, notes: &mut Notes) -> Option<Schedule> {
    let before = notes.len();
    let mut first: HashMap<ClusterName, Node<'_>> = HashMap::new();
    let mut clusters = Vec::new();
    for entry in spec.list("clusters", notes) {
        let Some(target) = target(&entry, notes) else { continue };
        if let Some(other) = first.get(&target.name) {
            let position = other.field.tokens().last().map_or("", String::as_str);
            let problem = format!("cluster {:?} is already there, in item {position}", target.name.as_str());
            notes.note(&entry.field, problem);
            continue;
        }
        first.insert(target.name.clone(), entry);
        clusters.push(target);
    }
    let mut seen: HashSet<ClusterName> = first.into_keys().collect();
    for owner in spec.list("requiredBy", notes) {
        if !owner.is_map(notes) {
            continue;
        }
        let targets: Vec<TargetCluster> =
            owner.list("clusters", notes).iter().filter_map(|entry| target(entry, notes)).collect();
        clusters.extend(targets.into_iter().filter(|target| seen.insert(target.name.clone())));
    }
    // After an error the snapshot is not used.
    if notes.len() > before { None } else { Schedule::new(clusters).ok() }
}

fn target(entry: &Node<'_>, notes: &mut Notes) -> Option<TargetCluster> {
    if !entry.is_map(notes) {
        return None;
    }
    let name = entry.required_name("name", notes).and_then(ClusterName::new);
    let replicas = entry.count("replicas", notes);
    Some(TargetCluster { name: name?, replicas: replicas? })
}
