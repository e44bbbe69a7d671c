//! `Cluster`, `Target` and `ClusterTarget`.
//!
//! Source: karmada-io/karmada@f8fdd02 `pkg/apis/cluster/v1alpha1/types.go`; admiraltyio/admiralty@0dd7771
//! `pkg/apis/multicluster/v1alpha1/types.go`.

use std::collections::{BTreeMap, HashMap};

use super::{Node, Notes};
use crate::domain::{Cluster, ClusterKind, ClusterName};

/// The precedence of clusters with the same name, highest first.
const PRECEDENCE: [ClusterKind; 3] = [ClusterKind::Cluster, ClusterKind::ClusterTarget, ClusterKind::Target];

/// Clusters and targets by name.
#[derive(Debug, Default)]
pub(in crate::state) struct Clusters(HashMap<ClusterName, Vec<Entry>>);

#[derive(Debug)]
struct Entry {
    kind: ClusterKind,
    /// Empty for kinds that are not namespaced.
    namespace: String,
    cluster: Cluster,
}

impl Clusters {
    /// The cluster `name` for a workload in `namespace`: the `Cluster`, else the `ClusterTarget`, else the
    /// `Target` in that namespace. `Target`s of other namespaces are not used, because a `Target` is only for
    /// pods of its own namespace.
    pub(in crate::state) fn find(&self, name: &ClusterName, namespace: &str) -> Option<Cluster> {
        self.entries(name, namespace).next().map(|entry| entry.cluster.clone())
    }

    /// All clusters and targets with this name for a workload in `namespace`.
    pub(in crate::state) fn namesakes(
        &self,
        name: &ClusterName,
        namespace: &str,
    ) -> Vec<(ClusterKind, Cluster)> {
        self.entries(name, namespace).map(|entry| (entry.kind, entry.cluster.clone())).collect()
    }

    fn entries(&self, name: &ClusterName, namespace: &str) -> impl Iterator<Item = &Entry> {
        let all = self.0.get(name).map_or(&[][..], Vec::as_slice);
        PRECEDENCE.into_iter().filter_map(move |kind| {
            let in_namespace = |entry: &&Entry| kind != ClusterKind::Target || entry.namespace == namespace;
            all.iter().filter(|entry| entry.kind == kind).find(in_namespace)
        })
    }

    pub(in crate::state) fn names(&self) -> impl Iterator<Item = ClusterName> {
        self.0.keys().cloned()
    }

    pub(in crate::state) fn insert(&mut self, kind: ClusterKind, namespace: &str, cluster: Cluster) {
        self.remove(kind, namespace, &cluster.name);
        let entries = self.0.entry(cluster.name.clone()).or_default();
        entries.push(Entry { kind, namespace: namespace.to_owned(), cluster });
    }

    pub(in crate::state) fn remove(&mut self, kind: ClusterKind, namespace: &str, name: &ClusterName) {
        if let Some(entries) = self.0.get_mut(name) {
            entries.retain(|entry| entry.kind != kind || entry.namespace != namespace);
            if entries.is_empty() {
                self.0.remove(name);
            }
        }
    }
}

/// Reads a cluster or target. All fields are optional.
pub(super) fn read(
    kind: ClusterKind,
    name: ClusterName,
    object: &Node<'_>,
    notes: &mut Notes,
) -> Option<Cluster> {
    let before = notes.len();
    let metadata = object.get("metadata");
    let labels = metadata.map_or_else(Vec::new, |metadata| metadata.strings("labels", notes));
    let owned = |(name, value): (&str, &str)| (name.to_owned(), value.to_owned());
    let labels: BTreeMap<String, String> = labels.into_iter().map(owned).collect();
    let mut cluster = Cluster { name, labels, provider: None, region: None, zones: Vec::new() };
    if kind == ClusterKind::Cluster
        && let Some(spec) = object.get("spec").filter(|spec| spec.is_map(notes))
    {
        let mut text =
            |name| Some(spec.optional_string(name, notes)?.to_owned()).filter(|text| !text.is_empty());
        cluster.provider = text("provider");
        cluster.region = text("region");
        // The deprecated field, which Karmada still reads.
        let zone = text("zone");
        let zones = spec.list("zones", notes);
        cluster.zones = zones.iter().filter_map(|zone| zone.string(notes).map(str::to_owned)).collect();
        if cluster.zones.is_empty() {
            cluster.zones.extend(zone);
        }
    }
    (notes.len() == before).then_some(cluster)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use proptest::prelude::*;

    use crate::documents;
    use crate::domain::{Cluster, ClusterName};
    use crate::json::Value;
    use crate::state::snapshot::{Snapshot, SnapshotBuilder};

    fn read(text: &str) -> Result<Snapshot, Vec<String>> {
        let mut builder = SnapshotBuilder::default();
        let documents = documents::parse(text.as_bytes()).map_err(|cause| vec![cause.to_string()])?;
        builder.add(Path::new("a"), &documents);
        builder.finish()
    }

    fn find(snapshot: &Snapshot, name: &str, namespace: &str) -> Option<Cluster> {
        ClusterName::new(name).and_then(|name| snapshot.cluster(&name, namespace))
    }

    fn cluster(spec: &str) -> String {
        format!(
            "apiVersion: cluster.karmada.io/v1alpha1\nkind: Cluster\nmetadata: {{name: a}}\nspec: {spec}\n"
        )
    }

    /// A document of Admiralty's, with a label that identifies it.
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
        // `Target`s of other namespaces are never used, even if there is only one.
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
