//! The configuration for Karmada's Works: the one that is shipped, and those that `reviser manifests` prints.
//!
//! What the conditions let through was put to the API server's own matcher (`k8s.io/apiserver` v0.36.2), and
//! the whole to its validation. Here they are held to the text that was found right there.

use std::collections::BTreeMap;

use reviser::domain::{
    BINDING_NAME_ANNOTATION, CLUSTER_BINDING_NAME_ANNOTATION, REVISED_ANNOTATION, REVISION_ANNOTATION,
    SUPPRESSED_LABEL,
};
use reviser::doors::Works;
use serde_json::{Value, json};

use crate::support::command::{Ran, reviser};
use crate::support::kustomize::{assert_kubectl_renders_the_same, document, file, render};

const SHIPPED: &str = "manifests/karmada/works";
const SHIPPED_FILE: &str = "manifests/karmada/works/mutating-webhook-configuration.yaml";

/// `reviser manifests` for Karmada's Works.
fn command(arguments: &[&str]) -> Ran {
    reviser(
        &[&["manifests", "--for", "karmada-works", "--url", "https://reviser.reviser-system.svc"], arguments]
            .concat(),
    )
}

/// The same for these policies.
fn with_policies(text: &str) -> Ran {
    let directory = tempfile::tempdir().unwrap();
    let policy = directory.path().join("policy.yaml");
    std::fs::write(&policy, text).unwrap();
    command(&["-p", policy.to_str().unwrap()])
}

/// The conditions of a configuration, by name.
fn conditions(configuration: &Value) -> BTreeMap<&str, &str> {
    let conditions = configuration["webhooks"][0]["matchConditions"].as_array().unwrap();
    conditions
        .iter()
        .map(|one| (one["name"].as_str().unwrap(), one["expression"].as_str().unwrap()))
        .collect()
}

#[test]
fn the_shipped_configuration_is_what_the_command_prints() {
    let printed = command(&[]);
    assert_eq!(printed.code, Some(0), "{}", printed.stderr);
    assert_eq!(document(&printed.stdout), file(SHIPPED_FILE));
    assert_eq!(render(SHIPPED), file(SHIPPED_FILE));
    let notes = "no --policy: using the built-in example\n\
                 no --ca-file: no caBundle, so that Karmada trusts the authorities of its system\n";
    assert_eq!(printed.stderr, notes);
}

#[test]
fn kubectl_renders_the_same() {
    assert_kubectl_renders_the_same(SHIPPED);
}

#[test]
fn it_asks_for_writes_of_works_and_fails_closed() {
    let mut shipped = file(SHIPPED_FILE);
    let name = shipped["metadata"]["name"].as_str().unwrap();
    assert!(name < "mutating-config", "Karmada's own has to come later");
    let url: http::Uri = shipped["webhooks"][0]["clientConfig"]["url"].as_str().unwrap().parse().unwrap();
    assert_eq!(url.path(), Works::PATH);
    let webhook = shipped["webhooks"][0].as_object_mut().unwrap();
    assert!(webhook.remove("matchConditions").is_some() && webhook.remove("clientConfig").is_some());
    let expected = json!({
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "MutatingWebhookConfiguration",
        "metadata": {"name": "karmada-reviser"},
        "webhooks": [{
            "name": "works.reviser.io",
            "rules": [{
                "operations": ["CREATE", "UPDATE"],
                "apiGroups": ["work.karmada.io"],
                "apiVersions": ["v1alpha1"],
                "resources": ["works"],
                "scope": "Namespaced",
            }],
            "matchPolicy": "Equivalent",
            "failurePolicy": "Fail",
            "sideEffects": "NoneOnDryRun",
            "reinvocationPolicy": "Never",
            "admissionReviewVersions": ["v1"],
            "timeoutSeconds": 10,
        }],
    });
    assert_eq!(shipped, expected);
}

#[test]
fn the_conditions_name_the_keys_that_the_door_goes_by() {
    let shipped = file(SHIPPED_FILE);
    let conditions = conditions(&shipped);
    assert_eq!(conditions.len(), 3);
    assert!(conditions["not-being-deleted"].contains("deletionTimestamp"));
    for (name, key, place) in [
        ("is-dispatched", BINDING_NAME_ANNOTATION, "object.metadata.annotations"),
        ("is-dispatched", CLUSTER_BINDING_NAME_ANNOTATION, "object.metadata.annotations"),
        ("is-dispatched", REVISION_ANNOTATION, "object.metadata.annotations"),
        ("is-dispatched", SUPPRESSED_LABEL.0, "object.metadata.labels"),
        ("selected-or-revised", REVISION_ANNOTATION, "object.metadata.annotations"),
        ("selected-or-revised", REVISED_ANNOTATION, "m.metadata.annotations"),
    ] {
        assert!(conditions[name].contains(&format!("'{key}' in {place}")), "{key}: {}", conditions[name]);
    }
}

