//! The state outside of the request, behind traits: the [`Ledger`], bindings ([`BindingLister`]), Works
//! ([`WorkLister`]) and clusters ([`ClusterLister`]).
//!
//! The modules are named after the storage: `memory` and `file` implement the ledger, `files` implements the
//! other traits with a `snapshot`, and `kube` implements all of them on an API server. Only the composition
//! root chooses among them. The service uses only the traits.

pub mod file;
pub mod files;
pub mod kube;
pub mod memory;
pub mod snapshot;

#[cfg(test)]
mod tests;

use std::fmt;

use futures_util::future::BoxFuture;

use crate::domain::{
    AllocationKey, Binding, BindingName, Cluster, ClusterKind, ClusterName, Delivery, Workload,
};

/// Stores allocations.
///
/// An entry is the cluster that an allocation of a workload has picked. It is changed only by
/// [`compare_and_swap`](Self::compare_and_swap), so that of several writers with the same expected entry
/// exactly one succeeds.
pub trait Ledger: Send + Sync + fmt::Debug {
    /// Whether entries are stored on the binding of their workload. The binding must be given then.
    fn is_on_bindings(&self) -> bool {
        false
    }

    /// The cluster under `key`, if there is an entry. `binding` is the binding of the workload, if it has
    /// been read. A ledger on bindings reads the entry from it.
    fn read<'a>(
        &'a self,
        key: &'a AllocationKey,
        binding: Option<&'a Binding>,
    ) -> BoxFuture<'a, Result<Option<ClusterName>, LedgerError>>;

    /// Writes `cluster` under `key` if the current entry is `expected` (`None`: no entry).
    ///
    /// After [`Swap::Done`] the entry is as durable as the implementation promises.
    fn compare_and_swap<'a>(
        &'a self,
        key: &'a AllocationKey,
        binding: Option<&'a Binding>,
        expected: Option<&'a ClusterName>,
        cluster: &'a ClusterName,
    ) -> BoxFuture<'a, Result<Swap, LedgerError>>;
}

/// The result of [`Ledger::compare_and_swap`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Swap {
    /// The entry is written.
    Done,
    /// The current entry is not the expected one. Holds the current entry if it is known. Nothing is written.
    Lost(Option<ClusterName>),
}

/// Why the ledger failed. After a failed write, a later read shows whether the entry was written.
#[derive(Debug, thiserror::Error)]
#[error("failed to {action}")]
pub struct LedgerError {
    /// The attempted action, with the file or object.
    pub action: String,
    #[source]
    pub source: Box<dyn std::error::Error + Send + Sync>,
}

/// Reads bindings at each lookup, because a stale one would cause a wrong revision that no later event
/// corrects.
pub trait BindingLister: Send + Sync + fmt::Debug {
    /// The binding of `workload`. `named` is the name in the annotations of the Work, if the request is about
    /// a Work.
    fn find<'a>(
        &'a self,
        workload: &'a Workload,
        named: Option<&'a BindingName>,
    ) -> BoxFuture<'a, Result<BindingLookup, LookupError>>;
}

/// The result of [`BindingLister::find`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BindingLookup {
    Found(Binding),
    /// The binding certainly does not exist any more.
    Gone,
}

/// Looks up clusters.
pub trait ClusterLister: Send + Sync + fmt::Debug {
    /// The cluster with this name for a workload in `namespace` (empty for a cluster-scoped workload); `None`
    /// if it is unknown.
    fn known<'a>(
        &'a self,
        name: &'a ClusterName,
        namespace: &'a str,
    ) -> BoxFuture<'a, Result<Option<Cluster>, LookupError>>;

    /// All clusters and targets with this name for a workload in `namespace`, with their kinds. Empty if the
    /// implementation has no kinds.
    fn namesakes<'a>(
        &'a self,
        _name: &'a ClusterName,
        _namespace: &'a str,
    ) -> BoxFuture<'a, Result<Vec<(ClusterKind, Cluster)>, LookupError>> {
        Box::pin(std::future::ready(Ok(Vec::new())))
    }
}

/// Reads Works at each lookup.
pub trait WorkLister: Send + Sync + fmt::Debug {
    /// The deliveries of `workload` by the Works of all clusters, at most one per cluster, including Works
    /// that are being deleted. `called` is the name of a Work that delivers it, if it is known; the Works of
    /// all clusters have the same name.
    fn delivering<'a>(
        &'a self,
        workload: &'a Workload,
        called: Option<&'a str>,
    ) -> BoxFuture<'a, Result<Vec<Delivery>, LookupError>>;
}

/// Reads resource templates at each lookup.
pub trait TemplateLister: Send + Sync + fmt::Debug {
    /// The resource template of `workload` as JSON text; `None` if it does not exist.
    fn template<'a>(&'a self, workload: &'a Workload) -> BoxFuture<'a, Result<Option<String>, LookupError>>;
}

/// Why a lookup failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LookupError {
    /// The object is not in the given sources, but may exist elsewhere. The message says where it was looked
    /// for, and what to change.
    #[error("{0}")]
    Lacking(String),
    /// The lookup failed, or the result is ambiguous. The message says why, and what to change.
    #[error("{0}")]
    Failed(String),
}
