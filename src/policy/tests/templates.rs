//! Where `env`, `image` and strategic patches find containers, and the messages if there are none.

use super::case::{Case, document, faults, rule_faults};
use super::findings;
use crate::json::Value;
use crate::policy::examine;

const RAY: &str = "{head: {template: {spec: {containers: [{name: head, image: 'ray:2.9'}]}}},
    groups: [
      {template: {spec: {containers: [{name: worker, image: 'ray:2.9'}, {name: log, image: 'log:1'}]}}},
      {replicas: 2},
      {template: {metadata: {labels: {a: b}}, spec: {initContainers: [{name: init, image: 'ray:2.9'}], containers: [{name: worker, image: 'ray:2.9'}]}}}]}";

fn interpretation(replica_resource: &str) -> Value<'static> {
    document(&format!(
        "{{apiVersion: reviser.io/v1alpha1, kind: ResourceInterpretation, metadata: {{name: i}}, spec: {{target: {{apiVersion: apps.example.com/v1, kind: Train}}, replicaResource: {{{replica_resource}}}}}}}"
    ))
}

fn policy(rules: &str) -> Value<'static> {
    document(&format!(
        "{{apiVersion: reviser.io/v1alpha1, kind: ClusterRevisionPolicy, metadata: {{name: p}}, spec: {{resourceSelectors: [{{apiVersion: apps.example.com/v1, kind: Train}}], rules: [{rules}]}}}}"
    ))
}

fn several(rule: &str) -> Case {
    let templates = "podTemplates: [/spec/head/template, /spec/groups/*/template]";
    Case::documents(&[interpretation(templates), policy(&format!("{{name: r, {rule}}}"))])
}

#[test]
fn every_pod_template_is_found_also_in_lists() {
    for (rule, changed) in [
        (
            "image: {registry: m.io}",
            vec![
                "head/template/spec/containers/0",
                "groups/0/template/spec/containers/0",
                "groups/0/template/spec/containers/1",
                "groups/2/template/spec/containers/0",
            ],
        ),
        (
            "image: {registry: m.io, containers: [worker]}",
            vec!["groups/0/template/spec/containers/0", "groups/2/template/spec/containers/0"],
        ),
        (
            "image: {registry: m.io, containers: [init], initContainers: true}",
            vec!["groups/2/template/spec/initContainers/0"],
        ),
        (
            "env: {name: A, value: b, containers: [head, log]}",
            vec!["head/template/spec/containers/0", "groups/0/template/spec/containers/1"],
        ),
    ] {
        let done = several(rule).revised(RAY).unwrap();
        let patch: Vec<Value<'_>> = Value::parse(done.patch.as_bytes()).unwrap().as_array().unwrap().to_vec();
        let mut paths: Vec<&str> =
            patch.iter().map(|operation| operation.get("path").unwrap().as_str().unwrap()).collect();
        paths.sort_unstable();
        let field = if rule.starts_with("image") { "image" } else { "env" };
        let mut expected: Vec<String> =
            changed.iter().map(|place| format!("/spec/{place}/{field}")).collect();
        expected.sort_unstable();
        assert_eq!(paths, expected, "{rule}");
        assert_eq!(done.warnings, [""; 0], "{rule}");
    }
    assert!(
        several("env: {name: A, value: b, containers: [nobody]}").refused(RAY).starts_with(
            "/spec/head/template/spec, /spec/groups/*/template/spec: has no container \"nobody\""
        )
    );
}

#[test]
fn strategic_patches_merge_each_of_the_pod_templates() {
    let patch = "patch: {type: Strategic, value: {spec: {head: {template: {spec: {containers: [{name: head, tty: true}]}}}}}}";
    let spec = several(patch).spec("{head: {template: {spec: {containers: [{name: log}, {name: head}]}}}}");
    assert_eq!(
        spec,
        r#"{"head":{"template":{"spec":{"containers":[{"name":"log"},{"name":"head","tty":true}]}}}}"#
    );
}

#[test]
fn labels_of_pod_templates_in_lists_are_held_to_strings() {
    let rule = "patch: {type: Merge, value: {spec: {a: 1}}}";
    let refused = several(rule).refused("{groups: [{}, {template: {metadata: {labels: {a: 1}}}}]}");
    assert!(refused.contains("/spec/groups/1/template/metadata/labels/a: must be a string"), "{refused}");
}

