//! Bindings, Works, templates and clusters on an API server: [`KubeState`]; the ledger on its bindings:
//! [`KubeLedger`].
//!
//! Bindings, Works and templates are read at each lookup, because a stale one would cause a wrong revision
//! that no later event corrects. Clusters change rarely and there may be thousands, so they are watched and
//! cached.

mod clusters;
mod ledger;

#[cfg(test)]
mod tests;

use std::sync::Arc;

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;

use self::clusters::ClusterCache;
use super::snapshot;
use super::{BindingLister, BindingLookup, ClusterLister, LookupError, TemplateLister, WorkLister};
use crate::apiserver::{ApiServer, CallError, Kind, Stored, Within};
use crate::domain::{Binding, BindingName, Cluster, ClusterKind, ClusterName, Delivery, Workload};
use crate::json::Text;
use crate::work::Work;

pub use ledger::KubeLedger;

/// Bindings, Works, templates and clusters on an API server. Clones share the cache.
#[derive(Clone, Debug)]
pub struct KubeState {
    server: ApiServer,
    clusters: Arc<ClusterCache>,
}

impl KubeState {
    /// The state on `server`. Lookups of clusters fail until [`follow`](Self::follow) runs.
    pub fn new(server: ApiServer) -> Self {
        Self { server, clusters: Arc::default() }
    }

    /// Watches the clusters. Never returns.
    pub async fn follow(self) {
        self.clusters.follow(&self.server).await;
    }

    /// Whether all clusters have been listed.
    pub fn is_synced(&self) -> bool {
        self.clusters.is_synced()
    }

    async fn named(&self, workload: &Workload, name: &BindingName) -> Result<BindingLookup, LookupError> {
        let (kind, namespace) = match &name.namespace {
            Some(namespace) => (Kind::RESOURCE_BINDING, namespace.as_str()),
            None => (Kind::CLUSTER_RESOURCE_BINDING, ""),
        };
        let Some(stored) = self.server.get(&kind, namespace, &name.name).await.map_err(failed)? else {
            return Ok(BindingLookup::Gone);
        };
        let (whose, binding) = read_binding(&stored, namespace)?;
        if !same(&whose, workload) {
            // The schedule and the allocations are those of another workload.
            return Err(LookupError::Failed(format!(
                "the {name} is of {whose}, not of {workload}; fix the annotations of the Work"
            )));
        }
        Ok(BindingLookup::Found(binding))
    }

    /// Searches the binding of a workload when its name is not known.
    async fn search(&self, workload: &Workload) -> Result<BindingLookup, LookupError> {
        let namespace = workload.namespace.as_str();
        let kind = if namespace.is_empty() { Kind::CLUSTER_RESOURCE_BINDING } else { Kind::RESOURCE_BINDING };
        let within = Within { namespace: Some(namespace).filter(|name| !name.is_empty()), name: None };
        let mut found: Vec<Binding> = Vec::new();
        for stored in self.server.list(&kind, within).await.map_err(failed)? {
            // Ignore invalid bindings. They may be those of other workloads.
            if let Ok((whose, binding)) = read_binding(&stored, namespace)
                && same(&whose, workload)
            {
                found.push(binding);
            }
        }
        match found.len() {
            0 => Ok(BindingLookup::Gone),
            1 => Ok(BindingLookup::Found(found.swap_remove(0))),
            _ => {
                let names: Vec<String> =
                    found.iter().map(|binding| BindingName::of(binding).to_string()).collect();
                Err(LookupError::Failed(format!(
                    "{workload} has several bindings ({}), and nothing says which of them is meant; delete all but one",
                    names.join(", ")
                )))
            }
        }
    }

    async fn works(&self, workload: &Workload, called: Option<&str>) -> Result<Vec<Delivery>, LookupError> {
        // Without a name, all Works must be listed. This happens only for requests that are not about a Work.
        let within = Within { namespace: None, name: called };
        let mut deliveries = Vec::new();
        for stored in self.server.list(&Kind::WORK, within).await.map_err(failed)? {
            let Some(cluster) = Work::cluster(stored.namespace()) else { continue };
            let unreadable = |problem: String| {
                let place = format!("{}/{}", stored.namespace(), stored.name());
                LookupError::Failed(format!("the Work {place} can't be read: {problem}; fix or delete it"))
            };
            let text =
                Text::parse(stored.text().as_bytes()).map_err(|error| unreadable(error.to_string()))?;
            let work = Work::read(text.root()).map_err(|failure| unreadable(failure.message()))?;
            deliveries.extend(work.delivery(&cluster, workload));
        }
        Ok(snapshot::merge_by_cluster(deliveries))
    }
}

impl BindingLister for KubeState {
    fn find<'a>(
        &'a self,
        workload: &'a Workload,
        named: Option<&'a BindingName>,
    ) -> BoxFuture<'a, Result<BindingLookup, LookupError>> {
        async move {
            match named {
                Some(name) => self.named(workload, name).await,
                None => self.search(workload).await,
            }
        }
        .boxed()
    }
}

impl WorkLister for KubeState {
    fn delivering<'a>(
        &'a self,
        workload: &'a Workload,
        called: Option<&'a str>,
    ) -> BoxFuture<'a, Result<Vec<Delivery>, LookupError>> {
        self.works(workload, called).boxed()
    }
}

impl TemplateLister for KubeState {
    fn template<'a>(&'a self, workload: &'a Workload) -> BoxFuture<'a, Result<Option<String>, LookupError>> {
        async move {
            let Workload { gvk, namespace, name } = workload;
            let kind = self
                .server
                .kind(&gvk.group, &gvk.version, &gvk.kind)
                .await
                .map_err(|error| template(&error))?;
            let stored = self.server.get(&kind, namespace, name).await.map_err(|error| template(&error))?;
            Ok(stored.map(|stored| stored.text().to_owned()))
        }
        .boxed()
    }
}

impl ClusterLister for KubeState {
    fn known<'a>(
        &'a self,
        name: &'a ClusterName,
        namespace: &'a str,
    ) -> BoxFuture<'a, Result<Option<Cluster>, LookupError>> {
        std::future::ready(self.clusters.find(name, namespace)).boxed()
    }

    fn namesakes<'a>(
        &'a self,
        name: &'a ClusterName,
        namespace: &'a str,
    ) -> BoxFuture<'a, Result<Vec<(ClusterKind, Cluster)>, LookupError>> {
        std::future::ready(self.clusters.namesakes(name, namespace)).boxed()
    }
}

#[expect(clippy::needless_pass_by_value, reason = "it is what an error is mapped with")]
fn failed(error: CallError) -> LookupError {
    LookupError::Failed(error.to_string())
}

fn template(error: &CallError) -> LookupError {
    let advice = if error.is_forbidden() {
        "; a rule or a pin needs the template: let the user of reviser get objects of that kind"
    } else {
        ""
    };
    LookupError::Failed(format!("{error}{advice}"))
}

fn read_binding(stored: &Stored, namespace: &str) -> Result<(Workload, Binding), LookupError> {
    snapshot::read_binding(stored.text(), namespace).map_err(|problem| {
        let slash = if namespace.is_empty() { "" } else { "/" };
        let name = stored.name();
        LookupError::Failed(format!("the binding {namespace}{slash}{name} can't be read: {problem}"))
    })
}

/// Whether both are the same workload. The version may differ.
fn same(a: &Workload, b: &Workload) -> bool {
    a.gvk.group == b.gvk.group && a.gvk.kind == b.gvk.kind && a.namespace == b.namespace && a.name == b.name
}
