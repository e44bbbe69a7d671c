//! The configurations for Admiralty: those that are shipped, and those that `reviser manifests` prints.

use std::collections::BTreeMap;

use reviser::domain::{ELECT_ANNOTATION, PROPOSED_TRANSFORMATION_ANNOTATION, TRANSFORMATION_ANNOTATION};
use reviser::doors::{PodChaperons, Pods};
use serde_json::{Value, json};

use crate::support::command::{Ran, reviser};
use crate::support::kustomize::{assert_kubectl_renders_the_same, document, file, render};

const HOST: &str = "https://reviser.example.com:8443";
const SOURCE: &str = "manifests/admiralty/pods";
const TARGET: &str = "manifests/admiralty/podchaperons";
const FILE: &str = "mutating-webhook-configuration.yaml";

fn source(arguments: &[&str]) -> Ran {
    reviser(&[&["manifests", "--for", "admiralty-source", "--url", HOST], arguments].concat())
}

fn target(arguments: &[&str]) -> Ran {
    let url = format!("{HOST}/mutate/podchaperons/eu");
    reviser(&[&["manifests", "--for", "admiralty-target", "--url", &url], arguments].concat())
}

/// What it prints for these policies.
fn with_policies(command: impl Fn(&[&str]) -> Ran, text: &str) -> Value {
    let directory = tempfile::tempdir().unwrap();
    let policy = directory.path().join("policy.yaml");
    std::fs::write(&policy, text).unwrap();
    let printed = command(&["-p", policy.to_str().unwrap()]);
    assert_eq!(printed.code, Some(0), "{}", printed.stderr);
    document(&printed.stdout)
}

fn conditions(configuration: &Value) -> BTreeMap<&str, &str> {
    let conditions = configuration["webhooks"][0]["matchConditions"].as_array().unwrap();
    conditions
        .iter()
        .map(|one| (one["name"].as_str().unwrap(), one["expression"].as_str().unwrap()))
        .collect()
}

#[test]
fn the_shipped_configurations_are_what_the_command_prints() {
    for (directory, printed) in [(SOURCE, source(&[])), (TARGET, target(&[]))] {
        assert_eq!(printed.code, Some(0), "{}", printed.stderr);
        let shipped = file(format!("{directory}/{FILE}"));
        assert_eq!(document(&printed.stdout), shipped);
        assert_eq!(render(directory), shipped);
        assert_kubectl_renders_the_same(directory);
    }
}

#[test]
fn they_ask_for_what_is_created_and_fail_closed() {
    for (directory, resource, path, side_effects) in [
        (SOURCE, ["", "v1", "pods"], Pods::PATH.to_owned(), "None"),
        (
            TARGET,
            ["multicluster.admiralty.io", "v1alpha1", "podchaperons"],
            PodChaperons::PATH.replace("{target}", "eu"),
            "NoneOnDryRun",
        ),
    ] {
        let shipped = file(format!("{directory}/{FILE}"));
        let webhook = &shipped["webhooks"][0];
        assert_eq!(webhook["clientConfig"]["url"], format!("{HOST}{path}"));
        let [group, version, plural] = resource;
        let rule = json!({"operations": ["CREATE"], "apiGroups": [group], "apiVersions": [version], "resources": [plural], "scope": "Namespaced"});
        assert_eq!(webhook["rules"], json!([rule]));
        assert_eq!(webhook["failurePolicy"], "Fail");
        assert_eq!(webhook["sideEffects"], side_effects);
        assert_eq!(webhook["timeoutSeconds"], 5);
    }
}

/// What Admiralty's configuration is called, by its chart: `fullname` in `_helpers.tpl` of Admiralty 0.17.
fn admiraltys(release: &str) -> String {
    let name =
        if release.contains("admiralty") { release.to_owned() } else { format!("{release}-admiralty") };
    name[..name.len().min(63)].trim_end_matches('-').to_owned()
}

