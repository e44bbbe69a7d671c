//! The identity of a workload, and names of clusters.

use std::fmt;

use super::{ADMIRALTY_GROUP, POD_CHAPERON};
use crate::json::Value;

/// The annotation that marks a revised manifest. Its value is the id of the undo.
pub const REVISED_ANNOTATION: &str = "reviser.io/revised";

/// The annotation of a Work that holds the undo of the revision of its manifests.
pub const REVISION_ANNOTATION: &str = "reviser.io/revision";

/// The name of a member cluster. Never empty.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ClusterName(String);

impl ClusterName {
    /// `None` for the empty text.
    pub fn new(name: impl Into<String>) -> Option<Self> {
        let name = name.into();
        (!name.is_empty()).then_some(Self(name))
    }

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
    /// Empty for the core group.
    pub group: String,
    pub version: String,
    pub kind: String,
}

impl GroupVersionKind {
    /// From an object's `apiVersion` (`group/version`, or `version` for the core group) and `kind`.
    pub fn of(api_version: &str, kind: &str) -> Self {
        let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
        Self { group: group.to_owned(), version: version.to_owned(), kind: kind.to_owned() }
    }

    /// Whether it is Admiralty's `PodChaperon`.
    pub fn is_pod_chaperon(&self) -> bool {
        self.group == ADMIRALTY_GROUP && self.kind == POD_CHAPERON
    }

    pub fn api_version(&self) -> String {
        if self.group.is_empty() { self.version.clone() } else { format!("{}/{}", self.group, self.version) }
    }
}

/// The identity of a workload.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Workload {
    pub gvk: GroupVersionKind,
    /// Empty for a cluster-scoped object.
    pub namespace: String,
    pub name: String,
}

impl Workload {
    /// Reads the identity of an object in a file. A Pod or `PodChaperon` without a namespace is in `default`,
    /// where kubectl would create it.
    pub fn read(object: &Value<'_>) -> Result<Self, String> {
        if object.as_object().is_none() {
            return Err(format!("must be a map, is {}", object.kind()));
        }
        let kind = object.get("kind").and_then(Value::as_str).unwrap_or_default();
        if let Some(items) = object.get("items").and_then(Value::as_array).filter(|_| is_list_kind(kind)) {
            return Err(format!(
                "/kind: a {kind} of {} objects; give each of its items by itself",
                items.len()
            ));
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
        let gvk = GroupVersionKind::of(&required(&["apiVersion"])?, &required(&["kind"])?);
        let is_pod =
            matches!((gvk.group.as_str(), gvk.kind.as_str()), ("", "Pod") | (ADMIRALTY_GROUP, POD_CHAPERON));
        let namespace = text(&["metadata", "namespace"]).filter(|namespace| !namespace.is_empty());
        Ok(Self {
            namespace: namespace.unwrap_or_else(|| if is_pod { "default" } else { "" }.to_owned()),
            gvk,
            name: text(&["metadata", "name"])
                .or_else(|| text(&["metadata", "generateName"]))
                .filter(|name| !name.is_empty())
                .map_or_else(|| required(&["metadata", "name"]), Ok)?,
        })
    }
}

impl Workload {
    /// Whether it is Admiralty's `PodChaperon`, which is created for one target and has no replicas.
    pub fn is_chaperon(&self) -> bool {
        self.gvk.is_pod_chaperon()
    }

    /// `Deployment shop/web`, or `Namespace shop` for an object without a namespace.
    pub fn qualified_name(&self) -> String {
        let slash = if self.namespace.is_empty() { "" } else { "/" };
        format!("{} {}{slash}{}", self.gvk.kind, self.namespace, self.name)
    }
}

/// Whether a kind is one of lists, such as `List` and `ConfigMapList`, by its name.
pub fn is_list_kind(kind: &str) -> bool {
    kind.ends_with("List")
}

impl fmt::Display for Workload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.gvk.kind, self.name)
    }
}

/// Whether a label or annotation belongs to Karmada, to Admiralty or to reviser itself, so that no
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
    fn a_list_of_objects_is_no_workload() {
        for (object, expected) in [
            (r#"{"apiVersion":"v1","kind":"List","items":[{}]}"#, "/kind: a List of 1 objects; "),
            (r#"{"apiVersion":"v1","kind":"List","metadata":{},"items":[]}"#, "/kind: a List of 0 objects; "),
            (
                r#"{"apiVersion":"apps/v1","kind":"DeploymentList","items":[{},{}]}"#,
                "/kind: a DeploymentList of 2 objects; give each of its items by itself",
            ),
        ] {
            let problem = Workload::read(&Value::parse(object.as_bytes()).unwrap()).unwrap_err();
            assert!(problem.starts_with(expected), "{problem}");
        }
        for object in [
            r#"{"apiVersion":"example.com/v1","kind":"AllowList","metadata":{"name":"a"}}"#,
            r#"{"apiVersion":"example.com/v1","kind":"Basket","metadata":{"name":"a"},"items":[]}"#,
        ] {
            assert!(Workload::read(&Value::parse(object.as_bytes()).unwrap()).is_ok(), "{object}");
        }
    }

    #[test]
    fn the_core_group_has_no_slash() {
        let pod = GroupVersionKind::of("v1", "Pod");
        assert_eq!((pod.group.as_str(), pod.api_version().as_str()), ("", "v1"));
        assert_eq!(GroupVersionKind::of("apps/v1", "Deployment").api_version(), "apps/v1");
    }

    #[test]
    fn pods_without_a_namespace_are_in_the_one_of_kubectl() {
        for (object, namespace) in [
            (r#"{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"}}"#, "default"),
            (r#"{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","namespace":""}}"#, "default"),
            (r#"{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","namespace":"lab"}}"#, "lab"),
            (
                r#"{"apiVersion":"multicluster.admiralty.io/v1alpha1","kind":"PodChaperon","metadata":{"generateName":"p-"}}"#,
                "default",
            ),
            (r#"{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"p"}}"#, ""),
            (r#"{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"p"}}"#, ""),
        ] {
            let workload = Workload::read(&Value::parse(object.as_bytes()).unwrap()).unwrap();
            assert_eq!(workload.namespace, namespace, "{object}");
            assert_eq!(workload.is_chaperon(), object.contains("PodChaperon"), "{object}");
        }
    }
}
