//! Tests of what is read from documents, and that all errors of all documents are reported together.

use std::path::Path;

use super::*;
use crate::documents;
use crate::domain::{GroupVersionKind, Hosts};
use crate::json::{Number, Value};
use crate::yaml;

macro_rules! captures {
    ($($name:literal),*) => {
        [$(($name, include_str!(concat!("../../../tests/data/captures/", $name, ".json")))),*]
    };
}

fn read(files: &[(&str, &str)]) -> Result<Snapshot, Vec<String>> {
    let mut builder = SnapshotBuilder::default();
    for (path, text) in files {
        builder.add(Path::new(path), &parse(text));
    }
    builder.finish()
}

fn parse(text: &str) -> Vec<yaml::Document> {
    documents::parse(text.as_bytes()).unwrap()
}

fn workload(api_version: &str, kind: &str, namespace: &str, name: &str) -> Workload {
    Workload { gvk: GroupVersionKind::of(api_version, kind), namespace: namespace.into(), name: name.into() }
}

fn rollout() -> Workload {
    workload("deploy.example.com/v1alpha1", "Rollout", "shop", "checkout")
}

/// The format is `x=3 z=1`.
fn schedule(binding: &Binding) -> String {
    let entry = |target: &crate::domain::TargetCluster| format!("{}={}", target.name, target.replicas);
    binding.schedule.clusters().iter().map(entry).collect::<Vec<_>>().join(" ")
}

#[track_caller]
fn found<'s>(snapshot: &'s Snapshot, workload: &Workload) -> &'s Binding {
    match snapshot.binding(workload, None) {
        Match::One(binding) => binding,
        other => panic!("{other:?}"),
    }
}

/// A binding of Rollout `checkout` in its namespace, with these members of `spec` in addition to `resource`.
fn binding(namespace: &str, name: &str, spec: &str) -> String {
    format!(
        "apiVersion: work.karmada.io/v1alpha2\nkind: ResourceBinding\nmetadata: {{namespace: {namespace}, name: {name}}}\nspec:\n  \
         resource: {{apiVersion: deploy.example.com/v1alpha1, kind: Rollout, namespace: {namespace}, name: checkout}}\n{spec}"
    )
}

#[test]
fn recorded_objects_are_read() {
    let files = captures!(
        "rb-w31",
        "rb-attached-configmap",
        "rb-attached-secret",
        "rb-deployment",
        "cluster-x",
        "cluster-z",
        "work-stored-cluster-x-w31",
        "work-stored-cluster-z-w31"
    );
    let snapshot = read(&files).unwrap();
    let expected = Counts { bindings: 4, works: 2, clusters: 2, ..Counts::default() };
    assert_eq!(snapshot.counts(), &expected);

    let binding = found(&snapshot, &rollout());
    assert_eq!((binding.namespace.as_str(), binding.name.as_str()), ("shop", "checkout-rollout"));
    assert_eq!(schedule(binding), "cluster-x=3 cluster-z=1");
    assert!(!binding.preserves);
    for (kind, name) in [("ConfigMap", "checkout-config"), ("Secret", "checkout-secret")] {
        assert_eq!(
            schedule(found(&snapshot, &workload("v1", kind, "shop", name))),
            "cluster-x=3 cluster-z=1"
        );
    }
    assert_eq!(
        schedule(found(&snapshot, &workload("apps/v1", "Deployment", "shop", "cart"))),
        "cluster-x=3 cluster-z=1"
    );

    let deliveries = snapshot.deliveries(&rollout());
    assert_eq!(
        deliveries.iter().map(|delivery| delivery.cluster.as_str()).collect::<Vec<_>>(),
        ["cluster-x", "cluster-z"]
    );
    assert!(deliveries.iter().all(|delivery| {
        delivery.hosts == Hosts::Unrecorded && delivery.deleting_since.is_none() && !delivery.preserves
    }));
    assert_eq!(snapshot.deliveries(&workload("apps/v1", "Deployment", "shop", "cart")), []);
}