#[test]
fn the_one_for_a_source_sorts_before_admiraltys() {
    let shipped = file(format!("{SOURCE}/{FILE}"));
    let name = shipped["metadata"]["name"].as_str().unwrap();
    let releases = [
        "admiralty",
        "my-admiralty",
        "a",
        "a-b",
        "0a",
        "00",
        "0.a",
        "0-s",
        "1",
        "9",
        "z",
        "a.b",
        "0-reviser-pods",
    ];
    for release in releases {
        assert!(name < admiraltys(release).as_str(), "{name} {release}");
    }
    // The names that docs/admiralty.md excepts.
    for release in ["0", "0-a", "0-admiralty"] {
        assert!(
            name > admiraltys(release).as_str() && "0" < admiraltys(release).as_str(),
            "{name} {release}"
        );
    }
}

#[test]
fn the_conditions_name_the_annotations_that_the_doors_go_by() {
    let (source, target) = (file(format!("{SOURCE}/{FILE}")), file(format!("{TARGET}/{FILE}")));
    let (source, target) = (conditions(&source), conditions(&target));
    for (condition, key) in [
        (source["is-elected"], ELECT_ANNOTATION),
        (source["names-transformations"], PROPOSED_TRANSFORMATION_ANNOTATION),
        (target["selected-or-transformed"], TRANSFORMATION_ANNOTATION),
        (target["selected-or-transformed"], PROPOSED_TRANSFORMATION_ANNOTATION),
    ] {
        assert!(condition.contains(&format!("'{key}' in object.metadata.annotations")), "{condition}");
        let guards = "object != null &&\nhas(object.metadata) && type(object.metadata) == map &&\nhas(object.metadata.annotations) && type(object.metadata.annotations) == map &&";
        assert!(condition.starts_with(guards), "{condition}");
    }
}

fn policy(kind: &str, metadata: &str) -> String {
    format!(
        "apiVersion: reviser.io/v1alpha1
kind: {kind}
metadata: {metadata}
spec:
  resourceSelectors: [{{apiVersion: multicluster.admiralty.io/v1alpha1, kind: PodChaperon}}]
  rules: [{{name: r, env: {{name: A, value: b}}}}]
"
    )
}

#[test]
fn a_target_sends_what_policies_select_too() {
    let home = with_policies(target, &policy("RevisionPolicy", "{name: p, namespace: shop}"));
    let home = conditions(&home)["selected-or-transformed"];
    assert!(
        home.starts_with("has(request.namespace) && request.namespace == 'shop' ||\nobject != null &&\n"),
        "{home}"
    );
    let all = with_policies(target, &policy("ClusterRevisionPolicy", "{name: p}"));
    assert_eq!(conditions(&all)["selected-or-transformed"], "object != null");
}

#[test]
fn karmadas_works_come_for_transformations_where_there_are_some() {
    let works = |arguments: &[&str]| {
        reviser(&[&["manifests", "--for", "karmada-works", "--url", HOST], arguments].concat())
    };
    let text = "kind: TargetPodTransformation\nmetadata: {name: a}\ntransformations: [{targetSelector: {}, patch: {}}]\n";
    let printed = with_policies(works, text);
    for key in [TRANSFORMATION_ANNOTATION, PROPOSED_TRANSFORMATION_ANNOTATION] {
        let condition = conditions(&printed)["selected-or-revised"];
        assert!(condition.contains(&format!("'{key}' in m.metadata.annotations")), "{condition}");
    }
    let without = works(&[]);
    assert!(!without.stdout.contains("targetpodtransformation"), "{}", without.stdout);
}

#[test]
fn a_target_has_to_be_named() {
    for path in ["", "/mutate/podchaperons/", "/mutate/pods"] {
        let ran = reviser(&["manifests", "--for", "admiralty-target", "--url", &format!("{HOST}{path}")]);
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""), "{path}");
        assert!(ran.stderr.contains("\"/mutate/podchaperons/NAME\""), "{}", ran.stderr);
    }
}
