//! Annotations, labels and namespaces of Karmada's Works.
//!
//! Source: karmada-io/karmada@f8fdd02 `pkg/apis/work/v1alpha2/well_known_constants.go`,
//! `pkg/util/names/names.go`.

/// The annotation of a Work that names the namespace of its `ResourceBinding`.
pub const BINDING_NAMESPACE_ANNOTATION: &str = "resourcebinding.karmada.io/namespace";

/// The annotation of a Work that names its `ResourceBinding`.
pub const BINDING_NAME_ANNOTATION: &str = "resourcebinding.karmada.io/name";

/// The annotation of a Work that names its `ClusterResourceBinding`.
pub const CLUSTER_BINDING_NAME_ANNOTATION: &str = "clusterresourcebinding.karmada.io/name";

/// The labels of a Work that name its binding by an id, since Karmada 1.10 and before.
pub const BINDING_ID_LABELS: [&str; 4] = [
    "resourcebinding.karmada.io/permanent-id",
    "clusterresourcebinding.karmada.io/permanent-id",
    "resourcebinding.karmada.io/key",
    "clusterresourcebinding.karmada.io/key",
];

/// The label of a Work that Karmada does not dispatch, and its value, before Karmada 1.14. Since then it is
/// `spec.suspendDispatching`.
pub const SUPPRESSED_LABEL: (&str, &str) = ("propagation.karmada.io/instruction", "suppressed");

/// The namespace that holds the Works of a cluster is named after the cluster, with this prefix.
pub const EXECUTION_NAMESPACE_PREFIX: &str = "karmada-es-";
