//! What documents say about bindings, Works and clusters, at one moment: [`Snapshot`].
//!
//! Made by a [`Draft`] from the documents of any number of files, all of them or none: a set with a fault is no set. What
//! it holds is what can be asked about; the documents are not kept. Nothing in here reads a file or changes after it was
//! made.
//!
//! A workload is found by group, kind, namespace and name. Its version may be another than the one that its binding was
//! written with.

mod binding;
mod cluster;
mod draft;
mod frugal;
mod one;

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, HashMap};

use crate::domain::{Binding, BindingName, Cluster, ClusterKind, ClusterName, Delivery, Workload};
use crate::json::{self, Notes};

pub(in crate::state) use cluster::Clusters;
pub use draft::Draft;
pub(in crate::state) use one::{one_a_cluster, read_binding, read_cluster};

/// A value of a document and its place.
type Node<'d> = json::Node<'d, 'd>;

/// What documents say.
#[derive(Debug, Default)]
pub struct Snapshot {
    bindings: HashMap<Identity, Vec<Binding>>,
    works: HashMap<Identity, Vec<Delivery>>,
    clusters: Clusters,
    counts: Counts,
}

/// How much was read of what.
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
    /// How many objects were passed over because nothing is known about their kind, by `Kind.group`.
    pub others: BTreeMap<String, usize>,
}

/// What a snapshot has for a workload.
#[derive(Debug, PartialEq, Eq)]
pub enum Match<'s> {
    /// This binding.
    One(&'s Binding),
    /// Nothing.
    Nothing,
    /// Several, of which none is meant more than the others.
    Several(&'s [Binding]),
}

/// A workload without its version.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Identity {
    group: Box<str>,
    kind: Box<str>,
    namespace: Box<str>,
    name: Box<str>,
}

impl Identity {
    fn of(workload: &Workload) -> Self {
        let Workload { gvk, namespace, name } = workload;
        Self {
            group: gvk.group.as_str().into(),
            kind: gvk.kind.as_str().into(),
            namespace: namespace.as_str().into(),
            name: name.as_str().into(),
        }
    }
}

impl Snapshot {
    /// The binding of `workload`; of several, the one that `named` names.
    pub fn binding(&self, workload: &Workload, named: Option<&BindingName>) -> Match<'_> {
        let found = self.bindings.get(&Identity::of(workload)).map_or(&[][..], Vec::as_slice);
        match found {
            [] => Match::Nothing,
            [one] => Match::One(one),
            several => {
                let meant = |binding: &&Binding| named.is_some_and(|named| named.names(binding));
                several.iter().find(meant).map_or(Match::Several(several), Match::One)
            }
        }
    }

    /// What the Works say about `workload`, at most one a cluster.
    pub fn deliveries(&self, workload: &Workload) -> &[Delivery] {
        self.works.get(&Identity::of(workload)).map_or(&[], Vec::as_slice)
    }

    /// What is known about the cluster `name`, for a workload in `namespace`: a `Cluster` says, else a `ClusterTarget`, else
    /// the `Target` in that namespace.
    pub fn cluster(&self, name: &ClusterName, namespace: &str) -> Option<Cluster> {
        self.clusters.find(name, namespace)
    }

    /// All that goes by that name for a workload in `namespace`, each as what it is.
    pub fn namesakes(&self, name: &ClusterName, namespace: &str) -> Vec<(ClusterKind, Cluster)> {
        self.clusters.namesakes(name, namespace)
    }

    /// The names of all clusters and targets.
    pub fn cluster_names(&self) -> impl Iterator<Item = ClusterName> {
        self.clusters.names()
    }

    /// How much was read of what.
    pub fn counts(&self) -> &Counts {
        &self.counts
    }
}
