//! Bindings, Works and clusters from documents: [`Snapshot`].
//!
//! A [`SnapshotBuilder`] builds it from the documents of any number of files. One invalid document makes the
//! whole snapshot invalid. The documents are not kept. Workloads are looked up by group, kind, namespace and
//! name, without the version.

mod binding;
mod builder;
mod cluster;
mod object;
mod works;

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, HashMap};

use crate::domain::{Binding, BindingName, Cluster, ClusterKind, ClusterName, Delivery, Workload};
use crate::json::{self, Notes};

pub use builder::SnapshotBuilder;
pub(in crate::state) use cluster::Clusters;
pub(in crate::state) use object::{read_binding, read_cluster};
pub(in crate::state) use works::merge_by_cluster;

type Node<'d> = json::Node<'d, 'd>;

#[derive(Debug, Default)]
pub struct Snapshot {
    bindings: HashMap<WorkloadKey, Vec<Binding>>,
    works: HashMap<WorkloadKey, Vec<Delivery>>,
    clusters: Clusters,
    counts: Counts,
}

/// The number of objects of each kind.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// `ResourceBinding` and `ClusterResourceBinding`.
    pub bindings: usize,
    /// `Work` in the namespaces of clusters.
    pub works: usize,
    /// `Cluster`.
    pub clusters: usize,
    /// `Target` and `ClusterTarget`.
    pub targets: usize,
    /// Objects of other kinds, which are ignored, by `Kind.group`.
    pub others: BTreeMap<String, usize>,
}

/// The result of [`Snapshot::binding`].
#[derive(Debug, PartialEq, Eq)]
pub enum Match<'s> {
    /// The only binding, or the named one.
    One(&'s Binding),
    /// There is no binding.
    Nothing,
    /// Several bindings, none of which has the given name.
    Several(&'s [Binding]),
}

/// Identifies a workload without its version.
#[derive(Debug, PartialEq, Eq, Hash)]
struct WorkloadKey {
    group: String,
    kind: String,
    namespace: String,
    name: String,
}

impl WorkloadKey {
    fn of(workload: &Workload) -> Self {
        let Workload { gvk, namespace, name } = workload.clone();
        Self { group: gvk.group, kind: gvk.kind, namespace, name }
    }
}

impl Snapshot {
    /// The binding of `workload`. If there are several, the one with the name `named`.
    pub fn binding(&self, workload: &Workload, named: Option<&BindingName>) -> Match<'_> {
        let found = self.bindings.get(&WorkloadKey::of(workload)).map_or(&[][..], Vec::as_slice);
        match found {
            [] => Match::Nothing,
            [one] => Match::One(one),
            several => {
                let meant = |binding: &&Binding| named.is_some_and(|named| named.names(binding));
                several.iter().find(meant).map_or(Match::Several(several), Match::One)
            }
        }
    }

    /// The deliveries of `workload`, at most one for each cluster.
    pub fn deliveries(&self, workload: &Workload) -> &[Delivery] {
        self.works.get(&WorkloadKey::of(workload)).map_or(&[], Vec::as_slice)
    }

    /// The cluster `name` for a workload in `namespace`: the `Cluster`, else the `ClusterTarget`, else the
    /// `Target` in that namespace.
    pub fn cluster(&self, name: &ClusterName, namespace: &str) -> Option<Cluster> {
        self.clusters.find(name, namespace)
    }

    /// All clusters and targets with this name for a workload in `namespace`.
    pub fn namesakes(&self, name: &ClusterName, namespace: &str) -> Vec<(ClusterKind, Cluster)> {
        self.clusters.namesakes(name, namespace)
    }

    /// The names of all clusters and targets.
    pub fn cluster_names(&self) -> impl Iterator<Item = ClusterName> {
        self.clusters.names()
    }

    pub fn counts(&self) -> &Counts {
        &self.counts
    }
}