#[test]
fn recorded_bindings_have_the_clusters_that_they_list() {
    let expected = ["cluster-x=0 cluster-z=0", "cluster-z=4", "cluster-x=2 cluster-z=2"];
    let files = captures!("rb-r0", "rb-seq-5-remove-cluster-x", "rb-at-work-finalizer-cluster-x");
    for (file, expected) in files.into_iter().zip(expected) {
        assert_eq!(schedule(found(&read(&[file]).unwrap(), &rollout())), expected, "{}", file.0);
    }
}

#[test]
fn a_binding_is_found_whatever_version_is_asked_for_and_nothing_else_is() {
    let snapshot = read(&captures!("rb-w31")).unwrap();
    assert_eq!(
        found(&snapshot, &workload("deploy.example.com/v2", "Rollout", "shop", "checkout")).name,
        "checkout-rollout"
    );
    for other in [
        workload("v1alpha1", "Rollout", "shop", "checkout"),
        workload("deploy.example.com/v1alpha1", "Rollouts", "shop", "checkout"),
        workload("deploy.example.com/v1alpha1", "Rollout", "", "checkout"),
        workload("deploy.example.com/v1alpha1", "Rollout", "shop", "checkout-rollout"),
    ] {
        assert_eq!(snapshot.binding(&other, None), Match::Nothing, "{other:?}");
    }
}

#[test]
fn clusters_of_owners_follow_those_of_the_binding_and_the_first_counts() {
    let spec = "  clusters: [{name: b, replicas: 2}, {name: a}]
  preserveResourcesOnDeletion: true
  requiredBy:
  - {namespace: shop, name: one, clusters: [{name: c, replicas: 1}, {name: a, replicas: 9}]}
  - {namespace: shop, name: two}
  - {namespace: shop, name: three, clusters: [{name: c, replicas: 7}, {name: d}]}
";
    let snapshot = read(&[("a", &binding("shop", "b", spec))]).unwrap();
    let binding = found(&snapshot, &rollout());
    assert_eq!(schedule(binding), "b=2 a=0 c=1 d=0");
    assert!(binding.preserves);
}

#[test]
fn a_binding_without_clusters_is_scheduled_nowhere() {
    for spec in ["", "  clusters: []\n", "  clusters: null\n  requiredBy: null\n"] {
        let snapshot = read(&[("a", &binding("shop", "b", spec))]).unwrap();
        assert_eq!(schedule(found(&snapshot, &rollout())), "");
    }
}

#[test]
fn of_two_bindings_the_one_that_is_named_counts() {
    let (one, other) = (binding("shop", "one", "  clusters: [{name: x}]\n"), binding("shop", "other", ""));
    let snapshot = read(&[("a", &one), ("b", &other)]).unwrap();
    let named = |name: &str| BindingName { namespace: Some("shop".to_owned()), name: name.to_owned() };
    for name in ["one", "other"] {
        let Match::One(binding) = snapshot.binding(&rollout(), Some(&named(name))) else { panic!() };
        assert_eq!(binding.name, name);
    }
    for named in [None, Some(&named("third")), Some(&BindingName { namespace: None, name: "one".into() })] {
        let Match::Several(several) = snapshot.binding(&rollout(), named) else { panic!() };
        assert_eq!(several.iter().map(|it| it.name.as_str()).collect::<Vec<_>>(), ["one", "other"]);
    }
    // A single binding is found even if it has another name.
    let snapshot = read(&[("a", &one)]).unwrap();
    assert!(matches!(snapshot.binding(&rollout(), Some(&named("third"))), Match::One(_)));
}

#[test]
fn cluster_scoped_bindings_and_workloads_have_no_namespace() {
    let text = "apiVersion: work.karmada.io/v1alpha2
kind: ClusterResourceBinding
metadata: {name: admin-clusterrole}
spec:
  clusters: [{name: x}]
  resource: {apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, name: admin}
";
    let snapshot = read(&[("a", text)]).unwrap();
    let workload = workload("rbac.authorization.k8s.io/v1", "ClusterRole", "", "admin");
    assert_eq!(found(&snapshot, &workload).namespace, "");
}

