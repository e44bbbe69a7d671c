//! Bindings, Works and clusters, as they are now.

use super::Service;
use crate::domain::{
    ADMIRALTY_GROUP, Binding, BindingName, Cluster, ClusterKind, Delivery, Failure, Workload,
};
use crate::engine::{Request, Selection};
use crate::json::Raw;
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

    /// The template of `workload`, as text, if `selection` wants to know it and templates can be read.
    pub(super) async fn template(
        &self,
        workload: &Workload,
        object: &Raw<'_>,
        selection: &Selection<'_>,
    ) -> Result<Option<String>, Failure> {
        let Some(templates) = self.templates.as_ref().filter(|_| selection.needs_original(object)) else {
            return Ok(None);
        };
        match templates.template(workload).await {
            Ok(Some(template)) => Ok(Some(template)),
            Ok(None) => Err(Failure::unavailable(
                "its template is gone, and a rule or a pin has to be read from it; nothing is guessed",
            )),
            Err(error) => Err(Failure::unavailable(error.to_string())),
        }
    }

    /// What is known about the cluster, and as what if that is known too; nothing if nobody may want to know it.
    pub(super) async fn cluster(
        &self,
        request: Request<'_, '_>,
        selection: &Selection<'_>,
    ) -> Result<Option<(Option<ClusterKind>, Cluster)>, Failure> {
        let Some(clusters) = self.clusters.as_ref().filter(|_| selection.needs_cluster()) else {
            return Ok(None);
        };
        let (workload, name) = (request.workload, &request.target.cluster);
        let unavailable = |error: LookupError| Failure::unavailable(error.to_string());
        // Several may go by one name. Which of them is meant depends on who delivers the object.
        let is_admiraltys = workload.gvk.group == ADMIRALTY_GROUP;
        let order = if is_admiraltys {
            [ClusterKind::Target, ClusterKind::ClusterTarget, ClusterKind::Cluster]
        } else {
            [ClusterKind::Cluster, ClusterKind::ClusterTarget, ClusterKind::Target]
        };
        if is_admiraltys || !selection.transformations.is_empty() {
            let mut namesakes = clusters.namesakes(name, &workload.namespace).await.map_err(unavailable)?;
            let position = |kind: &ClusterKind| namesakes.iter().position(|(known, _)| known == kind);
            if let Some(first) = order.iter().find_map(position) {
                let (kind, cluster) = namesakes.swap_remove(first);
                return Ok(Some((Some(kind), cluster)));
            }
        }
        let known = clusters.known(name, &workload.namespace).await.map_err(unavailable)?;
        Ok(known.map(|cluster| (None, cluster)))
    }

    /// What to say of targets that the transformations of an object name and of which nothing is known, each as
    /// `<transformation> <field>: <problem>; <advice>`. Nothing where no clusters can be read.
    pub async fn unknown_targets(
        &self,
        workload: &Workload,
        object: &Raw<'_>,
    ) -> Result<Vec<String>, Failure> {
        let Some(clusters) = &self.clusters else { return Ok(Vec::new()) };
        let set = self.policies()?;
        let selection = set.selection(workload, object)?;
        let unavailable = |error: LookupError| Failure::unavailable(error.to_string());
        let mut unknown = Vec::new();
        for transformation in &selection.transformations {
            for (position, kind, name) in transformation.references() {
                let namesakes = clusters.namesakes(name, &workload.namespace).await.map_err(unavailable)?;
                let problem = if namesakes.iter().any(|(known, _)| *known == kind) {
                    continue;
                } else if let Some((known, _)) = namesakes.first() {
                    format!("{:?} is a {known}, and no {kind}", name.as_str())
                } else if clusters.known(name, &workload.namespace).await.map_err(unavailable)?.is_some() {
                    continue;
                } else {
                    let place = match kind {
                        ClusterKind::Target => format!(" in namespace {:?}", workload.namespace),
                        ClusterKind::Cluster | ClusterKind::ClusterTarget => String::new(),
                    };
                    format!("there is no {kind} {:?}{place}", name.as_str())
                };
                let place = format!("{transformation} transformations[{position}].targetReference");
                let warning = format!("{place}: {problem}; correct it, or give the document in --state");
                if !unknown.contains(&warning) {
                    unknown.push(warning);
                }
            }
        }
        Ok(unknown)
    }

    /// What all Works say about `workload`; about its own cluster `own` knows better.
    pub(super) async fn deliveries(
        &self,
        workload: &Workload,
        called: Option<&str>,
        own: Option<Delivery>,
    ) -> Result<Vec<Delivery>, Failure> {
        let Some(works) = &self.works else { return Ok(Vec::new()) };
        let listed = works.delivering(workload, called).await;
        let mut deliveries = listed.map_err(|error| Failure::unavailable(error.to_string()))?;
        if let Some(own) = own {
            deliveries.retain(|delivery| delivery.cluster != own.cluster);
            deliveries.push(own);
        }
        Ok(deliveries)
    }
}
