//! Member clusters.

use std::collections::BTreeMap;

use super::ClusterName;

/// A member cluster: a `Cluster` of Karmada, or a `Target` or `ClusterTarget` of Admiralty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cluster {
    pub name: ClusterName,
    pub labels: BTreeMap<String, String>,
    /// `spec.provider`
    pub provider: Option<String>,
    /// `spec.region`
    pub region: Option<String>,
    /// `spec.zones`, or `spec.zone` where only that is given.
    pub zones: Vec<String>,
}
