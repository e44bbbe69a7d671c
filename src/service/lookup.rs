//! Reading bindings, Works, templates and clusters.

use super::{Origin, Service};
use crate::domain::{
    ADMIRALTY_GROUP, Binding, BindingName, Cluster, ClusterKind, Delivery, Failure, Workload,
};
use crate::engine::{ObjectSource, Request, Selection};
use crate::state::{BindingLookup, LookupError};
use crate::work::Work;

impl Service {
    /// The binding of `workload`, for a request that is answered without one too.
    pub(super) async fn binding_if_found(&self, workload: &Workload) -> Result<Option<Binding>, Failure> {
        let Some(bindings) = &self.bindings else { return Ok(None) };
        match bindings.find(workload, None).await {
            Ok(BindingLookup::Found(binding)) => Ok(Some(binding)),
            Ok(BindingLookup::Gone) | Err(LookupError::Lacking(_)) => Ok(None),
            Err(error) => Err(Failure::unavailable(error.to_string())),
        }
    }

    /// The binding `named` of a workload in a Work. Unavailable if this server reads no bindings, or cannot
    /// read it.
    pub(crate) async fn binding_of_work(
        &self,
        workload: &Workload,
        named: &BindingName,
    ) -> Result<BindingLookup, Failure> {
        let Some(bindings) = &self.bindings else {
            return Err(Failure::unavailable(format!(
                "the {named} can't be read: this server reads no bindings; pass the documents with --state"
            )));
        };
        bindings.find(workload, Some(named)).await.map_err(|error| Failure::unavailable(error.to_string()))
    }

    /// The template of `workload`, as text. `None` if `selection` does not need it, or if this server reads
    /// no templates.
    pub(crate) async fn template(
        &self,
        workload: &Workload,
        object: &ObjectSource<'_>,
        selection: &Selection<'_>,
    ) -> Result<Option<String>, Failure> {
        let Some(templates) = self.templates.as_ref().filter(|_| selection.needs_original(object)) else {
            return Ok(None);
        };
        match templates.template(workload).await {
            Ok(Some(template)) => Ok(Some(template)),
            Ok(None) => Err(Failure::unavailable(
                "its template is deleted, and a rule or a pin is read from it; delete the Work, or create the template again",
            )),
            Err(error) => Err(Failure::unavailable(error.to_string())),
        }
    }

    /// The target cluster's document, with its kind if more than one kind can have the name. `None` if
    /// `selection` does not need it, or if there is none.
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
        // Documents of several kinds may have this name. The system that delivers the object decides which is
        // meant.
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

    /// The targets that the transformations of an object name and that do not exist, each as
    /// `<transformation> <field>: <problem>; <advice>`. Empty if this server reads no clusters.
    pub async fn unknown_targets(
        &self,
        workload: &Workload,
        object: &ObjectSource<'_>,
    ) -> Result<Vec<String>, Failure> {
        let Some(clusters) = &self.clusters else { return Ok(Vec::new()) };
        let set = self.policies()?;
        let selection = set.selection(workload, object)?;
        let unavailable = |error: LookupError| Failure::unavailable(error.to_string());
        let mut warnings = Vec::new();
        for transformation in &selection.transformations {
            for (position, kind, name) in transformation.references() {
                let namesakes = clusters.namesakes(name, &workload.namespace).await.map_err(unavailable)?;
                let problem = if namesakes.iter().any(|(known, _)| *known == kind) {
                    continue;
                } else if let Some((known, _)) = namesakes.first() {
                    format!("{:?} is a {known}, not a {kind}", name.as_str())
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
                if !warnings.contains(&warning) {
                    warnings.push(warning);
                }
            }
        }
        Ok(warnings)
    }

    /// What the Works of all clusters record about the workload of `request`.
    pub(super) async fn deliveries(
        &self,
        request: Request<'_, '_>,
        origin: Origin<'_>,
    ) -> Result<Vec<Delivery>, Failure> {
        let Some(works) = &self.works else { return Ok(Vec::new()) };
        let workload = request.workload;
        let listed = works.delivering(workload, origin.work_name).await;
        let mut deliveries = listed.map_err(|error| Failure::unavailable(error.to_string()))?;
        let stored = origin.stored_work.and_then(|raw| Work::read(raw).ok());
        if let Some(own) = stored.and_then(|work| work.delivery(&request.target.cluster, workload)) {
            deliveries.retain(|delivery| delivery.cluster != own.cluster);
            deliveries.push(own);
        }
        Ok(deliveries)
    }
}
