//! Values of the wrong type. They are errors at load where the policy shows them, and before the reply in all
//! other cases. The value of an expression is converted to a string where only a string fits.

use super::case::{Case, document};
use super::findings;

/// A policy for one kind with these rules.
fn policy(api_version: &str, kind: &str, rules: &str) -> crate::json::Value<'static> {
    document(&format!(
        "{{apiVersion: reviser.io/v1alpha1, kind: ClusterRevisionPolicy, metadata: {{name: p}}, spec: {{
            resourceSelectors: [{{apiVersion: {api_version}, kind: {kind}}}], rules: [{rules}]}}}}"
    ))
}

fn deployments(rules: &str) -> Case {
    Case::documents(&[policy("apps/v1", "Deployment", rules)])
}

const DEPLOYMENT: &str = r#"{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web","namespace":"shop","labels":{"app":"web"}},"spec":{"replicas":2,"template":{"metadata":{"labels":{"app":"web"}},"spec":{"containers":[{"name":"web","image":"web:1"}]}}}}"#;

#[test]
fn a_constant_of_the_wrong_type_is_found_at_load() {
    for (api_version, kind, patch, place) in [
        (
            "apps/v1",
            "Deployment",
            "type: Merge, value: {metadata: {labels: {canary: true}}}",
            "value.metadata.labels.canary: /metadata/labels/canary must be a string, is a boolean; put it in quotes",
        ),
        (
            "apps/v1",
            "Deployment",
            "type: Strategic, value: {spec: {template: {metadata: {annotations: {port: 80}}}}}",
            "value.spec.template.metadata.annotations.port: ",
        ),
        (
            "apps/v1",
            "Deployment",
            "type: Strategic, value: {spec: {template: {spec: {containers: [{name: '${cluster.name}', env: [{name: A, value: 3}]}]}}}}",
            "value.spec.template.spec.containers[0].env[0].value: /spec/template/spec/containers/*/env/0/value must be a string",
        ),
        (
            "apps/v1",
            "Deployment",
            "type: JSON, value: [{op: add, path: /spec/template/spec/nodeSelector/gpu, value: true}]",
            "value[0].value: /spec/template/spec/nodeSelector/gpu must be a string",
        ),
        (
            "apps/v1",
            "Deployment",
            "type: Merge, value: {spec: {replicas: '3'}}",
            "value.spec.replicas: /spec/replicas must be an integer of 32 bits, is a string",
        ),
        (
            "apps/v1",
            "Deployment",
            "type: Merge, value: {spec: {replicas: 'n-${replicas}'}}",
            "value.spec.replicas: /spec/replicas must be an integer of 32 bits, is a string",
        ),
        (
            "apps/v1",
            "Deployment",
            "type: Merge, value: {spec: {selector: {matchLabels: '${[1]}'}}}",
            "value.spec.selector.matchLabels: /spec/selector/matchLabels must be a map, is a list",
        ),
        ("v1", "ConfigMap", "type: Merge, value: {data: {port: 8080}}", "value.data.port: "),
        ("v1", "Secret", "type: Merge, value: {stringData: {on: 'x', pin: 1234}}", "value.stringData.pin: "),
        (
            "v1",
            "Secret",
            "type: Merge, value: {data: {password: 'not base64!'}}",
            "value.data.password: /data/password must be a string in base64, is another string",
        ),
        (
            "v1",
            "Service",
            "type: Merge, value: {spec: {ports: [{port: '80'}]}}",
            "value.spec.ports[0].port: /spec/ports/0/port must be an integer of 32 bits",
        ),
        (
            "v1",
            "ResourceQuota",
            "type: Merge, value: {spec: {hard: {pods: many}}}",
            "value.spec.hard.pods: /spec/hard/pods must be a quantity",
        ),
        (
            "batch/v1",
            "CronJob",
            "type: Merge, value: {spec: {suspend: 'true'}}",
            "value.spec.suspend: /spec/suspend must be true or false, is a string",
        ),
        (
            "apps.example.com/v1",
            "Train",
            "type: Merge, value: {metadata: {labels: {a: 1}}}",
            "value.metadata.labels.a: ",
        ),
        (
            "apps.example.com/v1",
            "Train",
            "type: Merge, value: {spec: {template: {spec: {containers: [{name: a, image: 1}]}}}}",
            "value.spec.template.spec.containers[0].image: ",
        ),
    ] {
        let found = findings(&[policy(api_version, kind, &format!("{{name: r, patch: {{{patch}}}}}"))]);
        assert!(
            found.len() == 1 && found[0].contains(&format!("patch.{place}")),
            "{kind} {patch}: {found:#?}"
        );
    }
}

