//! `Cluster`, `Target` and `ClusterTarget`.
//!
//! Source: karmada-io/karmada@f8fdd02 `pkg/apis/cluster/v1alpha1/types.go`; admiraltyio/admiralty@0dd7771
//! `pkg/apis/multicluster/v1alpha1/types.go`.

use std::collections::{BTreeMap, HashMap};

use super::{Node, Notes};
use crate::domain::{Cluster, ClusterKind, ClusterName};

/// All clusters, by name.
#[derive(Debug, Default)]
pub(in crate::state) struct Clusters(HashMap<Box<str>, Namesakes>);

/// All that goes by one name.
#[derive(Debug, Default)]
struct Namesakes {
    /// A `Cluster`.
    cluster: Option<Packed>,
    /// A `ClusterTarget`.
    cluster_target: Option<Packed>,
    /// `Target`s, each with its namespace.
    targets: Vec<(Box<str>, Packed)>,
}

impl Namesakes {
    fn is_empty(&self) -> bool {
        self.cluster.is_none() && self.cluster_target.is_none() && self.targets.is_empty()
    }
}

/// Which of the kinds an object is of.
#[derive(Clone, Copy, Debug)]
pub(in crate::state) enum Sort<'d> {
    Cluster,
    ClusterTarget,
    /// With its namespace.
    Target(&'d str),
}

impl Clusters {
    /// What is known about the cluster `name`, for a workload in `namespace`: a `Cluster` says, else a `ClusterTarget`,
    /// else the `Target` in that namespace. A `Target` is for pods of its own namespace, so those of others are other clusters.
    pub(in crate::state) fn find(&self, name: &ClusterName, namespace: &str) -> Option<Cluster> {
        let Namesakes { cluster, cluster_target, targets } = self.0.get(name.as_str())?;
        let target = || targets.iter().find(|(own, _)| **own == *namespace).map(|(_, target)| target);
        let found = cluster.as_ref().or(cluster_target.as_ref()).or_else(target)?;
        Some(found.unpack(name.clone()))
    }

    /// All that goes by that name for a workload in `namespace`, each as what it is.
    pub(in crate::state) fn namesakes(
        &self,
        name: &ClusterName,
        namespace: &str,
    ) -> Vec<(ClusterKind, Cluster)> {
        let Some(Namesakes { cluster, cluster_target, targets }) = self.0.get(name.as_str()) else {
            return Vec::new();
        };
        let target = targets.iter().find(|(own, _)| **own == *namespace).map(|(_, target)| target);
        let all = [
            (ClusterKind::Cluster, cluster.as_ref()),
            (ClusterKind::ClusterTarget, cluster_target.as_ref()),
            (ClusterKind::Target, target),
        ];
        all.into_iter().filter_map(|(kind, packed)| Some((kind, packed?.unpack(name.clone())))).collect()
    }

    /// The names of all.
    pub(in crate::state) fn names(&self) -> impl Iterator<Item = ClusterName> {
        self.0.keys().filter_map(|name| ClusterName::new(&**name))
    }

    /// Forgets an object.
    pub(in crate::state) fn remove(&mut self, sort: Sort<'_>, name: &str) {
        let Some(namesakes) = self.0.get_mut(name) else { return };
        match sort {
            Sort::Cluster => namesakes.cluster = None,
            Sort::ClusterTarget => namesakes.cluster_target = None,
            Sort::Target(namespace) => namesakes.targets.retain(|(own, _)| **own != *namespace),
        }
        if namesakes.is_empty() {
            self.0.remove(name);
        }
    }

    /// Forgets the objects for which `keep` is false, given namespace (empty for a kind in none) and name.
    pub(in crate::state) fn retain(&mut self, keep: impl Fn(&str, &str) -> bool) {
        self.0.retain(|name, namesakes| {
            namesakes.cluster.take_if(|_| !keep("", name));
            namesakes.cluster_target.take_if(|_| !keep("", name));
            namesakes.targets.retain(|(namespace, _)| keep(namespace, name));
            !namesakes.is_empty()
        });
    }

    /// Keeps what an object says.
    pub(super) fn keep(&mut self, sort: Sort<'_>, name: &str, object: &Node<'_>, notes: &mut Notes) {
        let Some(packed) = Packed::read(sort, object, notes) else { return };
        let namesakes = self.0.entry(name.into()).or_default();
        match sort {
            Sort::Cluster => namesakes.cluster = Some(packed),
            Sort::ClusterTarget => namesakes.cluster_target = Some(packed),
            Sort::Target(namespace) => {
                namesakes.targets.reserve_exact(1);
                namesakes.targets.push((namespace.into(), packed));
            }
        }
    }
}

