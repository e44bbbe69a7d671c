//! Kinds of objects, with the names that are used in paths of the API server.

use std::fmt;

use kube::core::ApiResource;

use crate::domain::{POLICY_GROUP, POLICY_VERSION, PolicyKind};

/// A kind of objects.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Kind {
    /// The API group; empty for the core group.
    pub group: std::borrow::Cow<'static, str>,
    /// The version in the group.
    pub version: std::borrow::Cow<'static, str>,
    /// The kind, for instance `Work`.
    pub kind: std::borrow::Cow<'static, str>,
    /// The plural name in paths, for instance `works`.
    pub plural: std::borrow::Cow<'static, str>,
    /// Whether the kind is namespaced.
    pub namespaced: bool,
}

impl Kind {
    /// Karmada's `ResourceBinding`.
    pub const RESOURCE_BINDING: Self =
        Self::of("work.karmada.io", "v1alpha2", "ResourceBinding", "resourcebindings", true);
    /// Karmada's `ClusterResourceBinding`.
    pub const CLUSTER_RESOURCE_BINDING: Self =
        Self::of("work.karmada.io", "v1alpha2", "ClusterResourceBinding", "clusterresourcebindings", false);
    /// Karmada's `Work`.
    pub const WORK: Self = Self::of("work.karmada.io", "v1alpha1", "Work", "works", true);
    /// Karmada's `Cluster`.
    pub const CLUSTER: Self = Self::of("cluster.karmada.io", "v1alpha1", "Cluster", "clusters", false);
    /// Admiralty's `Target`.
    pub const TARGET: Self = Self::of("multicluster.admiralty.io", "v1alpha1", "Target", "targets", true);
    /// Admiralty's `ClusterTarget`.
    pub const CLUSTER_TARGET: Self =
        Self::of("multicluster.admiralty.io", "v1alpha1", "ClusterTarget", "clustertargets", false);
    /// Kubernetes' `Lease`.
    pub const LEASE: Self = Self::of("coordination.k8s.io", "v1", "Lease", "leases", true);

    pub const fn of(
        group: &'static str,
        version: &'static str,
        kind: &'static str,
        plural: &'static str,
        namespaced: bool,
    ) -> Self {
        use std::borrow::Cow::Borrowed;
        Self {
            group: Borrowed(group),
            version: Borrowed(version),
            kind: Borrowed(kind),
            plural: Borrowed(plural),
            namespaced,
        }
    }

    /// `group/version`, or the version alone for the core group.
    pub fn api_version(&self) -> String {
        if self.group.is_empty() {
            self.version.to_string()
        } else {
            format!("{}/{}", self.group, self.version)
        }
    }

    /// `plural.group`, as in RBAC messages and on kubectl's command line.
    pub fn resource(&self) -> String {
        if self.group.is_empty() {
            self.plural.to_string()
        } else {
            format!("{}.{}", self.plural, self.group)
        }
    }

    /// The path of all objects, or of those in a namespace.
    pub(super) fn path(&self, namespace: Option<&str>) -> String {
        let root = if self.group.is_empty() { "/api" } else { "/apis" };
        let within = namespace.map(|namespace| format!("/namespaces/{namespace}")).unwrap_or_default();
        format!("{root}/{}{within}/{}", self.api_version(), self.plural)
    }

    pub(super) fn for_kube(&self) -> ApiResource {
        ApiResource {
            group: self.group.to_string(),
            version: self.version.to_string(),
            api_version: self.api_version(),
            kind: self.kind.to_string(),
            plural: self.plural.to_string(),
        }
    }
}

impl From<PolicyKind> for Kind {
    fn from(kind: PolicyKind) -> Self {
        Self::of(POLICY_GROUP, POLICY_VERSION, kind.name(), kind.plural(), kind.is_namespaced())
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.kind)?;
        if self.group.is_empty() { Ok(()) } else { write!(f, ".{}", self.group) }
    }
}
