//! What Karmada decided about a workload.

use std::collections::BTreeMap;

use super::{ClusterName, Schedule};

/// A `ResourceBinding` or `ClusterResourceBinding`, as far as a revision needs it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Binding {
    /// Its namespace; empty for a `ClusterResourceBinding`.
    pub namespace: String,
    /// Its name.
    pub name: String,
    /// `spec.clusters`, then the clusters of `spec.requiredBy`, each cluster once. Replicas that are absent are 0, because
    /// Karmada leaves zeros out.
    pub schedule: Schedule,
    /// `spec.preserveResourcesOnDeletion`: a cluster that it leaves keeps the object.
    pub preserves: bool,
    /// What an API server has of it besides; `None` for one that is not from there.
    pub stored: Option<Box<StoredBinding>>,
}

/// What an API server has of a binding besides what Karmada decided.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredBinding {
    /// `metadata.resourceVersion`: another one means that it has been written since.
    pub resource_version: String,
    /// Where allocations are, as its annotations `reviser.io/<allocation>-cluster` say, by the name of the allocation.
    pub allocations: BTreeMap<String, ClusterName>,
}

/// Which binding a Work says that it belongs to.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BindingName {
    /// Its namespace; `None` for a `ClusterResourceBinding`.
    pub namespace: Option<String>,
    /// Its name.
    pub name: String,
}

impl BindingName {
    /// The name of `binding`.
    pub fn of(binding: &Binding) -> Self {
        let namespace = (!binding.namespace.is_empty()).then(|| binding.namespace.clone());
        Self { namespace, name: binding.name.clone() }
    }

    /// Whether it is `binding` that is meant.
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

/// What a Work that exists says about one workload in one cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delivery {
    /// The cluster that the Work is for.
    pub cluster: ClusterName,
    /// Which allocations it hosts.
    pub hosts: Hosts,
    /// Since when the Work is being deleted.
    pub deleting_since: Option<jiff::Timestamp>,
    /// `spec.preserveResourcesOnDeletion`: the object stays in the cluster when the Work goes.
    pub preserves: bool,
}

/// Which allocations an object in a Work hosts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Hosts {
    /// These, says the record of its revision.
    Recorded(Vec<String>),
    /// It has never been revised, as far as it tells, so it carries everything that it was written with.
    Unrecorded,
}

impl Delivery {
    /// Whether the Work says itself that it hosts `allocation`.
    pub fn says_it_hosts(&self, allocation: &str) -> bool {
        matches!(&self.hosts, Hosts::Recorded(hosted) if hosted.iter().any(|hosted| hosted == allocation))
    }

    /// Whether the Work says itself that it does not host `allocation`.
    pub fn says_it_does_not_host(&self, allocation: &str) -> bool {
        matches!(&self.hosts, Hosts::Recorded(_)) && !self.says_it_hosts(allocation)
    }
}
