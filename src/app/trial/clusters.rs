//! Clusters from `--state`, and their labels from `--cluster-labels`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;

use crate::app::state;
use crate::domain::ClusterName;
use crate::engine::PolicySet;
use crate::service::Service;
use crate::state::files::StateFiles;
use crate::state::memory::{MemoryLabels, MemoryLedger};
use crate::state::{ClusterLister, Ledger};

pub type ClusterLabels = BTreeMap<ClusterName, BTreeMap<String, String>>;

/// Clusters, bindings and Works from flags and files. Labels from flags replace those from files.
#[derive(Clone, Debug, Default)]
pub struct KnownClusters {
    files: Option<StateFiles>,
    labels: ClusterLabels,
}

impl KnownClusters {
    /// Reads the state files. The error has one line for each fault in them.
    pub fn open(state: &[PathBuf], labels: ClusterLabels) -> Result<Self, Vec<String>> {
        let files = if state.is_empty() { None } else { Some(StateFiles::open(state.to_vec())?) };
        Ok(Self { files, labels })
    }

    pub fn service(&self, policies: PolicySet, ledger: MemoryLedger) -> Service {
        let ledger: Arc<dyn Ledger> = Arc::new(ledger);
        let mut service = Service::new(policies, ledger);
        let mut clusters: Option<Arc<dyn ClusterLister>> = None;
        if let Some(files) = &self.files {
            service = state::with_files(service, files);
            clusters = Some(Arc::new(files.clone()));
        }
        if self.labels.is_empty() {
            return service;
        }
        service.with_clusters(Arc::new(MemoryLabels::new(self.labels.clone(), clusters)))
    }

    /// Whether `--state` or `--cluster-labels` is given.
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
