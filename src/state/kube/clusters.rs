//! A cache of the clusters on an API server, updated by watches.

use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::time::Duration;

use futures_util::{StreamExt as _, future};

use crate::apiserver::{ApiServer, Event, Kind};
use crate::domain::{Cluster, ClusterKind, ClusterName};
use crate::state::LookupError;
use crate::state::snapshot::{Clusters, read_cluster};

/// How long to wait before checking again whether a kind is served.
const NOT_SERVED_RETRY: Duration = Duration::from_secs(30);

/// How long to wait after an error of the server.
const ERROR_RETRY: Duration = Duration::from_secs(2);

/// The clusters of each kind, in the order of precedence.
#[derive(Debug)]
pub(super) struct ClusterCache(pub(super) [KindCache; 3]);

/// The clusters of one kind.
#[derive(Debug)]
pub(super) struct KindCache {
    cluster_kind: ClusterKind,
    kind: Kind,
    cached: RwLock<Cached>,
}

#[derive(Debug, Default)]
struct Cached {
    clusters: Clusters,
    is_synced: bool,
}

impl Default for ClusterCache {
    fn default() -> Self {
        let kinds = [
            (ClusterKind::Cluster, Kind::CLUSTER),
            (ClusterKind::ClusterTarget, Kind::CLUSTER_TARGET),
            (ClusterKind::Target, Kind::TARGET),
        ];
        Self(kinds.map(|(cluster_kind, kind)| KindCache { cluster_kind, kind, cached: RwLock::default() }))
    }
}

impl ClusterCache {
    pub(super) fn is_synced(&self) -> bool {
        self.0.iter().all(|kind| kind.read().is_synced)
    }

    pub(super) async fn follow(&self, server: &ApiServer) {
        future::join_all(self.0.iter().map(|kind| kind.follow(server))).await;
    }

    /// Fails until all clusters have been listed.
    pub(super) fn find(&self, name: &ClusterName, namespace: &str) -> Result<Option<Cluster>, LookupError> {
        for kind in &self.0 {
            if let Some(cluster) = kind.synced()?.clusters.find(name, namespace) {
                return Ok(Some(cluster));
            }
        }
        Ok(None)
    }

    /// Fails until all clusters have been listed.
    pub(super) fn namesakes(
        &self,
        name: &ClusterName,
        namespace: &str,
    ) -> Result<Vec<(ClusterKind, Cluster)>, LookupError> {
        let mut all = Vec::new();
        for kind in &self.0 {
            all.extend(kind.synced()?.clusters.namesakes(name, namespace));
        }
        Ok(all)
    }
}

impl KindCache {
    fn read(&self) -> RwLockReadGuard<'_, Cached> {
        self.cached.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Cached> {
        self.cached.write().unwrap_or_else(PoisonError::into_inner)
    }

    fn synced(&self) -> Result<RwLockReadGuard<'_, Cached>, LookupError> {
        let cached = self.read();
        if cached.is_synced {
            return Ok(cached);
        }
        Err(LookupError::Failed(format!("the {} have not been read yet; try again", self.kind.resource())))
    }

    async fn follow(&self, server: &ApiServer) {
        let resource = self.kind.resource();
        self.wait_until_served(server).await;
        let mut events = server.watch(&self.kind);
        let mut is_failing = false;
        while let Some(event) = events.next().await {
            match event {
                Event::Failed { not_served: true, .. } => self.wait_until_served(server).await,
                Event::Failed { forbidden, problem, .. } => {
                    let message = if forbidden {
                        // Without rights on its kinds, Admiralty is not used. A rule that needs a target
                        // fails.
                        self.set_empty();
                        "these may not be read: none are known"
                    } else {
                        "clusters can't be watched; what was read last is used"
                    };
                    if !std::mem::replace(&mut is_failing, true) {
                        tracing::warn!(kind = resource, error = problem, "{message}");
                    }
                }
                event => {
                    if std::mem::take(&mut is_failing) {
                        tracing::info!(kind = resource, "clusters are watched again");
                    }
                    self.apply(event);
                }
            }
        }
    }

    /// Karmada's API server does not serve Admiralty's kinds, and the other way round. A watch of a kind that
    /// is not served would fail as forbidden if rights are missing, so check discovery first.
    async fn wait_until_served(&self, server: &ApiServer) {
        let mut last_problem = None;
        loop {
            let (problem, retry) = match server.serves(&self.kind).await {
                Ok(true) => return,
                Ok(false) => {
                    self.set_empty();
                    ("the API server does not serve these: none are known".to_owned(), NOT_SERVED_RETRY)
                }
                Err(error) => (format!("{error}; it is tried again"), ERROR_RETRY),
            };
            if last_problem.as_ref() != Some(&problem) {
                tracing::info!(kind = self.kind.resource(), "{problem}");
                last_problem = Some(problem);
            }
            tokio::time::sleep(retry).await;
        }
    }

    fn set_empty(&self) {
        *self.write() = Cached { clusters: Clusters::default(), is_synced: true };
    }

    pub(super) fn apply(&self, event: Event) {
        let mut cached = self.write();
        match event {
            Event::Applied(stored) => {
                if let Some(name) = ClusterName::new(stored.name()) {
                    cached.clusters.remove(self.cluster_kind, stored.namespace(), &name);
                }
                match read_cluster(self.cluster_kind, stored.name(), stored.text()) {
                    Ok(cluster) => cached.clusters.insert(self.cluster_kind, stored.namespace(), cluster),
                    Err(problem) => tracing::warn!(
                        kind = self.kind.resource(),
                        name = stored.name(),
                        error = problem,
                        "a cluster can't be read; nothing is known about it"
                    ),
                }
            }
            Event::Deleted(key) => {
                if let Some(name) = ClusterName::new(key.name) {
                    cached.clusters.remove(self.cluster_kind, &key.namespace, &name);
                }
            }
            Event::Synced => cached.is_synced = true,
            Event::Failed { .. } => {}
        }
    }
}