const POLICIES: &str = "apiVersion: reviser.io/v1alpha1
kind: ResourceInterpretation
metadata: {name: job}
spec: {target: {apiVersion: batch/v1, kind: Job}, replicaResource: {replicas: /spec/parallelism}}
---
apiVersion: reviser.io/v1alpha1
kind: ClusterRevisionPolicy
metadata: {name: fort}
spec:
  resourceSelectors:
  - {apiVersion: deploy.example.com/v1, kind: Rollout, namespace: shop}
  - {apiVersion: apps/v1, kind: StatefulSet, labelSelector: {matchLabels: {a: b}}}
  - {apiVersion: apps/v1, kind: Deployment, name: web}
  allocations: [{name: fort}]
  rules: [{name: r, fort: {allocation: fort, steps: /spec/steps, match: {type: Fort}, field: /pull}}]
---
apiVersion: reviser.io/v1alpha1
kind: RevisionPolicy
metadata: {name: fort, namespace: team}
spec:
  resourceSelectors: [{apiVersion: deploy.example.com/v1, kind: Rollout}]
  allocations: [{name: lead}]
  rules: [{name: r, fort: {allocation: lead, steps: /spec/steps, match: {type: Fort}, field: /pull}}]
";

#[test]
fn the_conditions_are_those_of_the_policies() {
    let printed = with_policies(POLICIES);
    assert_eq!(printed.code, Some(0), "{}", printed.stderr);
    let printed = document(&printed.stdout);
    let printed = conditions(&printed);
    let kinds = "has(m.apiVersion) && has(m.kind) && (
      m.apiVersion == 'apps/v1' && m.kind in ['Deployment', 'StatefulSet'] ||
      m.apiVersion == 'deploy.example.com/v1' && m.kind == 'Rollout' &&
      has(m.metadata) && type(m.metadata) == map && has(m.metadata.namespace) && m.metadata.namespace in ['shop', 'team']
    )
";
    assert!(printed["selected-or-revised"].contains(kinds), "{}", printed["selected-or-revised"]);
    let shipped = file(SHIPPED_FILE);
    let shipped = conditions(&shipped);
    for name in ["not-being-deleted", "is-dispatched"] {
        assert_eq!(printed[name], shipped[name]);
    }
}

#[test]
fn policies_that_select_nothing_leave_what_is_marked() {
    let (interpretation, _) = POLICIES.split_once("---").unwrap();
    let printed = with_policies(interpretation);
    assert_eq!(printed.code, Some(0), "{}", printed.stderr);
    let note =
        "no policy selects anything: only Works that are already revised are sent, to undo the revision\n";
    assert!(printed.stderr.ends_with(note), "{}", printed.stderr);
    let printed = document(&printed.stdout);
    let condition = conditions(&printed)["selected-or-revised"];
    assert!(!condition.contains("m.kind"), "{condition}");
    assert!(condition.contains(REVISED_ANNOTATION) && condition.contains(REVISION_ANNOTATION), "{condition}");
}

#[test]
fn the_bundle_and_the_url_are_those_that_are_given() {
    let directory = tempfile::tempdir().unwrap();
    let out = directory.path().to_str().unwrap();
    let issued = reviser(&["certs", "--out", out, "--dns", "reviser.example.com"]);
    assert_eq!(issued.code, Some(0), "{}", issued.stderr);
    let printed = command(&["--ca-file", &format!("{out}/ca.crt")]);
    assert_eq!(printed.code, Some(0), "{}", printed.stderr);
    let client = &document(&printed.stdout)["webhooks"][0]["clientConfig"];
    assert_eq!(client["url"], "https://reviser.reviser-system.svc/mutate/works");
    assert_eq!(format!("caBundle: {}\n", client["caBundle"].as_str().unwrap()), issued.stdout);

    let wrong = ["manifests", "--for", "karmada-works", "--url", "https://reviser.example.com/interpret"];
    let refused = reviser(&wrong);
    assert_eq!(refused.code, Some(2), "{}", refused.stderr);
    assert!(refused.stderr.contains("must be \"/mutate/works\" or left out"), "{}", refused.stderr);
}
