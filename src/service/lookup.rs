//! Bindings, Works and clusters, as they are now.

use super::Service;
use crate::domain::{Binding, BindingName, Cluster, Delivery, Failure, Target, Workload};
use crate::engine::Policy;
use crate::state::{BindingLookup, LookupError};

impl Service {
    /// The binding of `workload`, for a door that can do without.
    pub(super) async fn binding_if_there(&self, workload: &Workload) -> Result<Option<Binding>, Failure> {
        let Some(bindings) = &self.bindings else { return Ok(None) };
        match bindings.find(workload, None).await {
            Ok(BindingLookup::Found(binding)) => Ok(Some(binding)),
            Ok(BindingLookup::Gone) | Err(LookupError::Lacking(_)) => Ok(None),
            Err(error) => Err(Failure::unavailable(error.to_string())),
        }
    }

    /// The binding of a workload in a Work that says that it belongs to `named`.
    pub(super) async fn binding_of_work(
        &self,
        workload: &Workload,
        named: &BindingName,
    ) -> Result<BindingLookup, Failure> {
        let Some(bindings) = &self.bindings else {
            return Err(Failure::unavailable(format!(
                "the {named} can't be read: this server knows no bindings; give it some with --state"
            )));
        };
        bindings.find(workload, Some(named)).await.map_err(|error| Failure::unavailable(error.to_string()))
    }

    /// What is known about the cluster, if a rule may want to know it.
    pub(super) async fn cluster(
        &self,
        workload: &Workload,
        target: &Target<'_>,
        policies: &[&Policy],
    ) -> Result<Option<Cluster>, Failure> {
        match &self.clusters {
            Some(clusters) if policies.iter().any(|policy| policy.needs_cluster) => {
                let found = clusters.known(&target.cluster, &workload.namespace).await;
                found.map_err(|error| Failure::unavailable(error.to_string()))
            }
            _ => Ok(None),
        }
    }

    /// What all Works say about `workload`; about its own cluster `own` knows better.
    pub(super) async fn deliveries(
        &self,
        workload: &Workload,
        own: Option<Delivery>,
    ) -> Result<Vec<Delivery>, Failure> {
        let Some(works) = &self.works else { return Ok(Vec::new()) };
        let listed = works.delivering(workload).await;
        let mut deliveries = listed.map_err(|error| Failure::unavailable(error.to_string()))?;
        if let Some(own) = own {
            deliveries.retain(|delivery| delivery.cluster != own.cluster);
            deliveries.push(own);
        }
        Ok(deliveries)
    }
}
