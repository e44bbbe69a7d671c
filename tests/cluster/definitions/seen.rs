//! The output of `kubectl` for custom resources, and defaults of stored documents.

use serde_json::{Value, json};

use super::Defined;
use super::places::read;
use crate::support::client::MERGE;
use crate::support::kubectl::kubectl;

const POLICY: &str = "apiVersion: reviser.io/v1alpha1
kind: RevisionPolicy
metadata: {name: seen, namespace: seen}
spec:
  resourceSelectors: [{apiVersion: apps/v1, kind: Deployment}]
  rules:
  - {name: a, patch: {type: Merge, value: {spec: {paused: null}}}}
  - {name: b, patch: {type: Merge, value: 'spec: {paused: null}'}}
";

fn value(stored: &Value, rule: usize) -> &Value {
    &stored["spec"]["rules"][rule]["patch"]["value"]
}

#[test]
fn the_columns_are_priority_acceptance_and_works() {
    let Some(defined) = Defined::shared() else { return };
    let policy = &read(&POLICY.replace("seen", "columns"))[0];
    defined.make_namespace_of(policy);
    let collection = defined.collection("RevisionPolicy", Some("columns"));
    let made = defined.admin.create(&collection, policy).ok();
    let status = json!({"status": {
        "observedGeneration": made["metadata"]["generation"],
        "conditions": [{"type": "Accepted", "status": "False", "reason": "Invalid", "message": "spec: is wrong",
            "lastTransitionTime": "2026-01-01T00:00:00Z"}],
        "works": {"total": 7, "current": 5},
    }});
    let stored = defined.admin.patch(&format!("{collection}/columns/status"), MERGE, &status).ok();
    assert_eq!(stored["metadata"]["generation"], made["metadata"]["generation"]);
    let get = ["get", "revp", "-n", "columns", "-o", "wide", "--no-headers"];
    let Some(ran) = kubectl(defined.plane, "admin", &get, "") else { return };
    assert!(ran.ok, "{}", ran.stderr);
    let columns: Vec<&str> = ran.stdout.split_whitespace().collect();
    assert_eq!(columns[..7], ["columns", "0", "False", "7", "5", "spec:", "is"], "{}", ran.stdout);
    // The category lists all kinds.
    let Some(ran) = kubectl(defined.plane, "admin", &["get", "reviser", "-n", "columns", "-o", "name"], "")
    else {
        return;
    };
    assert!(ran.stdout.contains("revisionpolicy.reviser.io/columns\n"), "{}", ran.stdout);
}

#[test]
fn every_field_is_explained() {
    let Some(defined) = Defined::shared() else { return };
    for (field, text) in [
        ("crevp", "Rules that give workloads of any namespace another form in each cluster."),
        ("revp.spec.rules", "What is done: all rules that match, in this order."),
        ("crevp.spec.rules.patch.missingPath", "For the type `JSON`:"),
        ("crevp.spec.rules.fort.elsewhere.value", "The value of the field in the other clusters."),
        ("rint.spec.replicaResource", "Where replicas and pod template are read."),
        ("tpt.transformations.targetSelector.matchLabels", "Labels that have to be there"),
        ("ctpt.transformations", "A patch and the targets that it is for"),
    ] {
        let Some(ran) = kubectl(defined.plane, "admin", &["explain", field], "") else { return };
        assert!(ran.ok && ran.stdout.contains(text), "{field}: {}{}", ran.stdout, ran.stderr);
    }
}

#[test]
fn a_null_in_a_patch_is_kept_unless_kubectl_applies_it_on_its_own() {
    let Some(defined) = Defined::shared() else { return };
    defined.make_namespace_of(&read(POLICY)[0]);
    for (arguments, is_kept) in [
        (&["create", "--dry-run=server"][..], true),
        (&["apply", "--server-side", "--dry-run=server"], true),
        (&["apply", "--dry-run=server"], false),
    ] {
        let arguments = [arguments, &["-f", "-", "-o", "json"]].concat();
        let Some(ran) = kubectl(defined.plane, "admin", &arguments, POLICY) else { return };
        assert!(ran.ok, "{arguments:?}: {}", ran.stderr);
        let stored: Value = serde_json::from_str(&ran.stdout).unwrap();
        let expected = if is_kept { json!({"spec": {"paused": null}}) } else { json!({"spec": {}}) };
        assert_eq!(*value(&stored, 0), expected, "{arguments:?}");
        // In a text it always is.
        assert_eq!(*value(&stored, 1), "spec: {paused: null}", "{arguments:?}");
    }
}

#[test]
fn rules_stand_in_the_order_in_which_they_are_applied_last() {
    let Some(defined) = Defined::shared() else { return };
    let names = |order: [&str; 3]| {
        let rules =
            order.map(|name| format!("  - {{name: {name}, divide: {{path: /spec/{name}}}}}\n")).concat();
        let head = POLICY.split_once("  - ").unwrap().0.replace("seen", "order");
        format!("{head}{rules}")
    };
    defined.make_namespace_of(&read(&names(["a", "b", "c"]))[0]);
    for order in [["a", "b", "c"], ["c", "a", "b"]] {
        let apply = ["apply", "--server-side", "-f", "-", "-o", "jsonpath={.spec.rules[*].name}"];
        let Some(ran) = kubectl(defined.plane, "admin", &apply, &names(order)) else { return };
        assert_eq!(ran.stdout, order.join(" "), "{}", ran.stderr);
    }
}
