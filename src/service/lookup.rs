//! Bindings and Works, as they are now.

use super::Service;
use crate::domain::{
    ADMIRALTY_GROUP, Binding, BindingName, Cluster, ClusterKind, ClusterName, Delivery, Failure, Workload,
};
use crate::engine::{Request, Selection};
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

    /// What is known about the cluster, and as what, if somebody may want to know it.
    pub(super) async fn cluster(
        &self,
        request: Request<'_, '_>,
        selection: &Selection<'_>,
    ) -> Result<Option<(ClusterKind, Cluster)>, Failure> {
        if !selection.needs_cluster() {
            return Ok(None);
        }
        let (workload, name) = (request.workload, &request.target.cluster);
        // A name can be a target's and a cluster's. Whose it is depends on who delivers the object.
        if workload.gvk.group == ADMIRALTY_GROUP {
            let target = self.target(workload, name).await?;
            return if target.is_some() { Ok(target) } else { self.karmada_cluster(name).await };
        }
        let cluster = self.karmada_cluster(name).await?;
        if cluster.is_some() { Ok(cluster) } else { self.target(workload, name).await }
    }

    async fn karmada_cluster(&self, name: &ClusterName) -> Result<Option<(ClusterKind, Cluster)>, Failure> {
        let Some(clusters) = &self.clusters else { return Ok(None) };
        let found = clusters.find(name).await.map_err(|error| Failure::unavailable(error.to_string()))?;
        Ok(found.map(|cluster| (ClusterKind::Cluster, cluster)))
    }

    async fn target(
        &self,
        workload: &Workload,
        name: &ClusterName,
    ) -> Result<Option<(ClusterKind, Cluster)>, Failure> {
        let Some(targets) = &self.targets else { return Ok(None) };
        let found = targets.target(&workload.namespace, name).await;
        found.map_err(|error| Failure::unavailable(error.to_string()))
    }

    /// What all Works say about `workload`; about its own cluster `own` knows better.
    pub(super) async fn deliveries(
        &self,
        workload: &Workload,
        own: Option<&Delivery>,
    ) -> Result<Vec<Delivery>, Failure> {
        let Some(works) = &self.works else { return Ok(Vec::new()) };
        let listed = works.delivering(workload).await;
        let mut deliveries = listed.map_err(|error| Failure::unavailable(error.to_string()))?;
        if let Some(own) = own {
            deliveries.retain(|delivery| delivery.cluster != own.cluster);
            deliveries.push(own.clone());
        }
        Ok(deliveries)
    }
}
