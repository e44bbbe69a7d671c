//! What is known about clusters: the documents of `--state`, and the labels of `--cluster-labels` over them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;

use crate::domain::ClusterName;
use crate::engine::PolicySet;
use crate::service::Service;
use crate::state::files::StateFiles;
use crate::state::memory::{MemoryLabels, MemoryLedger};
use crate::state::{ClusterLister, Ledger};

/// Labels by cluster.
pub type ClusterLabels = BTreeMap<ClusterName, BTreeMap<String, String>>;

/// What is known about clusters, bindings and Works.
#[derive(Clone, Debug, Default)]
pub struct KnownClusters {
    files: Option<StateFiles>,
    labels: ClusterLabels,
}

impl KnownClusters {
    /// Reads the state files.
    ///
    /// The error is every fault of every document, each in one line.
    pub fn open(state: &[PathBuf], labels: ClusterLabels) -> Result<Self, Vec<String>> {
        let files = if state.is_empty() { None } else { Some(StateFiles::open(state.to_vec())?) };
        Ok(Self { files, labels })
    }

    /// A service that knows these clusters.
    pub fn service(&self, policies: PolicySet, ledger: MemoryLedger) -> Service {
        let ledger: Arc<dyn Ledger> = Arc::new(ledger);
        let mut service = Service::new(policies, ledger);
        let mut clusters: Option<Arc<dyn ClusterLister>> = None;
        if let Some(files) = &self.files {
            clusters = Some(Arc::new(files.clone()));
            service = service.with_state(Arc::new(files.clone()), Arc::new(files.clone()));
        }
        if !self.labels.is_empty() {
            clusters = Some(Arc::new(MemoryLabels::new(self.labels.clone(), clusters)));
        }
        match clusters {
            Some(clusters) => service.with_clusters(clusters),
            None => service,
        }
    }

    /// Whether a flag says something about clusters.
    pub fn is_given(&self) -> bool {
        self.files.is_some() || !self.labels.is_empty()
    }

    /// The clusters and targets in the state files.
    pub fn names(&self) -> BTreeSet<ClusterName> {
        self.files.as_ref().map(StateFiles::cluster_names).unwrap_or_default()
    }

    /// The clusters that have labels from `--cluster-labels`.
    pub fn labelled(&self) -> impl Iterator<Item = &ClusterName> {
        self.labels.keys()
    }
}