/// A cluster in two blocks of memory, since there may be thousands with dozens of labels each.
#[derive(Debug)]
struct Packed {
    /// Provider, region, zones, then the labels, name and value in turn, all in one text.
    text: Box<str>,
    /// Where each of them ends.
    ends: Box<[u32]>,
    /// How many of them are zones.
    zones: usize,
}

impl Packed {
    /// Reads an object, of which all fields may be missing.
    fn read(sort: Sort<'_>, object: &Node<'_>, notes: &mut Notes) -> Option<Self> {
        let before = notes.len();
        let metadata = object.get("metadata");
        let labels = metadata.map_or_else(Vec::new, |metadata| metadata.strings("labels", notes));
        let (mut provider, mut region, mut zones) = ("", "", Vec::new());
        if let Sort::Cluster = sort
            && let Some(spec) = object.get("spec").filter(|spec| spec.is_map(notes))
        {
            provider = spec.optional_string("provider", notes).unwrap_or_default();
            region = spec.optional_string("region", notes).unwrap_or_default();
            zones = spec.list("zones", notes).iter().filter_map(|zone| zone.string(notes)).collect();
            // The older field, which Karmada still reads.
            let zone = spec.optional_string("zone", notes).filter(|zone| !zone.is_empty());
            if zones.is_empty() {
                zones.extend(zone);
            }
        }
        if notes.len() > before {
            return None;
        }
        let (mut text, mut ends) = (String::new(), Vec::new());
        let labels = labels.into_iter().flat_map(|(name, value)| [name, value]);
        for part in [provider, region].into_iter().chain(zones.iter().copied()).chain(labels) {
            text.push_str(part);
            // Files are shorter than that.
            ends.push(u32::try_from(text.len()).ok()?);
        }
        Some(Self { text: text.into(), ends: ends.into(), zones: zones.len() })
    }