#[test]
fn lists_are_their_items() {
    let item = |name: &str, kind: &str| {
        format!(
            r#"{{{kind}"metadata":{{"namespace":"n","name":"{name}"}},"spec":{{"resource":{{"apiVersion":"v1","kind":"Pod","namespace":"n","name":"{name}"}}}}}}"#
        )
    };
    let kind = r#""apiVersion":"work.karmada.io/v1alpha2","kind":"ResourceBinding","#;
    let typed = format!(
        r#"{{"apiVersion":"work.karmada.io/v1alpha2","kind":"ResourceBindingList","items":[{},{}]}}"#,
        item("a", ""),
        item("b", kind)
    );
    let plain = format!(
        r#"{{"apiVersion":"v1","kind":"List","items":[{},{{"apiVersion":"v1","kind":"List","items":[{}]}}]}}"#,
        item("c", kind),
        item("d", kind)
    );
    let empty = r#"{"apiVersion":"work.karmada.io/v1alpha1","kind":"WorkList","items":null}"#;
    let snapshot = read(&[("a", &typed), ("b", &plain), ("c", empty)]).unwrap();
    assert_eq!(snapshot.counts(), &Counts { bindings: 4, ..Counts::default() });
    for name in ["a", "b", "c", "d"] {
        assert_eq!(found(&snapshot, &workload("v1", "Pod", "n", name)).name, name);
    }
    let bare = format!(r#"{{"apiVersion":"v1","kind":"List","items":[{}]}}"#, item("a", ""));
    assert_eq!(
        read(&[("a", &bare)]).unwrap_err(),
        [
            "a: document 1, line 1: items[0].apiVersion: is required",
            "a: document 1, line 1: items[0].kind: is required"
        ]
    );
}

#[test]
fn lists_in_lists_as_deep_as_documents_go_are_read() {
    let levels = 240;
    let open = r#"{"apiVersion":"v1","kind":"List","items":["#;
    let text = format!("{}{}", open.repeat(levels), "]}".repeat(levels));
    assert_eq!(read(&[("a", &text)]).unwrap().counts(), &Counts::default());
}

#[test]
fn other_kinds_are_counted_and_nothing_is_read_of_them() {
    let text = "apiVersion: v1\nkind: ConfigMap\nmetadata: 7\n---\napiVersion: apps/v1\nkind: Deployment\n---
apiVersion: v1\nkind: ConfigMap\n---\napiVersion: cluster.x-k8s.io/v1beta1\nkind: Cluster\n---
apiVersion: example.com/v1\nkind: AllowList\nspec: {}\n---
apiVersion: multicluster.admiralty.io/v1alpha1\nkind: Target\nmetadata: {namespace: ns, name: t}\n---
apiVersion: multicluster.admiralty.io/v1alpha1\nkind: ClusterTarget\nmetadata: {name: t}\n";
    let snapshot = read(&[("a", text)]).unwrap();
    let others = [
        ("AllowList.example.com", 1),
        ("Cluster.cluster.x-k8s.io", 1),
        ("ConfigMap", 2),
        ("Deployment.apps", 1),
    ];
    let others = others.into_iter().map(|(kind, count)| (kind.to_owned(), count)).collect();
    assert_eq!(snapshot.counts(), &Counts { targets: 2, others, ..Counts::default() });
}

#[test]
fn every_fault_of_every_document_is_told_at_once() {
    let broken = "apiVersion: work.karmada.io/v1alpha2
kind: ResourceBinding
metadata: {name: 7}
spec:
  resource: {apiVersion: v1, kind: ''}
  clusters:
  - {name: a, replicas: -1}
  - {replicas: 1.5}
  - {name: b, replicas: '2'}
  - c
  - {name: d}
  - {name: d, replicas: 1}
  requiredBy:
  - [x]
  - {clusters: [{name: ''}]}
  preserveResourcesOnDeletion: 'no'
";
    let others = "kind: ResourceBinding\n---\napiVersion: work.karmada.io/v1alpha1\nkind: ResourceBinding\n---
apiVersion: work.karmada.io/v1alpha2\nkind: ClusterResourceBinding\nmetadata: {name: a}\nspec: {clusters: {}, requiredBy: 1}\n---
apiVersion: cluster.karmada.io/v1alpha1\nkind: Cluster\nmetadata: []\n---
apiVersion: work.karmada.io/v1alpha1\nkind: Work\nmetadata: {namespace: karmada-es-x, name: w}\nspec: {workload: {manifests: [{}, 1]}}\n---
[]\n";
    let faults = read(&[("b.yaml", others), ("a.yaml", broken), ("c.yaml", "# nothing\n")]).unwrap_err();
    let at = |line: u32, rest: &str| format!("a.yaml: document 1, line {line}: {rest}");
    assert_eq!(
        faults,
        [
            at(3, "metadata.name: must be a string, is a number"),
            at(3, "metadata.namespace: is required"),
            at(5, "spec.resource.kind: must not be empty"),
            at(5, "spec.resource.namespace: is required"),
            at(5, "spec.resource.name: is required"),
            at(7, "spec.clusters[0].replicas: must be an integer that is not negative, is -1"),
            at(8, "spec.clusters[1].name: is required"),
            at(8, "spec.clusters[1].replicas: must be an integer that is not negative, is 1.5"),
            at(9, "spec.clusters[2].replicas: must be an integer, is a string"),
            at(10, "spec.clusters[3]: must be a map, is a string"),
            at(12, "spec.clusters[5]: cluster \"d\" is already there, in item 4"),
            at(14, "spec.requiredBy[0]: must be a map, is a list"),
            at(15, "spec.requiredBy[1].clusters[0].name: must not be empty"),
            at(16, "spec.preserveResourcesOnDeletion: must be true or false, is a string"),
            "b.yaml: document 1, line 1: apiVersion: is required".to_owned(),
            "b.yaml: document 2, line 3: apiVersion: must be work.karmada.io/v1alpha2, is work.karmada.io/v1alpha1".to_owned(),
            "b.yaml: document 3, line 9: spec.resource: is required".to_owned(),
            "b.yaml: document 3, line 9: spec.clusters: must be a list, is a map".to_owned(),
            "b.yaml: document 3, line 9: spec.requiredBy: must be a list, is a number".to_owned(),
            "b.yaml: document 4, line 13: metadata: must be a map, is a list".to_owned(),
            "b.yaml: document 5, line 18: spec.workload.manifests[1]: must be a map, is a number".to_owned(),
            "b.yaml: document 6, line 20: must be a map, is a list".to_owned(),
            "c.yaml: there is no document in it; to say that there is nothing, write a List without items".to_owned(),
        ]
    );
}

#[test]
fn a_binding_is_in_the_namespace_of_its_object() {
    let text =
        binding("shop", "b", "").replace("namespace: shop, name: checkout", "namespace: sh, name: checkout");
    let fault = r#"a: document 1, line 5: spec.resource.namespace: must be "shop", the namespace of the binding, is "sh""#;
    assert_eq!(read(&[("a", &text)]).unwrap_err(), [fault]);
}

#[test]
fn an_object_that_is_there_twice_is_told_with_both_places() {
    let cluster = |name: &str| {
        format!("apiVersion: cluster.karmada.io/v1alpha1\nkind: Cluster\nmetadata:\n  name: {name}\n")
    };
    let (one, two) = (binding("shop", "b", ""), binding("shop", "b", "  clusters: []\n"));
    // On one line, so that both objects have the same position.
    let line = r#"{"apiVersion":"v1","kind":"List","items":[
        {"apiVersion":"cluster.karmada.io/v1alpha1","kind":"Cluster","metadata":{"name":"y"}},{"apiVersion":"cluster.karmada.io/v1alpha1","kind":"Cluster","metadata":{"name":"y"}}]}"#;
    let clusters = format!("{}---\n{}---\n{}", cluster("x"), cluster("z"), cluster("x"));
    // The same name in another namespace, or with another kind, is a different object.
    let other = binding("other", "b", "");
    let faults = read(&[("a", &one), ("b", &two), ("c", &clusters), ("d", &other), ("e", line)]).unwrap_err();
    assert_eq!(
        faults,
        [
            "b: document 1, line 3: metadata.name: ResourceBinding shop/b is already there: a: document 1, line 3",
            "c: document 3, line 14: metadata.name: Cluster x is already there: c: document 1, line 4",
            "e: document 1, line 2: items[1].metadata.name: Cluster y is already there: e: document 1, line 2",
        ]
    );
}

