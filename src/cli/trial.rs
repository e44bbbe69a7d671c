//! The flags that `check` and `preview` share, as values.

use super::args::{ClusterLabel, TrialArgs};
use super::exit::CliError;
use crate::app::{ClusterLabels, KnownClusters};
use crate::domain::Schedule;

/// The schedule of `--clusters`; empty without that flag.
pub(super) fn schedule(arguments: &TrialArgs) -> Result<Schedule, CliError> {
    Schedule::new(arguments.clusters.clone()).map_err(|error| CliError::Usage(format!("--clusters: {error}")))
}

/// What `--state` and `--cluster-labels` say.
pub(super) fn known_clusters(arguments: &TrialArgs) -> Result<KnownClusters, CliError> {
    let mut labels = ClusterLabels::new();
    for ClusterLabel { cluster, key, value } in &arguments.cluster_labels {
        labels.entry(cluster.clone()).or_default().insert(key.clone(), value.clone());
    }
    KnownClusters::open(&arguments.state, labels).map_err(|findings| {
        CliError::Refused(format!("the state files are refused:\n{}", findings.join("\n")))
    })
}
