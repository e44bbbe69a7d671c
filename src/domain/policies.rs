//! What an API server calls our own custom resources.

/// Their API group.
pub const POLICY_GROUP: &str = "reviser.io";

/// Their version.
pub const POLICY_VERSION: &str = "v1alpha1";

/// Their plurals.
pub const POLICY_RESOURCES: [&str; 5] = [
    "clusterrevisionpolicies",
    "revisionpolicies",
    "resourceinterpretations",
    "clustertargetpodtransformations",
    "targetpodtransformations",
];