#[test]
fn where_no_containers_are_found_a_warning_says_where_they_were_looked_for() {
    let advice = "name the place with `replicaResource.podTemplate` of a ResourceInterpretation";
    for (rule, spec, problem) in [
        (
            "image: {registry: m.io}",
            "{image: 'flink:1.17'}",
            "/spec/template: is not there, so `image` finds no containers",
        ),
        ("env: {name: A, value: b}", "{}", "/spec/template: is not there, so `env` finds no containers"),
        (
            "env: {name: A, remove: true}",
            "{template: null}",
            "/spec/template: is not there, so `env` finds no containers",
        ),
        (
            "image: {tag: v2}",
            "{template: {spec: {containers: []}}}",
            "/spec/template/spec/containers: has no items, so `image` finds no containers",
        ),
        (
            "image: {tag: v2}",
            "{template: {spec: {initContainers: [{name: c, image: a}]}}}",
            "/spec/template/spec/containers: has no items, so `image` finds no containers",
        ),
    ] {
        let done = Case::rule(rule).revised(spec).unwrap();
        let other = if rule.starts_with("image") { ", or that of the image with `image.path`" } else { "" };
        let expected =
            format!("ClusterRevisionPolicy/p rule \"r\" cluster \"x\": {problem}; {advice}{other}");
        assert_eq!((done.patch.as_str(), done.warnings), ("[]", vec![expected]), "{rule} {spec}");
    }
    let done = several("image: {tag: v2}").revised("{groups: []}").unwrap();
    assert!(
        done.warnings[0].contains("/spec/head/template, /spec/groups/*/template: are not there, so `image`"),
        "{:?}",
        done.warnings
    );
    let done = Case::rule("image: {tag: v2, containers: [c]}, onError: Skip").revised("{}").unwrap();
    assert_eq!((done.skipped.len(), done.warnings.len()), (1, 0));
    // One template with containers is enough.
    let done = several("image: {tag: v2}")
        .revised("{groups: [{template: {spec: {containers: [{name: a}]}}}]}")
        .unwrap();
    assert_eq!(done.warnings, [""; 0]);
}

#[test]
fn a_pod_template_that_is_somewhere_else_is_refused_where_it_stands() {
    for (spec, refusal) in [
        ("{groups: {a: b}}", "/spec/groups: must be a list, is a map"),
        ("{groups: [x]}", "/spec/groups/0: must be a map, is a string"),
        (
            "{groups: [{template: {spec: {containers: {}}}}]}",
            "/spec/groups/0/template/spec/containers: must be a list of containers, is a map",
        ),
        ("{head: []}", "/spec/head: must be a map, is a list"),
    ] {
        let refused = several("image: {tag: v2}").refused(spec);
        assert!(refused.starts_with(refusal), "{refused}");
        let places = "pod templates are looked for at /spec/head/template, /spec/groups/*/template: name the place with `replicaResource.podTemplate`";
        assert!(refused.contains(places), "{refused}");
    }
}

#[test]
fn what_is_wrong_with_an_interpretation_is_found_at_load() {
    for (fields, finding) in [
        ("podTemplates: []", "spec.replicaResource.podTemplates: needs at least one item"),
        ("podTemplates: /spec/a", "spec.replicaResource.podTemplates: must be a list, is a string"),
        ("podTemplates: [spec/a]", "spec.replicaResource.podTemplates[0]: \"spec/a\" is no JSON pointer"),
        (
            "podTemplate: /spec/groups/*/template",
            "spec.replicaResource.podTemplate: takes no `*`; pod templates in lists are for `podTemplates`",
        ),
        ("replicas: /spec/groups/*/size", "spec.replicaResource.replicas: takes no `*`"),
    ] {
        let found = findings(&[interpretation(fields)]);
        assert!(found.iter().any(|found| found.starts_with(&format!("0 {finding}"))), "{fields}: {found:#?}");
    }
    let job = document(
        "{apiVersion: reviser.io/v1alpha1, kind: ResourceInterpretation, metadata: {name: i}, spec: {target: {apiVersion: batch/v1, kind: Job}, replicaResource: {podTemplates: [/spec/template, /spec/template/spec/containers/0/x]}}}",
    );
    assert_eq!(
        findings(&[job]),
        [
            "0 spec.replicaResource.podTemplates[1]: /spec/template/spec/containers/0/x meets a list: /spec/template/spec/containers of a Job is one; write `/spec/template/spec/containers/*`"
        ]
    );
}

