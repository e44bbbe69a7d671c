//! Fields that no rule may change, with any action.

use super::case::{Case, document, faults, rule_faults};

/// Errors that the policy shows by itself.
#[test]
fn protected_places_are_refused_at_load_where_the_policy_shows_them() {
    for (rule, place) in [
        ("patch: {type: Merge, value: {apiVersion: v2}}", "patch.value.apiVersion: "),
        ("patch: {type: Merge, value: {metadata: {name: x}}}", "patch.value.metadata.name: "),
        ("patch: {type: Merge, value: {metadata: null}}", "patch.value.metadata: "),
        ("patch: {type: Merge, value: {metadata: {labels: null}}}", "patch.value.metadata.labels: "),
        (
            "patch: {type: Merge, value: {metadata: {labels: {work.karmada.io/permanent-id: x}}}}",
            "patch.value.metadata.labels[\"work.karmada.io/permanent-id\"]: ",
        ),
        ("patch: {type: Merge, value: 'metadata: {namespace: x}'}", "patch.value.metadata.namespace: "),
        ("patch: {type: Strategic, value: {kind: x}}", "patch.value.kind: "),
        (
            "patch: {type: Strategic, value: {metadata: {$patch: replace, a: 1}}}",
            "patch.value.metadata[\"$patch\"]: ",
        ),
        ("patch: {type: Strategic, value: {$patch: replace, spec: {}}}", "patch.value[\"$patch\"]: "),
        (
            "patch: {type: Strategic, value: {metadata: {annotations: {$patch: delete}}}}",
            "patch.value.metadata.annotations[\"$patch\"]: ",
        ),
        (
            "patch: {type: Strategic, value: {metadata: {annotations: {reviser.io/revised: x}}}}",
            "patch.value.metadata.annotations[\"reviser.io/revised\"]: ",
        ),
        ("patch: {type: JSON, value: [{op: replace, path: /kind, value: x}]}", "patch.value[0]: "),
        ("patch: {type: JSON, value: [{op: remove, path: /metadata}]}", "patch.value[0]: "),
        ("patch: {type: JSON, value: [{op: move, from: /metadata/name, path: /spec/x}]}", "patch.value[0]: "),
        (
            "patch: {type: JSON, value: [{op: add, path: '/metadata/labels/multicluster.admiralty.io~1x', value: 'y'}]}",
            "patch.value[0]: ",
        ),
        ("divide: {path: /metadata/labels/karmada.io~1n}", "divide.path: "),
    ] {
        let found = rule_faults(rule);
        assert!(found.len() == 1 && found[0].starts_with(place), "{rule}: {found:#?}");
    }
    let fort = |steps: &str| {
        faults(&format!(
            "allocations: [{{name: f}}]\nrules: [{{name: r, fort: {{allocation: f, steps: {steps}, field: /a}}}}]"
        ))
    };
    assert!(fort("/metadata")[0].starts_with("rules[0].fort.steps: "));
    // Reading is allowed.
    Case::rule(
        "patch: {type: JSON, value: [{op: copy, from: /metadata/name, path: /spec/x}, {op: test, path: /kind, value: Train}]}",
    );
    Case::rule(
        "patch: {type: Merge, value: {metadata: {labels: {app: x}, annotations: {example.com/a: null}, finalizers: []}}}",
    );
}

/// Errors that depend on the object, for every action.
#[test]
fn protected_places_are_refused_before_the_reply_whatever_writes_them() {
    let object = document(
        "{apiVersion: apps.example.com/v1, kind: Train, metadata: {name: t, namespace: n, labels: {work.karmada.io/permanent-id: a, app: b}},
           spec: {map: {name: other, namespace: n}, key: karmada.io/x, labels: {app: b}}}",
    )
    .to_string();
    for (rule, place) in [
        (
            "patch: {type: Merge, value: {metadata: '${object.spec.map}'}}",
            "/metadata/name: says who the object is",
        ),
        ("patch: {type: Merge, value: {kind: '${\"X\"}'}}", ""),
        (
            "patch: {type: Strategic, value: {metadata: {labels: '${ {\"work.karmada.io/permanent-id\": \"z\"} }'}}}",
            "/metadata/labels/work.karmada.io~1permanent-id: belongs to the platform",
        ),
        ("patch: {type: Merge, value: \"${ {'kind': 'Bus'} }\"}", "/kind: says who the object is"),
        (
            "patch: {type: JSON, value: [{op: add, path: '/metadata/labels/${object.spec.key.replace(\"/\", \"~1\")}', value: 'y'}]}",
            "/metadata/labels/karmada.io~1x: belongs to the platform",
        ),
        (
            "patch: {type: JSON, value: [{op: add, path: '/${\"metadata\"}/labels', value: {app: b}}]}",
            "/metadata/labels/work.karmada.io~1permanent-id: belongs to the platform",
        ),
    ] {
        if place.is_empty() {
            assert_eq!(rule_faults(rule).len(), 1, "{rule}");
            continue;
        }
        let refusal = Case::rule(rule).revised_whole(&object).unwrap_err();
        assert!(
            refusal.starts_with("422 ClusterRevisionPolicy/p rule \"r\" cluster \"x\": ")
                && refusal.contains(place),
            "{rule}: {refusal}"
        );
        // `onError: Skip` does not apply to them.
        let skipping = Case::rule(&format!("onError: Skip, {rule}")).revised_whole(&object).unwrap_err();
        assert!(skipping.contains(place), "{rule}: {skipping}");
    }
}

/// A kind with its pod template in `metadata`, where `env` and `image` could write.
#[test]
fn an_interpretation_opens_no_way_around_them() {
    for rule in ["env: {name: A, value: x}", "image: {tag: v2}"] {
        let policy = document(&format!(
            "{{apiVersion: reviser.io/v1alpha1, kind: ClusterRevisionPolicy, metadata: {{name: p}}, spec: {{resourceSelectors: [{{apiVersion: apps.example.com/v1, kind: Train}}], rules: [{{name: r, {rule}}}]}}}}"
        ));
        let interpretation = document(
            "{apiVersion: reviser.io/v1alpha1, kind: ResourceInterpretation, metadata: {name: i}, spec: {
              target: {apiVersion: apps.example.com/v1, kind: Train}, replicaResource: {podTemplate: /metadata/labels/karmada.io~1x}}}",
        );
        let object = r#"{"apiVersion":"apps.example.com/v1","kind":"Train","metadata":{"name":"t","namespace":"n","labels":{"karmada.io/x":{"spec":{"containers":[{"name":"c","image":"a"}]}}}}}"#;
        let refusal = Case::documents(&[policy, interpretation]).revised_whole(object).unwrap_err();
        assert!(refusal.contains("/metadata/labels/karmada.io~1x: "), "{refusal}");
    }
}
