//! The custom resources of reviser.

use std::fmt;

/// Their API group.
pub const POLICY_GROUP: &str = "reviser.io";

/// Their version.
pub const POLICY_VERSION: &str = "v1alpha1";

/// The kinds of policy documents, in files and as custom resources.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PolicyKind {
    ClusterRevisionPolicy,
    RevisionPolicy,
    ResourceInterpretation,
    ClusterTargetPodTransformation,
    TargetPodTransformation,
}

impl PolicyKind {
    /// All of them.
    pub const ALL: [Self; 5] = [
        Self::ClusterRevisionPolicy,
        Self::RevisionPolicy,
        Self::ResourceInterpretation,
        Self::ClusterTargetPodTransformation,
        Self::TargetPodTransformation,
    ];

    /// `kind` in a document.
    pub const fn name(self) -> &'static str {
        match self {
            Self::ClusterRevisionPolicy => "ClusterRevisionPolicy",
            Self::RevisionPolicy => "RevisionPolicy",
            Self::ResourceInterpretation => "ResourceInterpretation",
            Self::ClusterTargetPodTransformation => "ClusterTargetPodTransformation",
            Self::TargetPodTransformation => "TargetPodTransformation",
        }
    }

    /// The resource in paths of an API server.
    pub const fn plural(self) -> &'static str {
        match self {
            Self::ClusterRevisionPolicy => "clusterrevisionpolicies",
            Self::RevisionPolicy => "revisionpolicies",
            Self::ResourceInterpretation => "resourceinterpretations",
            Self::ClusterTargetPodTransformation => "clustertargetpodtransformations",
            Self::TargetPodTransformation => "targetpodtransformations",
        }
    }

    /// Whether objects of this kind are in namespaces.
    pub const fn is_namespaced(self) -> bool {
        match self {
            Self::RevisionPolicy | Self::TargetPodTransformation => true,
            Self::ClusterRevisionPolicy
            | Self::ResourceInterpretation
            | Self::ClusterTargetPodTransformation => false,
        }
    }

    /// Whether this is one of the kinds proposed to Admiralty, whose documents may leave out `apiVersion`.
    pub const fn is_transformation(self) -> bool {
        match self {
            Self::ClusterTargetPodTransformation | Self::TargetPodTransformation => true,
            Self::ClusterRevisionPolicy | Self::RevisionPolicy | Self::ResourceInterpretation => false,
        }
    }

    /// The kind of this name.
    pub fn by_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// The kind of this resource.
    pub fn by_plural(plural: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.plural() == plural)
    }
}

impl fmt::Display for PolicyKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
