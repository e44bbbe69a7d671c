//! Which clusters get a workload, with how many replicas.

use std::collections::HashSet;
use std::sync::Arc;

use super::ClusterName;

/// One entry of a schedule: Karmada's `TargetCluster`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TargetCluster {
    /// The member cluster.
    pub name: ClusterName,
    /// Replicas scheduled to it, which double as its weight. Never negative; 0 is a normal value.
    pub replicas: i64,
}

/// The clusters that a workload is scheduled to, in the order of its binding. No cluster is there twice.
///
/// An empty schedule is a known one: the workload is scheduled nowhere. Clones share the list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Schedule(Arc<[TargetCluster]>);

/// Why a list of clusters is no schedule.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ScheduleError {
    /// Which of two entries counts would be a guess.
    #[error("cluster {0:?} is listed twice")]
    Twice(String),
    /// There is no such number of replicas.
    #[error("cluster {0:?} has {1} replicas, which is negative")]
    Negative(String, i64),
}

impl Schedule {
    /// A schedule of these clusters, in this order.
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

    /// The clusters, in order.
    pub fn clusters(&self) -> &[TargetCluster] {
        &self.0
    }

    /// Whether `cluster` is one of them.
    pub fn lists(&self, cluster: &ClusterName) -> bool {
        self.replicas_of(cluster).is_some()
    }

    /// Replicas scheduled to `cluster`; `None` if it is not listed.
    pub fn replicas_of(&self, cluster: &ClusterName) -> Option<i64> {
        self.0.iter().find(|target| target.name == *cluster).map(|target| target.replicas)
    }
}
