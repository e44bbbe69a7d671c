//! Labels, annotations, finalizers and owners of Admiralty stay as they came, on every door and whatever a
//! rule does.

use serde_json::{Value, json};

use crate::admissions::{Answer, CHAPERONS, Served};

/// Rules whose change can only be seen on the object, each with the place at which it is refused.
const RULES: [(&str, &str, &str); 12] = [
    (
        "strategic-replace",
        r#"patch: {type: Strategic, value: {metadata: {labels: "${ {'$patch': 'replace', 'app': 'x'} }"}}}"#,
        "/metadata/labels/multicluster.admiralty.io~1parent-uid: ",
    ),
    (
        "strategic-delete",
        r#"patch: {type: Strategic, value: {metadata: {annotations: "${ {'$patch': 'delete'} }"}}}"#,
        "/metadata/annotations/multicluster.admiralty.io~1parent-name: ",
    ),
    (
        "strategic-retain",
        "patch: {type: Strategic, value: {metadata: {labels: {$retainKeys: [app], app: x}}}}",
        "/metadata/labels/multicluster.admiralty.io~1parent-uid: ",
    ),
    (
        "merge-null-map",
        r#"patch: {type: Merge, value: {metadata: {labels: "${null}"}}}"#,
        "/metadata/labels/multicluster.admiralty.io~1parent-uid: ",
    ),
    (
        "merge-null-key",
        r#"patch: {type: Merge, value: {metadata: {annotations: "${ {'multicluster.admiralty.io/parent-name': null} }"}}}"#,
        "/metadata/annotations/multicluster.admiralty.io~1parent-name: ",
    ),
    (
        "merge-scalar",
        r#"patch: {type: Merge, value: {metadata: {annotations: "${cluster.name}"}}}"#,
        "/metadata/annotations/multicluster.admiralty.io~1parent-name: ",
    ),
    (
        "json-remove-labels",
        r#"patch: {type: JSON, value: [{op: remove, path: '/metadata/${"labels"}'}]}"#,
        "/metadata/labels/multicluster.admiralty.io~1parent-uid: ",
    ),
    (
        "json-replace-annotations",
        r#"patch: {type: JSON, value: [{op: replace, path: '/metadata/${"annotations"}', value: {case: x}}]}"#,
        "/metadata/annotations/multicluster.admiralty.io~1parent-name: ",
    ),
    (
        "json-replace-metadata",
        r#"patch: {type: JSON, value: [{op: replace, path: '/${"metadata"}', value: "${ {'name': 'train', 'namespace': 'lab', 'labels': {'app': 'a'}} }"}]}"#,
        "/metadata/labels/multicluster.admiralty.io~1parent-uid: ",
    ),
    (
        "json-remove-metadata",
        r#"patch: {type: JSON, value: [{op: remove, path: '/${"metadata"}'}]}"#,
        "/metadata/name: ",
    ),
    (
        "json-remove-finalizers",
        "onError: Skip, patch: {type: JSON, value: [{op: remove, path: /metadata/finalizers}]}",
        "/metadata/finalizers: an item of \"multicluster.admiralty.io/f\" ",
    ),
    (
        "merge-owners",
        "patch: {type: Merge, value: {metadata: {ownerReferences: []}}}",
        "/metadata/ownerReferences: an item of \"multicluster.admiralty.io/v1alpha1\" ",
    ),
];

/// One policy with all rules, each for the objects that name it, and a transformation that takes labels away.
fn policies() -> String {
    let rules: Vec<String> = RULES
        .iter()
        .map(|(name, rule, _)| {
            format!(
                "  - {{name: {name}, when: 'has(object.metadata) && has(object.metadata.uid) && object.metadata.uid == \"{name}\"', {rule}}}\n"
            )
        })
        .collect();
    let rules = rules.concat();
    format!(
        "apiVersion: reviser.io/v1alpha1
kind: ClusterRevisionPolicy
metadata: {{name: p}}
spec:
  resourceSelectors:
  - {{apiVersion: multicluster.admiralty.io/v1alpha1, kind: PodChaperon}}
  - {{apiVersion: apps/v1, kind: Deployment}}
  rules:
{rules}---
kind: TargetPodTransformation
metadata: {{name: retain}}
transformations:
- targetSelector: {{}}
  patch: {{metadata: {{labels: {{$retainKeys: [app], app: x}}}}}}
"
    )
}

