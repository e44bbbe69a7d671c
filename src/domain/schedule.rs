//! The clusters that get a workload, and their replicas.

use std::collections::HashSet;
use std::sync::Arc;

use super::ClusterName;

/// Karmada's `TargetCluster`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TargetCluster {
    pub name: ClusterName,
    /// Also the weight of the cluster. Never negative; 0 is a normal value.
    pub replicas: i64,
}

/// The clusters that a workload is scheduled to, in the order of its binding. No cluster is there twice.
///
/// An empty schedule means that the workload is not scheduled to any cluster. Clones share the list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Schedule(Arc<[TargetCluster]>);

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ScheduleError {
    #[error("cluster {0:?} is listed twice")]
    Twice(String),
    #[error("cluster {0:?} has {1} replicas, which is negative")]
    Negative(String, i64),
}

impl Schedule {
    pub fn new(clusters: Vec<TargetCluster>) -> Result<Self, ScheduleError> {
        let mut seen = HashSet::new();
        for cluster in &clusters {
            if !seen.insert(&cluster.name) {
                return Err(ScheduleError::Twice(cluster.name.to_string()));
            }
            if cluster.replicas < 0 {
                return Err(ScheduleError::Negative(cluster.name.to_string(), cluster.replicas));
            }
        }
        Ok(Self(clusters.into()))
    }

    /// In the order of the binding.
    pub fn clusters(&self) -> &[TargetCluster] {
        &self.0
    }

    pub fn lists(&self, cluster: &ClusterName) -> bool {
        self.replicas_of(cluster).is_some()
    }

    /// Replicas scheduled to `cluster`; `None` if it is not listed.
    pub fn replicas_of(&self, cluster: &ClusterName) -> Option<i64> {
        self.0.iter().find(|target| target.name == *cluster).map(|target| target.replicas)
    }
}