#[test]
fn constants_that_fit_or_are_not_known_are_accepted() {
    for patch in [
        // Null removes the label.
        "type: Merge, value: {metadata: {labels: {a: null}}}",
        "type: Strategic, value: {spec: {template: {spec: {containers: [{name: a, $patch: delete}]}}}}",
        "type: Merge, value: {spec: {anything: [1, {a: true}], template: {spec: {own: 3}}}}",
        // The template has no containers, so it is not treated as a pod template.
        "type: Merge, value: {spec: {template: {spec: {hostname: 5}}}}",
    ] {
        Case::rule(&format!("patch: {{{patch}}}"));
    }
}

#[test]
fn the_value_of_an_expression_is_spelled_where_only_a_string_fits() {
    for (patch, written) in [
        (
            "type: Merge, value: {metadata: {labels: {share: '${replicas}'}}}",
            r#""path":"/metadata/labels/share","value":"3""#,
        ),
        (
            "type: Merge, value: {metadata: {annotations: {first: '${replicas > 1}'}}}",
            r#""value":{"first":"true"}"#,
        ),
        (
            "type: Merge, value: {metadata: {annotations: '${{\"a\": replicas, \"b\": 1.5}}'}}",
            r#""value":{"a":"3","b":"1.5"}"#,
        ),
        (
            "type: Strategic, value: {spec: {template: {spec: {containers: [{name: web, env: [{name: COUNT, value: '${binding.replicas}'}]}]}}}}",
            r#""value":[{"name":"COUNT","value":"4"}]"#,
        ),
        (
            "type: JSON, value: [{op: add, path: /spec/template/spec/nodeSelector, value: {size: '${replicas}'}}]",
            r#""value":{"size":"3"}"#,
        ),
        (
            "type: JSON, value: [{op: add, path: '/metadata/labels/${cluster.name}', value: '${replicas}'}]",
            r#""path":"/metadata/labels/x","value":"3""#,
        ),
        (
            "type: JSON, value: '${[{\"op\": \"add\", \"path\": \"/metadata/labels/n\", \"value\": replicas}]}'",
            r#""path":"/metadata/labels/n","value":"3""#,
        ),
        // A number stays a number where the type is a number.
        ("type: Merge, value: {spec: {replicas: '${replicas + 4}'}}", r#""path":"/spec/replicas","value":7"#),
        (
            "type: Merge, value: {spec: {strategy: {rollingUpdate: {maxSurge: '${replicas}'}}}}",
            r#"{"maxSurge":3}"#,
        ),
    ] {
        let case = deployments(&format!("{{name: r, patch: {{{patch}}}}}"));
        let patch_made = case.revised_whole(DEPLOYMENT).unwrap().patch;
        assert!(patch_made.contains(written), "{patch}: {patch_made}");
    }
    // Labels of a custom kind, and its pod template.
    let case = Case::rule(
        "patch: {type: Merge, value: {metadata: {labels: {size: '${replicas}'}}, spec: {size: '${replicas}', template: {metadata: {labels: {size: '${replicas}'}}}}}}",
    );
    let patch = case.revised("{template: {spec: {containers: []}}}").unwrap().patch;
    assert!(
        patch.contains(r#"{"size":"3"}"#) && patch.contains(r#""path":"/spec/size","value":3"#),
        "{patch}"
    );
}

#[test]
fn whatever_else_has_the_wrong_type_is_refused_with_rule_place_expected_and_found() {
    for (rules, refusal) in [
        (
            "{name: r, patch: {type: Merge, value: {metadata: {labels: '${{\"a\": [1]}}'}}}}",
            r#"rule "r" cluster "x": /metadata/labels/a: must be a string, is a list"#,
        ),
        (
            "{name: r, patch: {type: JSON, value: [{op: copy, from: /spec/replicas, path: /metadata/labels/n}]}}",
            r#"rule "r" cluster "x": /metadata/labels/n: must be a string, is a number"#,
        ),
        (
            "{name: a, patch: {type: Merge, value: {metadata: {annotations: {a: b}}}}}, {name: r, patch: {type: JSON, missingPath: Create, value: [{op: add, path: '/metadata/annotations/${\"a/b\"}', value: '1'}]}}",
            r#"rule "r" cluster "x": patch.value/0/path: /metadata/annotations/a/b leads below a string"#,
        ),
        ("{name: r, patch: {type: Merge, value: {spec: {replicas: '${[replicas]}'}}}}", ""),
        (
            "{name: r, patch: {type: Merge, value: {spec: {template: {spec: {containers: '${object.spec.template.spec}'}}}}}}",
            r#"rule "r" cluster "x": /spec/template/spec/containers: must be a list, is a map"#,
        ),
        (
            "{name: r, patch: {type: JSON, value: [{op: add, path: /metadata/labels/a, value: null}]}}",
            r#"rule "r" cluster "x": /metadata/labels/a: must be a string, is null"#,
        ),
    ] {
        if refusal.is_empty() {
            assert!(!findings(&[policy("apps/v1", "Deployment", rules)]).is_empty(), "{rules}");
            continue;
        }
        let found = deployments(rules).revised_whole(DEPLOYMENT).unwrap_err();
        assert!(found.contains(refusal), "{rules}: {found}");
    }
}

#[test]
fn labels_that_came_with_the_object_are_held_to_strings_in_every_kind() {
    let rule = "patch: {type: Merge, value: {spec: {a: 1}}}";
    for (metadata, place) in [
        (r#""labels":{"a":1}"#, "/metadata/labels/a"),
        (r#""annotations":{"a":null}"#, "/metadata/annotations/a"),
    ] {
        let object = format!(
            r#"{{"apiVersion":"apps.example.com/v1","kind":"Train","metadata":{{"name":"t","namespace":"shop",{metadata}}},"spec":{{}}}}"#
        );
        let found = Case::rule(rule).revised_whole(&object).unwrap_err();
        assert!(found.starts_with(&format!("422 {place}: must be a string")), "{found}");
    }
    let found = Case::rule(rule).revised("{template: {metadata: {labels: {a: {}}}}}").unwrap_err();
    assert!(found.contains("/spec/template/metadata/labels/a: must be a string, is a map"), "{found}");
}

#[test]
fn an_unknown_field_and_a_wrong_value_that_was_there_are_warned_of() {
    let case = deployments("{name: r, patch: {type: Merge, value: {spec: {replica: 1}}}}");
    assert_eq!(
        case.revised_whole(DEPLOYMENT).unwrap().warnings,
        [r#"cluster "x": /spec/replica: unknown field; an API server drops it: check its spelling"#]
    );
    let case = deployments("{name: r, patch: {type: Merge, value: {spec: {paused: true}}}}");
    let object = DEPLOYMENT.replace(r#""replicas":2"#, r#""replicas":"2""#);
    assert_eq!(
        case.revised_whole(&object).unwrap().warnings,
        [
            r#"cluster "x": /spec/replicas: must be an integer of 32 bits, is a string; an API server refuses it: change the object"#
        ]
    );
}

#[test]
fn a_pod_chaperon_is_held_against_the_types_of_a_pod() {
    let chaperons = |rule: &str| {
        Case::documents(&[policy(
            "multicluster.admiralty.io/v1alpha1",
            "PodChaperon",
            &format!("{{name: r, {rule}}}"),
        )])
    };
    let object = r#"{"apiVersion":"multicluster.admiralty.io/v1alpha1","kind":"PodChaperon","metadata":{"generateName":"web-","namespace":"shop"},"spec":{"containers":[{"name":"web","image":"web:1"}]}}"#;
    for (rule, refusal) in [
        (
            "patch: {type: JSON, value: [{op: add, path: /spec/containerss, value: []}]}",
            "/spec/containerss: unknown field",
        ),
        (
            "patch: {type: JSON, value: [{op: copy, from: /spec/containers, path: /spec/hostname}]}",
            "/spec/hostname: must be a string, is a list",
        ),
        (
            "patch: {type: JSON, value: [{op: add, path: /spec/containers/0/env, value: '${[{\"name\": \"A\", \"value\": [3]}]}'}]}",
            "/spec/containers/0/env/0/value: must be a string, is a list",
        ),
    ] {
        let found = chaperons(rule).revised_whole(object).unwrap_err();
        assert!(found.contains(refusal), "{rule}: {found}");
    }
    chaperons("env: {name: A, value: '${cluster.name}'}").revised_whole(object).unwrap();
}

#[test]
fn the_patch_of_a_transformation_is_checked_at_load() {
    for (patch, place) in [
        ("{metadata: {labels: {gpu: 1}}}", "patch.metadata.labels.gpu: "),
        (
            "{spec: {containers: [{name: a, env: [{name: COUNT, value: 3}]}]}}",
            "patch.spec.containers[0].env[0].value: ",
        ),
        ("{spec: {nodeSelector: {gpu: true}}}", "patch.spec.nodeSelector.gpu: "),
        (
            "{spec: {template: {spec: {nodeSelector: {gpu: true}}}}}",
            "patch.spec.template.spec.nodeSelector.gpu: ",
        ),
    ] {
        let found = findings(&[document(&format!(
            "{{kind: TargetPodTransformation, metadata: {{name: a}}, transformations: [{{targetReference: {{kind: Target, name: eu}}, patch: {patch}}}]}}"
        ))]);
        assert!(found.len() == 1 && found[0].contains(place), "{patch}: {found:#?}");
    }
}

#[test]
fn a_definition_gives_types_to_the_patches_of_its_kind() {
    let definition = document(
        "{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, spec: {group: apps.example.com, names: {kind: Train},
          versions: [{name: v1, served: true, schema: {openAPIV3Schema: {type: object, properties: {
            metadata: {type: object}, spec: {type: object, properties: {wagons: {type: integer}, colour: {type: string}}}}}}}]}}",
    );
    for (patch, expected) in [
        (
            "type: Merge, value: {spec: {wagons: many}}",
            Some((
                "spec.rules[0].patch.value.spec.wagons",
                "/spec/wagons: must be an integer of 64 bits, is a string",
            )),
        ),
        (
            "type: JSON, value: [{op: add, path: /spec/color, value: red}]",
            Some(("spec.rules[0].patch.value[0].path", "/spec/color: unknown field; the member drops it")),
        ),
        (
            "type: Merge, value: {spec: {colour: '${[1]}'}}",
            Some(("spec.rules[0].patch.value.spec.colour", "/spec/colour: must be a string, is a list")),
        ),
        ("type: Merge, value: {metadata: {labels: {a: b}}, spec: {wagons: 3, colour: '${replicas}'}}", None),
    ] {
        let set = crate::policy::compile(&[policy(
            "apps.example.com/v1",
            "Train",
            &format!("{{name: r, patch: {{{patch}}}}}"),
        )])
        .unwrap();
        let (found, note) = crate::policy::definition(&definition, &set);
        assert_eq!(note, None);
        match expected {
            None => assert_eq!(found, []),
            Some((field, problem)) => {
                assert_eq!(found.len(), 1, "{found:?}");
                assert_eq!(crate::json::field_path(&found[0].field), field);
                assert!(found[0].problem.starts_with(problem), "{found:?}");
            }
        }
    }
}

#[test]
fn a_definition_gives_types_to_the_results_for_its_kind() {
    let definition = document(
        "{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, spec: {group: apps.example.com, names: {kind: Train},
          versions: [{name: v1, served: true, schema: {openAPIV3Schema: {type: object, properties: {
            metadata: {type: object}, spec: {type: object, properties: {wagons: {type: integer}, paused: {type: boolean}}}}}}}]}}",
    );
    let kind = crate::domain::GroupVersionKind::of("apps.example.com/v1", "Train");
    let found = |object: &str| crate::policy::misfits_of_object(&definition, &kind, &document(object));
    assert_eq!(found("{metadata: {labels: {a: b}}, spec: {wagons: 3, paused: true}}"), [""; 0]);
    assert_eq!(
        found("{spec: {wagons: many, paused: 3, color: red}}"),
        [
            "/spec/wagons: must be an integer of 64 bits, is a string; the member refuses the object: change the value, or the place",
            "/spec/paused: must be true or false, is a number; the member refuses the object: change the value, or the place",
            "/spec/color: unknown field; the member drops it: check its spelling",
        ]
    );
    let other = crate::domain::GroupVersionKind::of("apps/v1", "Deployment");
    assert_eq!(crate::policy::misfits_of_object(&definition, &other, &document("{spec: 1}")), [""; 0]);
}