/// The captured Work of a cluster, with another name and additional members of metadata and spec.
fn work(capture: &str, name: &str, metadata: &str, preserves: bool) -> String {
    let add = format!("\"metadata\": {{{metadata}");
    capture
        .replacen("\"metadata\": {", &add, 1)
        .replacen("\"name\": \"checkout-7c5c86b58d\"", &format!("\"name\": \"{name}\""), 1)
        .replacen(
            "\"preserveResourcesOnDeletion\": false",
            &format!("\"preserveResourcesOnDeletion\": {preserves}"),
            1,
        )
}

#[test]
fn two_works_of_a_cluster_count_as_one_that_goes_when_both_are_gone() {
    let [(_, capture)] = captures!("work-stored-cluster-x-w31");
    let deleting = |at: &str| format!("\"deletionTimestamp\": \"{at}\",");
    let (early, late) = ("2026-11-30T03:00:00Z", "2026-11-30T04:00:00Z");
    let joined = |works: &[String]| {
        let names = ["a", "b", "c"];
        let files: Vec<(&str, &str)> =
            names.into_iter().zip(works).map(|(name, work)| (name, work.as_str())).collect();
        let snapshot = read(&files).unwrap();
        let [delivery] = snapshot.deliveries(&rollout()) else { panic!() };
        delivery.clone()
    };
    let gone =
        joined(&[work(capture, "one", &deleting(early), false), work(capture, "two", &deleting(late), true)]);
    assert_eq!(gone.deleting_since, Some(late.parse().unwrap()));
    assert!(gone.preserves);
    let stays = joined(&[work(capture, "one", &deleting(early), false), work(capture, "two", "", false)]);
    assert_eq!((stays.deleting_since, stays.preserves), (None, false));
}