    fn unpack(&self, name: ClusterName) -> Cluster {
        let mut start = 0;
        let mut parts = self.ends.iter().map(|&end| {
            let part = self.text.get(start..end as usize).unwrap_or_default().to_owned();
            start = end as usize;
            part
        });
        let provider = parts.next().filter(|provider| !provider.is_empty());
        let region = parts.next().filter(|region| !region.is_empty());
        let zones = parts.by_ref().take(self.zones).collect();
        let mut labels = BTreeMap::new();
        while let (Some(name), Some(value)) = (parts.next(), parts.next()) {
            labels.insert(name, value);
        }
        Cluster { name, labels, provider, region, zones }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use proptest::prelude::*;

    use crate::documents;
    use crate::domain::{Cluster, ClusterName};
    use crate::json::Value;
    use crate::state::snapshot::{Draft, Snapshot};

    fn read(text: &str) -> Result<Snapshot, Vec<String>> {
        let mut draft = Draft::default();
        let documents = documents::parse(text.as_bytes()).map_err(|cause| vec![cause.to_string()])?;
        draft.add(Path::new("a"), &documents);
        draft.finish()
    }

    fn find(snapshot: &Snapshot, name: &str, namespace: &str) -> Option<Cluster> {
        ClusterName::new(name).and_then(|name| snapshot.cluster(&name, namespace))
    }

    /// A Cluster with this spec.
    fn cluster(spec: &str) -> String {
        format!(
            "apiVersion: cluster.karmada.io/v1alpha1\nkind: Cluster\nmetadata: {{name: a}}\nspec: {spec}\n"
        )
    }

    /// A document of Admiralty's, with a label that tells it from others.
    fn target(kind: &str, metadata: &str, label: &str) -> String {
        format!(
            "---\napiVersion: multicluster.admiralty.io/v1alpha1\nkind: {kind}\nmetadata: {{name: a, labels: {{own: {label}}}{metadata}}}\n"
        )
    }

    #[test]
    fn a_recorded_cluster_has_labels_provider_region_and_zones() {
        let snapshot = read(include_str!("../../../tests/data/captures/cluster-x.json")).unwrap();
        let labels = [("env", "prod"), ("region", "eu-west"), ("zone", "eu-west-1a")];
        let expected = Cluster {
            name: ClusterName::new("cluster-x").unwrap(),
            labels: labels.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect(),
            provider: Some("aws".to_owned()),
            region: Some("eu-west".to_owned()),
            zones: vec!["eu-west-1a".to_owned()],
        };
        assert_eq!(find(&snapshot, "cluster-x", "shop"), Some(expected.clone()));
        assert_eq!(find(&snapshot, "cluster-x", ""), Some(expected));
        assert_eq!(find(&snapshot, "cluster-z", "shop"), None);
    }

    #[test]
    fn the_older_zone_counts_where_there_are_no_zones() {
        for (spec, zones) in [
            ("{zone: z}", &["z"][..]),
            ("{zone: z, zones: []}", &["z"]),
            ("{zone: z, zones: [b, a]}", &["b", "a"]),
            ("{zone: ''}", &[]),
            ("{}", &[]),
            ("null", &[]),
        ] {
            let found = find(&read(&cluster(spec)).unwrap(), "a", "").unwrap();
            assert_eq!(found.zones, zones, "{spec}");
            assert_eq!((found.provider, found.region), (None, None), "{spec}");
        }
    }

    #[test]
    fn a_cluster_wins_over_a_cluster_target_and_that_over_the_target_of_the_namespace() {
        let own = |text: &str, namespace: &str| {
            let found = find(&read(text).unwrap(), "a", namespace);
            found.map(|cluster| cluster.labels.get("own").cloned().unwrap_or_default())
        };
        let shop = target("Target", ", namespace: shop", "shop");
        let targets = format!("{shop}{}", target("Target", ", namespace: other", "other"));
        assert_eq!(own(&targets, "shop").as_deref(), Some("shop"));
        assert_eq!(own(&targets, "other").as_deref(), Some("other"));
        // Whose it is nobody can say, not even if there is only one.
        assert_eq!(own(&targets, "third"), None);
        assert_eq!(own(&shop, "third"), None);
        assert_eq!(own(&shop, ""), None);
        let with_cluster_target = format!("{targets}{}", target("ClusterTarget", "", "all"));
        let with_cluster = format!("{with_cluster_target}---\n{}", cluster("{}"));
        for namespace in ["shop", "third", ""] {
            assert_eq!(own(&with_cluster_target, namespace).as_deref(), Some("all"), "{namespace}");
            assert_eq!(own(&with_cluster, namespace).as_deref(), Some(""), "{namespace}");
        }
    }

    #[test]
    fn faults_are_told_with_their_fields() {
        let text = "apiVersion: cluster.karmada.io/v1alpha1
kind: Cluster
metadata:
  name: a
  labels:
    a.b/c: 7
    d: null
spec:
  provider: 1
  region: []
  zones: [a, 2]
---
apiVersion: multicluster.admiralty.io/v1alpha1
kind: Target
metadata: {name: a, namespace: b, labels: [x]}
spec: 7
";
        assert_eq!(
            read(text).unwrap_err(),
            [
                "a: document 1, line 6: metadata.labels[\"a.b/c\"]: must be a string, is a number",
                "a: document 1, line 7: metadata.labels.d: must be a string, is null",
                "a: document 1, line 9: spec.provider: must be a string, is a number",
                "a: document 1, line 10: spec.region: must be a string, is a list",
                "a: document 1, line 11: spec.zones[1]: must be a string, is a number",
                "a: document 2, line 15: metadata.labels: must be a map, is a list",
            ]
        );
    }

    proptest! {
        #[test]
        fn what_is_said_is_what_is_known(
            labels in prop::collection::btree_map(".{0,8}", ".{0,8}", 0..30),
            zones in prop::collection::vec(".{0,5}", 1..4),
            (provider, region) in (prop::option::of(".{1,5}"), prop::option::of(".{1,5}")),
        ) {
            let text = |text: &String| Value::string(text.clone());
            let map = labels.iter().map(|(name, value)| (name.clone(), text(value))).collect();
            let mut spec: Vec<(&str, Value<'_>)> = vec![("zones", Value::array(zones.iter().map(text).collect()))];
            spec.extend(provider.iter().map(|provider| ("provider", text(provider))));
            spec.extend(region.iter().map(|region| ("region", text(region))));
            let metadata = [("name", Value::string("a")), ("labels", Value::Object(map))];
            let object = Value::Object([
                ("apiVersion", Value::string("cluster.karmada.io/v1alpha1")),
                ("kind", Value::string("Cluster")),
                ("metadata", Value::Object(metadata.into_iter().collect())),
                ("spec", Value::Object(spec.into_iter().collect())),
            ].into_iter().collect());
            let known = find(&read(&object.to_string()).unwrap(), "a", "").unwrap();
            prop_assert_eq!(known, Cluster { name: ClusterName::new("a").unwrap(), labels, provider, region, zones });
        }
    }
}
