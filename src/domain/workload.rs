//! Who a workload is, and where it goes.

use std::fmt;

use crate::json::Value;

/// The annotation that marks a revised manifest. Its value is the id of what undoes the revision.
pub const REVISED_ANNOTATION: &str = "reviser.io/revised";

/// The annotation of a Work that holds what undoes the revision of its manifests.
pub const REVISION_ANNOTATION: &str = "reviser.io/revision";

/// The name of a member cluster.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ClusterName(String);

impl ClusterName {
    /// A cluster name; `None` for the empty text, which is nobody's name.
    pub fn new(name: impl Into<String>) -> Option<Self> {
        let name = name.into();
        (!name.is_empty()).then_some(Self(name))
    }

    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ClusterName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// API group, version and kind of an object.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GroupVersionKind {
    /// API group; empty for the core group.
    pub group: String,
    /// Version, for instance `v1alpha1`.
    pub version: String,
    /// Kind, for instance `Rollout`.
    pub kind: String,
}

impl GroupVersionKind {
    /// From an object's `apiVersion` (`group/version`, or `version` for the core group) and `kind`.
    pub fn of(api_version: &str, kind: &str) -> Self {
        let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
        Self { group: group.to_owned(), version: version.to_owned(), kind: kind.to_owned() }
    }

    /// The `apiVersion` of such an object.
    pub fn api_version(&self) -> String {
        if self.group.is_empty() { self.version.clone() } else { format!("{}/{}", self.group, self.version) }
    }
}

/// The identity of a workload.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Workload {
    /// What it is.
    pub gvk: GroupVersionKind,
    /// Its namespace; empty for a cluster-scoped object.
    pub namespace: String,
    /// Its name.
    pub name: String,
}

impl Workload {
    /// The identity that an object says it has; else what is wrong with it.
    pub fn read(object: &Value<'_>) -> Result<Self, String> {
        if object.as_object().is_none() {
            return Err(format!("must be a map, is {}", object.kind()));
        }
        let text = |path: &[&str]| {
            let value = path.iter().try_fold(object, |value, name| value.get(name));
            value.and_then(Value::as_str).map(str::to_owned)
        };
        let required = |path: &[&str]| {
            text(path)
                .filter(|text| !text.is_empty())
                .ok_or_else(|| format!("/{}: must be a string that is not empty", path.join("/")))
        };
        Ok(Self {
            gvk: GroupVersionKind::of(&required(&["apiVersion"])?, &required(&["kind"])?),
            namespace: text(&["metadata", "namespace"]).unwrap_or_default(),
            name: text(&["metadata", "name"])
                .or_else(|| text(&["metadata", "generateName"]))
                .filter(|name| !name.is_empty())
                .map_or_else(|| required(&["metadata", "name"]), Ok)?,
        })
    }
}

impl fmt::Display for Workload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.gvk.kind, self.name)
    }
}

/// Whether a label or annotation belongs to Karmada, to Admiralty or to reviser's own book-keeping, so that no
/// rule may set, change or remove it.
pub fn owned_by_platform(key: &str) -> bool {
    let Some((domain, _)) = key.split_once('/') else {
        return false;
    };
    domain == "karmada.io"
        || domain.ends_with(".karmada.io")
        || domain == "multicluster.admiralty.io"
        || key == REVISED_ANNOTATION
        || key == REVISION_ANNOTATION
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn platform_keys_are_told_from_others() {
        for key in [
            "work.karmada.io/name",
            "karmada.io/managed",
            "multicluster.admiralty.io/elect",
            "reviser.io/revised",
        ] {
            assert!(owned_by_platform(key), "{key}");
        }
        for key in
            ["app", "notkarmada.io/x", "karmada.io.example.com/x", "reviser.io/fort-cluster", "cdos/az"]
        {
            assert!(!owned_by_platform(key), "{key}");
        }
    }

    #[test]
    fn the_core_group_has_no_slash() {
        let pod = GroupVersionKind::of("v1", "Pod");
        assert_eq!((pod.group.as_str(), pod.api_version().as_str()), ("", "v1"));
        assert_eq!(GroupVersionKind::of("apps/v1", "Deployment").api_version(), "apps/v1");
    }
}
