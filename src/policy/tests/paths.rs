//! Paths that do not exist in the selected kinds.

use super::case::{Case, document, rule_faults};
use crate::json::Value;
use crate::policy::compile;

/// All errors of a policy for these kinds with only this rule.
fn faults(kinds: &[(&str, &str)], rule: &str) -> Vec<String> {
    let selectors: Vec<String> =
        kinds.iter().map(|(version, kind)| format!("{{apiVersion: {version}, kind: {kind}}}")).collect();
    let policy = document(&format!(
        "apiVersion: reviser.io/v1alpha1\nkind: ClusterRevisionPolicy\nmetadata: {{name: p}}\nspec:\n  resourceSelectors: [{}]\n  rules:\n  - {{name: r, {rule}}}\n",
        selectors.join(", ")
    ));
    findings_of(&policy)
}

fn findings_of(document: &Value<'static>) -> Vec<String> {
    match compile(std::slice::from_ref(document)) {
        Ok(_) => Vec::new(),
        Err(findings) => findings.iter().map(ToString::to_string).collect(),
    }
}

#[test]
fn a_slash_in_a_name_has_to_be_escaped() {
    let meant = "write `/` inside a name as `~1`: ";
    for (rule, field, place) in [
        (
            "patch: {type: JSON, missingPath: Create, value: [{op: add, path: /metadata/annotations/example.com/x, value: a}]}",
            "patch.value[0].path: /metadata/annotations/example.com/x leads below a string",
            "/metadata/annotations/example.com~1x",
        ),
        (
            "patch: {type: JSON, missingPath: Skip, value: [{op: test, path: /spec, value: 1}, {op: remove, path: /metadata/labels/app.kubernetes.io/name}]}",
            "patch.value[1].path: ",
            "/metadata/labels/app.kubernetes.io~1name",
        ),
        (
            "patch: {type: JSON, value: [{op: copy, from: /metadata/labels/a/b, path: /spec/x}]}",
            "patch.value[0].from: ",
            "/metadata/labels/a~1b",
        ),
        (
            "patch: {type: JSON, value: '[{op: add, path: /spec/template/metadata/annotations/prometheus.io/scrape, value: a}]'}",
            "patch.value[0].path: ",
            "/spec/template/metadata/annotations/prometheus.io~1scrape",
        ),
        (
            "divide: {path: /spec/selector/matchLabels/example.com/share}",
            "divide.path: ",
            "/spec/selector/matchLabels/example.com~1share",
        ),
        (
            "fort: {allocation: a, steps: /spec/steps, field: /metadata/annotations/example.com/x}",
            "fort.field: ",
            "/metadata/annotations/example.com~1x",
        ),
    ] {
        let found = rule_faults(rule);
        let is_it = |found: &String| found.starts_with(field) && found.ends_with(&format!("{meant}{place}"));
        assert!(found.iter().any(is_it), "{rule}: {found:#?}");
    }
}

#[test]
fn what_an_expression_puts_into_a_path_is_seen_with_the_object() {
    let rule = "patch: {type: JSON, missingPath: Create, value: [{op: add, path: \"/metadata/annotations/${object.spec.key}\", value: a}]}";
    let refused = Case::rule(rule).refused("{key: example.com/x}");
    assert_eq!(
        refused,
        "patch.value/0/path: /metadata/annotations/example.com/x leads below a string: the values in /metadata/annotations are strings; write `/` inside a name as `~1`: /metadata/annotations/example.com~1x"
    );
    let done = Case::rule(rule).revised("{key: example.com~1x}").unwrap();
    assert!(done.patch.contains("example.com/x"), "{}", done.patch);
    // The expression itself may contain slashes.
    let rule = "patch: {type: JSON, value: [{op: add, path: \"/metadata/labels/${{'a/b': 'c'}['a/b']}\", value: a}]}";
    assert!(faults(&[("apps.example.com/v1", "Train")], rule).is_empty());
}

#[test]
fn the_data_of_config_maps_and_secrets_is_strings() {
    let rule = "patch: {type: JSON, value: [{op: replace, path: /data/app.yaml/log/level, value: debug}]}";
    let expected = [
        "spec.rules[0].patch.value[0].path: /data/app.yaml/log/level leads below a string: the values in /data are strings; write `/` inside a name as `~1`: /data/app.yaml~1log~1level",
    ];
    assert_eq!(faults(&[("v1", "ConfigMap")], rule), expected);
    assert_eq!(faults(&[("v1", "ConfigMap"), ("v1", "Secret")], rule), expected);
    assert!(faults(&[("v1", "ConfigMap"), ("example.com/v1", "Settings")], rule).is_empty());
    assert!(faults(&[("example.com/v1", "ConfigMap")], rule).is_empty());
}

#[test]
fn a_path_of_a_built_in_kind_that_meets_a_list_is_found_at_load() {
    let deployment = [("apps/v1", "Deployment")];
    for (rule, finding) in [
        (
            "divide: {path: /spec/template/spec/containers/replicas}",
            "spec.rules[0].divide.path: /spec/template/spec/containers/replicas meets a list: /spec/template/spec/containers of a Deployment is one",
        ),
        (
            "divide: {path: /spec/template/spec/tolerations/key}",
            "spec.rules[0].divide.path: /spec/template/spec/tolerations/key meets a list: ",
        ),
        (
            "fort: {allocation: a, steps: /spec/template/spec/volumes/0/items, field: /x}",
            "spec.rules[0].fort.steps: /spec/template/spec/volumes/0 meets a list: /spec/template/spec/volumes ",
        ),
    ] {
        let found = faults(&deployment, rule);
        assert!(found.iter().any(|found| found.starts_with(finding)), "{rule}: {found:#?}");
    }
    for path in [
        "/spec/strategy/rollingUpdate/maxSurge",
        "/spec/template/spec/containers/*/livenessProbe/periodSeconds",
    ] {
        assert_eq!(faults(&deployment, &format!("divide: {{path: {path}}}")), [""; 0]);
    }
    assert!(faults(&[("example.com/v1", "Train")], "divide: {path: /spec/containers/0/x}").is_empty());
}

#[test]
fn a_path_of_an_interpretation_that_meets_a_list_is_found_where_it_stands() {
    let faults = |target: &str, fields: &str| {
        findings_of(&document(&format!(
            "apiVersion: reviser.io/v1alpha1\nkind: ResourceInterpretation\nmetadata: {{name: i}}\nspec: {{target: {{{target}}}, {fields}}}\n"
        )))
    };
    let job = "apiVersion: batch/v1, kind: Job";
    for (fields, finding) in [
        (
            "replicaResource: {podTemplate: /spec/template/spec/containers/0}",
            "spec.replicaResource.podTemplate: /spec/template/spec/containers/0 meets a list: /spec/template/spec/containers of a Job is one",
        ),
        (
            "replicaResource: {replicas: /spec/template/spec/containers}",
            "spec.replicaResource.replicas: /spec/template/spec/containers meets a list",
        ),
        (
            "replicaRevision: {replicas: /metadata/finalizers/0}",
            "spec.replicaRevision.replicas: /metadata/finalizers/0 meets a list",
        ),
        (
            "replicaResource: {replicas: /metadata/annotations/example.com/size}",
            "spec.replicaResource.replicas: /metadata/annotations/example.com/size leads below a string",
        ),
    ] {
        let found = faults(job, fields);
        assert!(found.iter().any(|found| found.starts_with(finding)), "{fields}: {found:#?}");
    }
    assert!(faults(job, "replicaResource: {replicas: /spec/parallelism}").is_empty());
}
