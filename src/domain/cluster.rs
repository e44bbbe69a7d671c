//! Member clusters.

use std::collections::BTreeMap;

use super::ClusterName;

/// What is known about a member cluster: a `Cluster` of Karmada's, or a `Target` or `ClusterTarget` of Admiralty's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cluster {
    /// Its name.
    pub name: ClusterName,
    /// Its labels.
    pub labels: BTreeMap<String, String>,
    /// `spec.provider`
    pub provider: Option<String>,
    /// `spec.region`
    pub region: Option<String>,
    /// `spec.zones`, or `spec.zone` where only that is given.
    pub zones: Vec<String>,
}
