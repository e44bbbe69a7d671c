//! The flags that `check` and `preview` share.

use super::args::{ClusterLabel, TrialArgs};
use super::exit::CliError;
use crate::app::{ClusterLabels, KnownClusters};
use crate::domain::Schedule;

/// The schedule of `--clusters`; empty without that flag.
pub(super) fn schedule(arguments: &TrialArgs) -> Result<Schedule, CliError> {
    Schedule::new(arguments.clusters.clone()).map_err(|error| CliError::Usage(format!("--clusters: {error}")))
}

/// The clusters of `--state` and `--cluster-labels`.
pub(super) fn known_clusters(arguments: &TrialArgs) -> Result<KnownClusters, CliError> {
    let mut labels = ClusterLabels::new();
    for ClusterLabel { cluster, key, value } in &arguments.cluster_labels {
        labels.entry(cluster.clone()).or_default().insert(key.clone(), value.clone());
    }
    KnownClusters::open(&arguments.state, labels).map_err(CliError::refused_state)
}
