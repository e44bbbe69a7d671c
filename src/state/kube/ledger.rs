//! The ledger on an API server: [`KubeLedger`].

use std::time::Duration;

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use serde_json::json;

use crate::apiserver::{ApiServer, Kind};
use crate::domain::{AllocationKey, Binding, BindingName, ClusterName, allocation_annotation};
use crate::state::{Ledger, LedgerError, Swap};

/// A ledger in the annotations `reviser.io/<allocation>-cluster` of `ResourceBinding`s and
/// `ClusterResourceBinding`s.
///
/// An entry is read from the binding that the service has just read, without another request. It is written
/// with the `resourceVersion` of that binding, so that a claim is always based on the current schedule.
/// Several processes can share the ledger.
#[derive(Clone, Debug)]
pub struct KubeLedger {
    server: ApiServer,
}

impl KubeLedger {
    pub fn new(server: ApiServer) -> Self {
        Self { server }
    }

    async fn swap(
        &self,
        key: &AllocationKey,
        binding: Option<&Binding>,
        expected: Option<&ClusterName>,
        cluster: &ClusterName,
    ) -> Result<Swap, LedgerError> {
        let there = entry(key, binding)?;
        if there != expected {
            return Ok(Swap::Lost(there.cloned()));
        }
        let Some((binding, stored)) = binding.and_then(|binding| Some((binding, binding.stored.as_ref()?)))
        else {
            return Err(unknown(key));
        };
        let name = BindingName::of(binding);
        let (kind, namespace) = match &name.namespace {
            Some(namespace) => (Kind::RESOURCE_BINDING, namespace.as_str()),
            None => (Kind::CLUSTER_RESOURCE_BINDING, ""),
        };
        let body = json!({"metadata": {
            "resourceVersion": stored.resource_version,
            "annotations": {allocation_annotation(&key.allocation): cluster.as_str()},
        }});
        match self.server.merge_patch(&kind, namespace, &name.name, None, &body).await {
            Ok(_) => Ok(Swap::Done),
            // The binding was changed or deleted. The caller must read it again.
            Err(error) if error.is_conflict() || error.is_not_found() => {
                // Wait, because all callers that lost the same swap would otherwise retry at once.
                tokio::time::sleep(pause(&stored.resource_version, cluster)).await;
                Ok(Swap::Lost(None))
            }
            Err(error) => {
                Err(LedgerError { action: format!("write {key} on the {name}"), source: Box::new(error) })
            }
        }
    }
}

/// A few milliseconds at most, different for each cluster.
fn pause(version: &str, cluster: &ClusterName) -> Duration {
    let sum = version
        .bytes()
        .chain(cluster.as_str().bytes())
        .fold(0_u64, |sum, byte| sum.wrapping_mul(31).wrapping_add(byte.into()));
    Duration::from_micros(sum % 5_000)
}

fn entry<'b>(
    key: &AllocationKey,
    binding: Option<&'b Binding>,
) -> Result<Option<&'b ClusterName>, LedgerError> {
    let stored = binding.and_then(|binding| binding.stored.as_ref()).ok_or_else(|| unknown(key))?;
    Ok(stored.allocations.get(&key.allocation))
}

fn unknown(key: &AllocationKey) -> LedgerError {
    LedgerError {
        action: format!("find {key}"),
        source: "it is kept on the binding of the workload, and there is none; propagate the workload, or serve with another --ledger".into(),
    }
}

impl Ledger for KubeLedger {
    fn is_on_bindings(&self) -> bool {
        true
    }

    fn read<'a>(
        &'a self,
        key: &'a AllocationKey,
        binding: Option<&'a Binding>,
    ) -> BoxFuture<'a, Result<Option<ClusterName>, LedgerError>> {
        std::future::ready(entry(key, binding).map(Option::<&ClusterName>::cloned)).boxed()
    }

    fn compare_and_swap<'a>(
        &'a self,
        key: &'a AllocationKey,
        binding: Option<&'a Binding>,
        expected: Option<&'a ClusterName>,
        cluster: &'a ClusterName,
    ) -> BoxFuture<'a, Result<Swap, LedgerError>> {
        self.swap(key, binding, expected, cluster).boxed()
    }
}
