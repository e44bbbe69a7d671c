//! What the service knows beyond the request, behind ports: so far the [`Ledger`].
//!
//! The ports are named by what they do, their implementations by what backs them (`memory`, `file`). Only
//! the composition root chooses among those; the service sees the ports alone.

pub mod file;
pub mod memory;

#[cfg(test)]
mod tests;

use std::fmt;

use futures_util::future::BoxFuture;

use crate::domain::{AllocationKey, ClusterName};

/// Where allocations are remembered.
///
/// An entry is the cluster that an allocation of a workload is in. It changes only by
/// [`compare_and_swap`](Self::compare_and_swap), so that of several writers that saw the same thing exactly one succeeds.
pub trait Ledger: Send + Sync + fmt::Debug {
    /// The cluster under `key`, if there is an entry.
    fn read<'a>(&'a self, key: &'a AllocationKey) -> BoxFuture<'a, Result<Option<ClusterName>, LedgerError>>;

    /// Puts `cluster` under `key`, provided that `expected` is what is there now (`None`: nothing).
    ///
    /// When this answers [`Swap::Done`] the entry survives whatever the implementation promises to survive.
    fn compare_and_swap<'a>(
        &'a self,
        key: &'a AllocationKey,
        expected: Option<&'a ClusterName>,
        cluster: &'a ClusterName,
    ) -> BoxFuture<'a, Result<Swap, LedgerError>>;
}

/// What came of a [`Ledger::compare_and_swap`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Swap {
    /// The entry is written.
    Done,
    /// Something else was there: this. Nothing is written.
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
