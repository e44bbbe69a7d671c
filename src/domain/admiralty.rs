//! Names of Admiralty, and how a workload names its transformations.

use std::fmt;

pub const ADMIRALTY_GROUP: &str = "multicluster.admiralty.io";

/// The kind of the object from which Admiralty makes a pod in a target.
pub const POD_CHAPERON: &str = "PodChaperon";

/// Admiralty schedules a pod that has this annotation, whatever its value.
pub const ELECT_ANNOTATION: &str = "multicluster.admiralty.io/elect";

/// The pod before the changes of Admiralty's webhook. The pods in targets are made from it.
pub const SOURCE_POD_ANNOTATION: &str = "multicluster.admiralty.io/sourcepod-manifest";

/// The label of a `PodChaperon` that names the source; empty unless Admiralty is installed there with
/// `clusterName`.
pub const PARENT_CLUSTER_LABEL: &str = "multicluster.admiralty.io/parent-cluster-name";

/// The annotation for transformations that was proposed to Admiralty. Admiralty drops it on the way to a
/// target.
pub const PROPOSED_TRANSFORMATION_ANNOTATION: &str = "multicluster.admiralty.io/targetpodtransformation";

/// The annotation for transformations that reaches every target.
pub const TRANSFORMATION_ANNOTATION: &str = "reviser.io/targetpodtransformation";

/// The kind of the document of a member cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ClusterKind {
    /// Of Karmada.
    Cluster,
    /// Of Admiralty, in a namespace.
    Target,
    /// Of Admiralty.
    ClusterTarget,
}

impl fmt::Display for ClusterKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Cluster => "Cluster",
            Self::Target => "Target",
            Self::ClusterTarget => "ClusterTarget",
        })
    }
}

/// The names in both annotations: the proposed ones first, unless they have been copied already.
///
/// To copy again changes nothing.
pub fn join_transformations(proposed: &str, own: &str) -> String {
    let (proposed, own) = (proposed.trim(), own.trim());
    let is_copied =
        own.strip_prefix(proposed).is_some_and(|rest| rest.is_empty() || rest.trim_start().starts_with(','));
    match (proposed, own) {
        ("", names) | (names, "") => names.to_owned(),
        (_, own) if is_copied => own.to_owned(),
        (proposed, own) => format!("{proposed},{own}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn proposed_names_come_first_and_are_copied_once() {
        for (proposed, own, expected) in [
            ("", "", ""),
            (" ", "a", "a"),
            ("a", "", "a"),
            ("a", "a", "a"),
            ("a, b", "", "a, b"),
            ("a", "b", "a,b"),
            ("a", "a,b", "a,b"),
            ("a", "a , b", "a , b"),
            ("a", "ab", "a,ab"),
            ("b", "a,b", "b,a,b"),
        ] {
            let joined = join_transformations(proposed, own);
            assert_eq!(joined, expected, "{proposed:?} {own:?}");
            assert_eq!(join_transformations(proposed, &joined), joined, "{proposed:?} {own:?}");
        }
    }
}