#[test]
fn works_that_are_for_no_cluster_are_passed_over() {
    let [(_, capture)] = captures!("work-stored-cluster-x-w31");
    for namespace in ["default", "karmada-es-", "karmada-es"] {
        let elsewhere = capture.replace("\"karmada-es-cluster-x\"", &format!("\"{namespace}\""));
        assert_ne!(elsewhere, capture);
        let snapshot = read(&[("a", &elsewhere)]).unwrap();
        assert_eq!((snapshot.deliveries(&rollout()), snapshot.counts().works), (&[][..], 0), "{namespace}");
    }
}

#[test]
fn five_thousand_clusters_are_five_thousand_clusters() {
    let name = |n: usize| format!("member-{n:04}");
    let clusters: Vec<Value<'static>> = (0..5_000)
        .map(|n| {
            let replicas = Number::from(i64::try_from(n).unwrap());
            Value::Object(
                [("name", Value::from(name(n))), ("replicas", Value::Number(replicas))].into_iter().collect(),
            )
        })
        .collect();
    let spec = format!("  clusters: {}\n", Value::array(clusters));
    let snapshot = read(&[("a", &binding("shop", "b", &spec))]).unwrap();
    let binding = found(&snapshot, &rollout());
    assert_eq!(binding.schedule.clusters().len(), 5_000);
    assert_eq!(binding.schedule.clusters()[4_999].name.as_str(), "member-4999");
    assert_eq!(binding.schedule.clusters()[4_999].replicas, 4_999);
}

#[test]
fn a_list_without_a_list_and_a_time_that_is_none_are_faults() {
    let faults = |text: &str| read(&[("f.yaml", text)]).unwrap_err().join("\n");
    let list = faults("{apiVersion: v1, kind: List, items: 5}");
    assert!(list.contains("items: must be a list, is a number"), "{list}");
    let work = "apiVersion: work.karmada.io/v1alpha1\nkind: Work\nmetadata: {name: w, namespace: karmada-es-x, deletionTimestamp: yesterday}\nspec: {}\n";
    let work = faults(work);
    assert!(work.contains("line 3: metadata.deletionTimestamp: must be a time such as"), "{work}");
}