#[test]
fn a_rule_for_kinds_without_a_pod_template_is_a_warning_at_load() {
    let warnings = |kinds: &str, rule: &str| {
        let policy = document(&format!(
            "{{apiVersion: reviser.io/v1alpha1, kind: ClusterRevisionPolicy, metadata: {{name: p}}, spec: {{resourceSelectors: [{kinds}], rules: [{{name: r, {rule}}}, {{name: s, patch: {{type: Merge, value: {{metadata: {{labels: {{a: b}}}}}}}}}}]}}}}"
        ));
        let examined = examine(&[policy]);
        examined.result.unwrap();
        examined.warnings.iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    let map = "{apiVersion: v1, kind: ConfigMap}";
    for (kinds, rule, expected) in [
        (
            map,
            "image: {tag: v2}",
            "spec.rules[0].image: the kind ConfigMap has no pod template, so that the rule changes nothing",
        ),
        (
            "{apiVersion: v1, kind: Service}",
            "env: {name: A, value: b}",
            "spec.rules[0].env: the kind Service has no pod template",
        ),
        (
            "{apiVersion: networking.k8s.io/v1, kind: Ingress}, {apiVersion: v1, kind: Secret}",
            "env: {name: A, value: b}",
            "spec.rules[0].env: the kind Ingress has no pod template",
        ),
        (
            "{apiVersion: apps/v1, kind: Deployment}",
            "image: {path: /spec/image, tag: v2}",
            "spec.rules[0].image.path: the kind Deployment has no /spec/image",
        ),
    ] {
        let found = warnings(kinds, rule);
        assert!(found.len() == 1 && found[0].starts_with(expected), "{kinds}: {found:#?}");
    }
    for (kinds, rule) in [
        ("{apiVersion: v1, kind: ConfigMap}, {apiVersion: apps/v1, kind: Deployment}", "image: {tag: v2}"),
        ("{apiVersion: v1, kind: Pod}", "image: {tag: v2}"),
        ("{apiVersion: v1, kind: PodTemplate}", "image: {tag: v2}"),
        ("{apiVersion: v1, kind: ReplicationController}", "image: {tag: v2}"),
        ("{apiVersion: batch/v1, kind: CronJob}", "env: {name: A, value: b}"),
        ("{apiVersion: example.com/v1, kind: Train}", "env: {name: A, value: b}"),
        (
            "{apiVersion: apps/v1, kind: Deployment}",
            "image: {path: /spec/template/spec/volumes/*/image/reference, tag: v2}",
        ),
    ] {
        assert_eq!(warnings(kinds, rule), [""; 0], "{kinds}");
    }
}

#[test]
fn an_image_can_be_somewhere_else() {
    for (path, before, after) in [
        ("/spec/image", "{image: 'flink:1.17'}", r#"{"image":"m.io/flink:1.17"}"#),
        (
            "/spec/job/images/*",
            "{job: {images: [a, 'x.io/b:1']}}",
            r#"{"job":{"images":["m.io/a","m.io/b:1"]}}"#,
        ),
        (
            "/spec/parts/*/image",
            "{parts: [{image: a}, {}, {image: null}]}",
            r#"{"parts":[{"image":"m.io/a"},{},{"image":null}]}"#,
        ),
    ] {
        let done = Case::rule(&format!("image: {{path: {path}, registry: m.io}}")).revised(before).unwrap();
        assert_eq!((done.spec.as_str(), done.warnings), (after, Vec::new()));
    }
    let rule = "image: {path: /spec/image, registry: m.io}";
    for spec in ["{}", "{image: null}", "{template: {spec: {containers: [{name: c, image: a}]}}}"] {
        let done = Case::rule(rule).revised(spec).unwrap();
        assert_eq!(done.patch, "[]");
        assert_eq!(
            done.warnings,
            [
                "ClusterRevisionPolicy/p rule \"r\" cluster \"x\": /spec/image: is not there, so `image` changes nothing; change `image.path`, or take the kind out of the policy"
            ]
        );
    }
    for (spec, refusal) in [
        ("{image: {repository: a}}", "/spec/image: must be an image reference, is a map"),
        ("{image: 'A B'}", "/spec/image: \"A B\" is no image reference"),
    ] {
        assert!(Case::rule(rule).refused(spec).starts_with(refusal));
    }
    assert_eq!(
        Case::rule("image: {path: /spec/a/b, tag: v2}").refused("{a: []}"),
        "/spec/a: must be a map, is a list; change the object, or the path in the rule (`image.path` is /spec/a/b)"
    );
    for (image, finding) in [
        (
            "{path: /spec/image, containers: [a], tag: v2}",
            "image.path: names an image that is in no container",
        ),
        (
            "{path: /spec/image, initContainers: true, tag: v2}",
            "image.path: names an image that is in no container",
        ),
        ("{path: spec, tag: v2}", "image.path: \"spec\" is no JSON pointer"),
        ("{path: /metadata/name, tag: v2}", "image.path: /metadata/name says who the object is"),
        (
            "{path: /metadata/annotations/example.com/image, tag: v2}",
            "image.path: /metadata/annotations/example.com/image leads below a string",
        ),
        ("{path: /spec/image}", "image: needs at least one of registry"),
    ] {
        let found = rule_faults(&format!("image: {image}"));
        assert!(found.iter().any(|found| found.starts_with(finding)), "{image}: {found:#?}");
    }
    assert!(faults("rules: [{name: r, image: {path: /spec/image, initContainers: 1, tag: v2}}]").len() == 2);
}
