//! What the service knows beyond the request, behind ports: the [`Ledger`], bindings ([`BindingLister`]), Works
//! ([`WorkLister`]) and clusters ([`ClusterLister`]).
//!
//! The ports are named by what they do, their implementations by what backs them: `memory` and `file` for the ledger, `files` for
//! all others, which it reads into a `snapshot`; `kube`, an API server, for all of them. Only the composition root chooses among those; the service sees the ports alone.

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

/// Where allocations are remembered.
///
/// An entry is the cluster that an allocation of a workload is in. It changes only by
/// [`compare_and_swap`](Self::compare_and_swap), so that of several writers that saw the same thing exactly one succeeds.
pub trait Ledger: Send + Sync + fmt::Debug {
    /// Whether entries are kept on the binding of their workload, so that it has to be given.
    fn is_on_bindings(&self) -> bool {
        false
    }

    /// The cluster under `key`, if there is an entry. `binding` is that of the workload, where it has been read; what is on it
    /// is as old as that.
    fn read<'a>(
        &'a self,
        key: &'a AllocationKey,
        binding: Option<&'a Binding>,
    ) -> BoxFuture<'a, Result<Option<ClusterName>, LedgerError>>;

    /// Puts `cluster` under `key`, provided that `expected` is what is there now (`None`: nothing).
    ///
    /// When this answers [`Swap::Done`] the entry survives whatever the implementation promises to survive.
    fn compare_and_swap<'a>(
        &'a self,
        key: &'a AllocationKey,
        binding: Option<&'a Binding>,
        expected: Option<&'a ClusterName>,
        cluster: &'a ClusterName,
    ) -> BoxFuture<'a, Result<Swap, LedgerError>>;
}

/// What came of a [`Ledger::compare_and_swap`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Swap {
    /// The entry is written.
    Done,
    /// Something else was there: this, as far as can be told. Nothing is written.
    Lost(Option<ClusterName>),
}

/// Why the ledger could not be used. Nothing is written then, as far as anybody can see.
#[derive(Debug, thiserror::Error)]
#[error("failed to {action}")]
pub struct LedgerError {
    /// What was tried, with the file or object that it was tried on.
    pub action: String,
    /// Why it did not work.
    #[source]
    pub source: Box<dyn std::error::Error + Send + Sync>,
}

/// Where bindings are read, as they are at the moment of asking: a stale one would make a wrong revision, which nothing
/// makes anew.
pub trait BindingLister: Send + Sync + fmt::Debug {
    /// The binding of `workload`. `named` is the one that a Work says it belongs to, where a Work is asked about.
    fn find<'a>(
        &'a self,
        workload: &'a Workload,
        named: Option<&'a BindingName>,
    ) -> BoxFuture<'a, Result<BindingLookup, LookupError>>;
}

/// What came of [`BindingLister::find`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BindingLookup {
    /// This is it.
    Found(Binding),
    /// There is none any more, says who has to know.
    Gone,
}

/// Where clusters are known.
pub trait ClusterLister: Send + Sync + fmt::Debug {
    /// What is known about the cluster of that name, to which a workload in `namespace` goes (empty: one in no namespace);
    /// `None` if nothing is.
    fn known<'a>(
        &'a self,
        name: &'a ClusterName,
        namespace: &'a str,
    ) -> BoxFuture<'a, Result<Option<Cluster>, LookupError>>;

    /// All that goes by that name for a workload in `namespace`, each as what it is. Who does not know as what gives nothing.
    fn namesakes<'a>(
        &'a self,
        _name: &'a ClusterName,
        _namespace: &'a str,
    ) -> BoxFuture<'a, Result<Vec<(ClusterKind, Cluster)>, LookupError>> {
        Box::pin(std::future::ready(Ok(Vec::new())))
    }
}

/// Where Works are read, as they are at the moment of asking.
pub trait WorkLister: Send + Sync + fmt::Debug {
    /// What the Works of all clusters say about `workload`, at most one a cluster, those on their way out included. `called` is
    /// the name of a Work that delivers it, where that is known: it is called the same for every cluster.
    fn delivering<'a>(
        &'a self,
        workload: &'a Workload,
        called: Option<&'a str>,
    ) -> BoxFuture<'a, Result<Vec<Delivery>, LookupError>>;
}

/// Where templates are read, as they are at the moment of asking.
pub trait TemplateLister: Send + Sync + fmt::Debug {
    /// The resource template of `workload`, as text; `None` if there is none.
    fn template<'a>(&'a self, workload: &'a Workload) -> BoxFuture<'a, Result<Option<String>, LookupError>>;
}

/// Why there is no answer from a [`BindingLister`], a [`WorkLister`] or a [`ClusterLister`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LookupError {
    /// It is not in what was given to look in, which does not mean that there is none. Says where, and what to do.
    #[error("{0}")]
    Lacking(String),
    /// It could not be looked up, or not be told from others. Says why, and what to do.
    #[error("{0}")]
    Failed(String),
}
