//! Admiralty's targets: what their labels say.

use std::collections::{BTreeMap, HashMap};

use super::node::{Node, Notes};
use crate::domain::{Cluster, ClusterKind, ClusterName};
use crate::json::Object;

/// `Target` by namespace and name, `ClusterTarget` in no namespace.
#[derive(Debug, Default)]
pub(super) struct Targets(HashMap<(Box<str>, ClusterName), Cluster>);

impl Targets {
    /// Takes one. `namespace` is empty for a `ClusterTarget`.
    pub(super) fn add(&mut self, object: &Node<'_>, namespace: &str, name: &str, notes: &mut Notes) {
        let labels = labels(object, notes);
        let Some(name) = ClusterName::new(name) else { return };
        let cluster = Cluster { name: name.clone(), labels, provider: None, region: None, zones: Vec::new() };
        self.0.insert((namespace.into(), name), cluster);
    }

    /// A `Target` in that namespace, else a `ClusterTarget`.
    pub(super) fn find(&self, namespace: &str, name: &ClusterName) -> Option<(ClusterKind, &Cluster)> {
        let get = |namespace: &str| self.0.get(&(namespace.into(), name.clone()));
        let own = (!namespace.is_empty()).then(|| get(namespace)).flatten();
        own.map(|target| (ClusterKind::Target, target))
            .or_else(|| get("").map(|target| (ClusterKind::ClusterTarget, target)))
    }
}

fn labels(object: &Node<'_>, notes: &mut Notes) -> BTreeMap<String, String> {
    let Some(labels) = object.get("metadata").and_then(|metadata| metadata.get("labels")) else {
        return BTreeMap::new();
    };
    if !labels.is_map(notes) {
        return BTreeMap::new();
    }
    let mut read = BTreeMap::new();
    for (key, value) in labels.value.as_object().into_iter().flat_map(Object::iter) {
        match value.as_str() {
            Some(value) => {
                read.insert(key.to_owned(), value.to_owned());
            }
            None => notes.note(&labels.field.join(key), format!("must be a string, is {}", value.kind())),
        }
    }
    read
}

#[cfg(test)]
mod tests {
    use super::super::Draft;
    use super::*;

    const TARGETS: &str = "apiVersion: multicluster.admiralty.io/v1alpha1
kind: Target
metadata: {name: eu, namespace: shop, labels: {region: eu}}
---
apiVersion: multicluster.admiralty.io/v1alpha1
kind: ClusterTarget
metadata: {name: eu, labels: {region: everywhere}}
---
apiVersion: multicluster.admiralty.io/v1alpha1
kind: ClusterTarget
metadata: {name: oregon}
---
apiVersion: multicluster.admiralty.io/v1alpha1
kind: Target
metadata: {name: asia, namespace: bank}
";

    fn draft(text: &str) -> Draft {
        let mut draft = Draft::default();
        draft.add(std::path::Path::new("targets.yaml"), &crate::yaml::documents(text).unwrap());
        draft
    }

    #[test]
    fn a_target_of_the_namespace_comes_before_a_cluster_target() {
        let snapshot = draft(TARGETS).finish().unwrap();
        let found = |namespace: &str, name: &str| {
            let (kind, cluster) = snapshot.target(namespace, &ClusterName::new(name).unwrap())?;
            Some((kind, cluster.labels.get("region").cloned().unwrap_or_default()))
        };
        assert_eq!(found("shop", "eu"), Some((ClusterKind::Target, "eu".to_owned())));
        assert_eq!(found("bank", "eu"), Some((ClusterKind::ClusterTarget, "everywhere".to_owned())));
        assert_eq!(found("", "eu"), Some((ClusterKind::ClusterTarget, "everywhere".to_owned())));
        assert_eq!(found("shop", "oregon"), Some((ClusterKind::ClusterTarget, String::new())));
        assert_eq!(found("shop", "asia"), None);
        assert_eq!(found("bank", "asia"), Some((ClusterKind::Target, String::new())));
    }

    #[test]
    fn labels_are_strings() {
        let faults = draft(&TARGETS.replace("{region: eu}", "{region: 1, zone: a}")).finish().unwrap_err();
        let [fault] = &faults[..] else { panic!("{faults:#?}") };
        assert!(fault.ends_with("metadata.labels.region: must be a string, is a number"), "{fault}");
    }
}
