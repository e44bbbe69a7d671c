//! Bindings and Works of Karmada.

use std::collections::BTreeMap;

use super::{ClusterName, Schedule};

/// The parts of a `ResourceBinding` or `ClusterResourceBinding` that a revision needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Binding {
    /// Empty for a `ClusterResourceBinding`.
    pub namespace: String,
    pub name: String,
    /// `spec.clusters`, then the clusters of `spec.requiredBy`, each cluster once. Replicas that are absent
    /// are 0, because Karmada leaves zeros out.
    pub schedule: Schedule,
    /// `spec.preserveResourcesOnDeletion`: a cluster that it leaves keeps the object.
    pub preserves: bool,
    /// `None` for a binding that is not from an API server.
    pub stored: Option<Box<StoredBinding>>,
}

/// What an API server adds to a binding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredBinding {
    /// `metadata.resourceVersion`
    pub resource_version: String,
    /// The clusters of the annotations `reviser.io/<allocation>-cluster`, by allocation.
    pub allocations: BTreeMap<String, ClusterName>,
}

/// The binding that a Work names.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BindingName {
    /// `None` for a `ClusterResourceBinding`.
    pub namespace: Option<String>,
    pub name: String,
}

impl BindingName {
    pub fn of(binding: &Binding) -> Self {
        let namespace = (!binding.namespace.is_empty()).then(|| binding.namespace.clone());
        Self { namespace, name: binding.name.clone() }
    }

    pub fn names(&self, binding: &Binding) -> bool {
        self.namespace.as_deref().unwrap_or_default() == binding.namespace && self.name == binding.name
    }
}

impl std::fmt::Display for BindingName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.namespace {
            Some(namespace) => write!(f, "ResourceBinding {namespace}/{}", self.name),
            None => write!(f, "ClusterResourceBinding {}", self.name),
        }
    }
}

/// One workload in the Work of one cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delivery {
    pub cluster: ClusterName,
    pub hosts: Hosts,
    /// Since when the Work is being deleted.
    pub deleting_since: Option<jiff::Timestamp>,
    /// `spec.preserveResourcesOnDeletion`: the object stays in the cluster when the Work is deleted.
    pub preserves: bool,
}

/// The allocations that an object in a Work hosts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Hosts {
    /// In the record of its revision.
    Recorded(Vec<String>),
    /// There is no record: it has everything that it was written with.
    Unrecorded,
}

impl Delivery {
    /// Whether the Work records that it hosts `allocation`.
    pub fn says_it_hosts(&self, allocation: &str) -> bool {
        matches!(&self.hosts, Hosts::Recorded(hosted) if hosted.iter().any(|hosted| hosted == allocation))
    }

    /// Whether the Work has a record, and does not host `allocation`.
    pub fn says_it_does_not_host(&self, allocation: &str) -> bool {
        matches!(&self.hosts, Hosts::Recorded(_)) && !self.says_it_hosts(allocation)
    }
}