/// The metadata of an object that the rule `case` is for.
fn metadata(case: &str, annotations: &Value) -> Value {
    let mut metadata = json!({
        "uid": case,
        "name": "train",
        "namespace": "lab",
        "labels": {"app": "a", "multicluster.admiralty.io/parent-uid": "1"},
        "annotations": {"multicluster.admiralty.io/parent-name": "train"},
        "finalizers": ["example.com/g", "multicluster.admiralty.io/f"],
        "ownerReferences": [{"apiVersion": "multicluster.admiralty.io/v1alpha1", "kind": "PodChaperon", "name": "c", "uid": "2"}],
    });
    for (key, value) in annotations.as_object().unwrap() {
        metadata["annotations"][key] = value.clone();
    }
    metadata
}

/// What each door answers for such an object: the patch, or the message of the refusal.
fn answers(served: &Served, case: &str, annotations: &Value) -> Vec<(&'static str, Result<String, String>)> {
    let pod = json!({"schedulerName": "admiralty-candidate", "containers": [{"name": "c", "image": "i"}]});
    let chaperon = json!({"apiVersion": "multicluster.admiralty.io/v1alpha1", "kind": "PodChaperon",
        "metadata": metadata(case, annotations), "spec": pod});
    let deployment = json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": metadata(case, annotations),
        "spec": {"replicas": 1, "template": {"spec": pod}}});
    let work = json!({"apiVersion": "work.karmada.io/v1alpha1", "kind": "Work",
        "metadata": {"name": "train-1", "namespace": "karmada-es-eu", "annotations": {
            "resourcebinding.karmada.io/name": "train-deployment",
            "resourcebinding.karmada.io/namespace": "lab",
        }},
        "spec": {"workload": {"manifests": [deployment]}}});
    let review = json!({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": {
        "uid": "u",
        "kind": {"group": "work.karmada.io", "version": "v1alpha1", "kind": "Work"},
        "resource": {"group": "work.karmada.io", "version": "v1alpha1", "resource": "works"},
        "namespace": "karmada-es-eu", "name": "train-1", "operation": "CREATE", "object": work}});
    let question = json!({"apiVersion": "config.karmada.io/v1alpha1", "kind": "ResourceInterpreterContext", "request": {
        "uid": "u",
        "kind": {"group": "multicluster.admiralty.io", "version": "v1alpha1", "kind": "PodChaperon"},
        "namespace": "lab", "name": "train", "operation": "ReviseObject", "object": chaperon, "clusterName": "eu"}});
    let said = |response: &Value, allowed: &str| {
        if response[allowed] == true {
            return Ok(crate::admissions::decoded(&response["patch"]));
        }
        Err(response["status"]["message"].as_str().unwrap().to_owned())
    };
    let Answer(admitted, _) = served.admit("/mutate/podchaperons/eu", CHAPERONS, "CREATE", &chaperon);
    vec![
        ("podchaperons", admitted.map_err(|(_, message)| message)),
        ("works", said(&served.send("/mutate/works", &review)["response"], "allowed")),
        ("interpret", said(&served.send("/interpret", &question)["response"], "successful")),
    ]
}

#[test]
fn no_rule_changes_them_on_any_door() {
    let served = Served::start(&policies());
    for (case, _, place) in RULES {
        for (door, answer) in answers(&served, case, &json!({})) {
            let refusal = answer.expect_err(&format!("{door} {case}"));
            let rule = format!("ClusterRevisionPolicy/p rule \"{case}\" cluster \"eu\": {place}");
            // The Work door places it in the Work.
            let inside = refusal.replace(": /spec/workload/manifests/0", ": ");
            assert!(inside.contains(&rule), "{door} {case}: {refusal}");
        }
    }
    for (door, answer) in answers(&served, "none", &json!({})) {
        assert!(matches!(answer.as_deref(), Ok("" | "[]")), "{door}: {answer:?}");
    }
}

#[test]
fn no_transformation_changes_them_on_any_door_and_the_refusal_names_it() {
    let served = Served::start(&policies());
    let annotations = json!({"reviser.io/targetpodtransformation": "retain"});
    for (door, answer) in answers(&served, "none", &annotations) {
        let refusal = answer.expect_err(door);
        let expected = "TargetPodTransformation/retain cluster \"eu\": ";
        assert!(
            refusal.contains(expected)
                && refusal.contains("/metadata/labels/multicluster.admiralty.io~1parent-"),
            "{door}: {refusal}"
        );
    }
}
