//! Lists that are merged by the keys in `mergeKeys`.

use super::case::{Case, Done, document, rule_faults};

/// A policy for these kinds with one strategic merge patch.
fn policy(kinds: &str, patch: &str) -> crate::json::Value<'static> {
    document(&format!(
        "{{apiVersion: reviser.io/v1alpha1, kind: ClusterRevisionPolicy, metadata: {{name: p}}, \
         spec: {{resourceSelectors: [{kinds}], rules: [{{name: r, patch: {{type: Strategic, {patch}}}}}]}}}}"
    ))
}

const INGRESS: &str = "{apiVersion: networking.k8s.io/v1, kind: Ingress}";
const STATEFUL_SET: &str = "{apiVersion: apps/v1, kind: StatefulSet}";
const TRAIN: &str = "{apiVersion: apps.example.com/v1, kind: Train}";

#[track_caller]
fn revised(kinds: &str, patch: &str, object: &str) -> Done {
    Case::documents(&[policy(kinds, patch)]).revised_whole(&document(object).to_string()).unwrap()
}

fn faults(kinds: &str, patch: &str) -> Vec<String> {
    let found = super::findings(&[policy(kinds, patch)]);
    found.iter().map(|finding| finding.replacen("0 spec.rules[0].patch.", "", 1)).collect()
}

#[test]
fn rules_of_an_ingress_are_merged_by_host_and_paths_by_two_keys() {
    let ingress = "{apiVersion: networking.k8s.io/v1, kind: Ingress, metadata: {name: i}, spec: {rules: [\
                   {host: web, http: {paths: [{path: /, pathType: Prefix, backend: {service: {name: web}}}, {path: /x, pathType: Prefix}]}}, \
                   {host: api}]}}";
    let value = "value: {spec: {rules: [{host: web, http: {paths: [{path: /, pathType: Prefix, backend: {service: {name: canary}}}]}}]}}";
    let done = revised(
        INGRESS,
        &format!(
            "mergeKeys: [{{path: /spec/rules, key: host}}, {{path: '/spec/rules/*/http/paths', keys: [path, pathType]}}], {value}"
        ),
        ingress,
    );
    assert_eq!(
        done.patch,
        r#"[{"op":"replace","path":"/spec/rules/0/http/paths/0/backend/service/name","value":"canary"}]"#
    );
    assert_eq!(done.warnings, [""; 0]);
    // A list that is not declared is replaced. A warning reports lost items.
    let done = revised(INGRESS, &format!("mergeKeys: [{{path: /spec/rules, key: host}}], {value}"), ingress);
    assert_eq!(done.warnings.len(), 1, "{:?}", done.warnings);
    assert!(
        done.warnings[0].contains("/spec/rules/0/http/paths: the list is replaced as a whole, and 1 item is removed; declare `mergeKeys`"),
        "{:?}",
        done.warnings
    );
    let done = revised(INGRESS, value, ingress);
    assert!(done.warnings[0].contains("/spec/rules: the list is replaced as a whole, and 1 item is removed"));
}

#[test]
fn claims_are_merged_by_a_name_that_lies_deeper() {
    let object = |kind: &str, version: &str| {
        format!(
            "{{apiVersion: {version}, kind: {kind}, metadata: {{name: db}}, spec: {{volumeClaimTemplates: [{{metadata: {{name: wal}}, spec: {{volumeName: v}}}}, \
             {{metadata: {{name: data}}, spec: {{volumeName: w, storageClassName: standard}}}}]}}}}"
        )
    };
    let value = "value: {spec: {volumeClaimTemplates: [{metadata: {name: '${\"da\" + \"ta\"}'}, spec: {storageClassName: gp3}}]}}";
    for key in ["key: metadata.name", "key: /metadata/name", "keys: [metadata.name]"] {
        let patch = format!("mergeKeys: [{{path: /spec/volumeClaimTemplates, {key}}}], {value}");
        for (kind, object) in [
            (STATEFUL_SET, object("StatefulSet", "apps/v1")),
            (TRAIN, object("Train", "apps.example.com/v1")),
        ] {
            let done = revised(kind, &patch, &object);
            assert_eq!(
                done.patch,
                r#"[{"op":"replace","path":"/spec/volumeClaimTemplates/1/spec/storageClassName","value":"gp3"}]"#
            );
            assert_eq!(done.warnings, [""; 0]);
        }
    }
}

#[test]
fn a_list_that_no_selected_kind_has_is_refused_at_load() {
    let value = "value: {spec: {rules: [{host: a}], rule: [{host: a}]}}";
    for (kinds, path, fault) in [
        (
            INGRESS,
            "/spec/rule",
            "networking.k8s.io/v1 Ingress has no list or map at /spec/rule; did you mean \"rules\"?",
        ),
        (
            INGRESS,
            "/spec/tls/*/hosts",
            "the list at /spec/tls is replaced as a whole, and so are the lists in its items; declare its keys too",
        ),
        (
            INGRESS,
            "/spec/rules/0/http/paths",
            "there is a list at /spec/rules, and its items are the step `*`; write /spec/rules/*/…",
        ),
        (
            INGRESS,
            "/spec/ingressClassName",
            "networking.k8s.io/v1 Ingress has no list or map at /spec/ingressClassName",
        ),
        (
            INGRESS,
            "/metadata/finalizers",
            "networking.k8s.io/v1 Ingress has no list of maps at /metadata/finalizers that could be merged",
        ),
        (
            STATEFUL_SET,
            "/spec/template/spec/containers/*/args",
            "apps/v1 StatefulSet has no list of maps at ",
        ),
    ] {
        let found = faults(kinds, &format!("mergeKeys: [{{path: '{path}', key: host}}], {value}"));
        assert_eq!(found.len(), 1, "{found:#?}");
        assert!(found[0].starts_with(&format!("mergeKeys[0].path: {fault}")), "{found:#?}");
    }
    // It is enough that one of the kinds has the list.
    let both = format!("{STATEFUL_SET}, {INGRESS}");
    let patch = format!("mergeKeys: [{{path: /spec/rules, key: host}}], {value}");
    assert!(
        faults(STATEFUL_SET, &patch)[0].starts_with("mergeKeys[0].path: apps/v1 StatefulSet has no list")
    );
    let set = "{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: s}, spec: {}}";
    let warnings = revised(&both, &patch, set).warnings;
    assert!(!warnings.iter().any(|warning| warning.contains("mergeKeys")), "{warnings:?}");
}

#[test]
fn a_list_that_the_patch_does_not_have_is_refused_at_load() {
    let keys = |path: &str| format!("mergeKeys: [{{path: '{path}', key: id}}]");
    let missing = |path: &str, value: &str| {
        rule_faults(&format!("patch: {{type: Strategic, {}, value: {value}}}", keys(path)))
    };
    for (path, value) in [
        ("/spec/row", "{spec: {rows: [{id: 1}]}}"),
        ("/spec/rows", "{spec: {rows: null}}"),
        ("/spec/rows", "{spec: {rows: {id: '${replicas}'}}}"),
        ("/spec/rows/*/list", "{spec: {rows: [{id: 1, lists: []}]}}"),
    ] {
        let expected = format!(
            "patch.mergeKeys[0].path: the patch has no list at {path}; correct the path, or remove it"
        );
        assert_eq!(missing(path, value), [expected], "{value}");
    }
    let lacking = missing(
        "/spec/rows",
        "{spec: {rows: [{id: 1}, {x: 1}, {$patch: replace}, {id: null}, {id: '${1}'}, '${object}']}}",
    );
    assert_eq!(
        lacking,
        [
            "patch.value.spec.rows[1]: the list is merged by `id`, and this item has none; write it",
            "patch.value.spec.rows[3]: the list is merged by `id`, and this item has none; write it",
        ]
    );
    // The kind has a default for the key, or an expression or a directive may be about the list.
    for (kinds, patch) in [
        (
            "{apiVersion: v1, kind: Service}",
            "mergeKeys: [{path: /spec/ports, keys: [port, protocol]}], value: {spec: {ports: [{port: 80}]}}",
        ),
        (
            TRAIN,
            "mergeKeys: [{path: /spec/rows, key: id}], value: {spec: {$setElementOrder/rows: [{id: 1}]}}",
        ),
        (TRAIN, "mergeKeys: [{path: /spec/rows, key: id}], value: {spec: '${object.spec.patch}'}"),
        (TRAIN, "mergeKeys: [{path: /spec/rows, key: id}], value: '# nothing yet'"),
    ] {
        assert!(crate::policy::compile(&[policy(kinds, patch)]).is_ok(), "{patch}");
    }
}

#[test]
fn a_list_that_only_the_object_can_show_is_told_of_in_a_warning() {
    let patch = "mergeKeys: [{path: /spec/rows, key: id}], value: {spec: '${object.spec.patch}'}";
    let train = |spec: &str| {
        revised(
            TRAIN,
            patch,
            &format!("{{apiVersion: apps.example.com/v1, kind: Train, metadata: {{name: t}}, spec: {spec}}}"),
        )
    };
    let done = train("{patch: {raws: []}, row: [{id: 1}]}");
    assert_eq!(done.warnings.len(), 1);
    assert!(done.warnings[0].ends_with(": /spec/rows: `mergeKeys` names a list that neither the object nor the patch has; correct the path in the rule"));
    for spec in ["{patch: {rows: [{id: 1}]}}", "{patch: {x: 1}, rows: []}"] {
        assert_eq!(train(spec).warnings, [""; 0], "{spec}");
    }
    // The items of a list that is replaced are not merged.
    let inner = Case::rule(
        "patch: {type: Strategic, mergeKeys: [{path: '/spec/rows/*/list', key: id}], value: {spec: {rows: [{list: [{id: 1}]}]}}}",
    );
    assert_eq!(
        inner.refused("{rows: []}"),
        "/spec/rows: the list is replaced as a whole, so `mergeKeys` for /spec/rows/*/list has no effect; declare keys for /spec/rows too"
    );
}

#[test]
fn an_item_that_is_to_be_deleted_from_a_replaced_list_is_refused() {
    let rule = |items: &str| {
        Case::rule(&format!("patch: {{type: Strategic, value: {{spec: {{rows: [{items}]}}}}}}"))
    };
    let refusal = rule("{id: 1, $patch: delete}").refused("{rows: [{id: 1}, {id: 2}]}");
    assert!(refusal.starts_with("/spec/rows: the list is replaced as a whole, so `$patch: delete` in it deletes no item: declare `mergeKeys`"), "{refusal}");
    // For a built-in kind this is an error without an object.
    let tolerations =
        |items: &str| format!("value: {{spec: {{template: {{spec: {{tolerations: [{items}]}}}}}}}}");
    let item = "{key: '${cluster.name}', $patch: delete}";
    assert_eq!(
        faults(STATEFUL_SET, &tolerations(&format!("{{key: b}}, {item}"))),
        [
            "value.spec.template.spec.tolerations[1]: the list is replaced as a whole, so `$patch: delete` in it deletes no item: \
          declare `mergeKeys` for it or use a JSON patch, in a policy"
        ]
    );
    let declared =
        format!("mergeKeys: [{{path: /spec/template/spec/tolerations, key: key}}], {}", tolerations(item));
    for (kind, patch) in [
        (STATEFUL_SET, declared.as_str()),
        (STATEFUL_SET, "value: {spec: {template: {spec: {containers: [{name: a, $patch: delete}]}}}}"),
        (TRAIN, "value: {spec: {rows: [{id: 1, $patch: delete}]}}"),
    ] {
        assert!(crate::policy::compile(&[policy(kind, patch)]).is_ok(), "{patch}");
    }
    let done = rule("{$patch: replace}, {id: 3}").revised("{rows: [{id: 1}, {id: 2}]}").unwrap();
    assert_eq!((done.spec.as_str(), done.warnings.len()), (r#"{"rows":[{"id":3}]}"#, 0));
}

#[test]
fn ports_that_share_a_number_are_told_apart_by_their_protocol() {
    let pods = "{apiVersion: apps/v1, kind: Deployment, metadata: {name: d}, spec: {template: {spec: {containers: [{name: dns, \
                ports: [{containerPort: 53, protocol: UDP}, {containerPort: 53, protocol: TCP}]}]}}}}";
    let patch = |port: &str| {
        format!("value: {{spec: {{template: {{spec: {{containers: [{{name: dns, ports: [{port}]}}]}}}}}}}}")
    };
    let deployment = "{apiVersion: apps/v1, kind: Deployment}";
    assert_eq!(
        revised(deployment, &patch("{containerPort: 53, protocol: TCP, hostPort: 53}"), pods).patch,
        r#"[{"op":"add","path":"/spec/template/spec/containers/0/ports/1/hostPort","value":53}]"#
    );
    let refusal = Case::documents(&[policy(deployment, &patch("{containerPort: 53, hostPort: 53}"))])
        .revised_whole(&document(pods).to_string())
        .unwrap_err();
    assert!(refusal.contains("/ports: several items have the `containerPort` that the patch names, and it does not say which is meant: name `protocol` in the item of the patch too"), "{refusal}");
}

#[test]
fn what_is_wrong_with_the_keys_is_found_at_load() {
    let value = "value: {spec: {a: [{b: 1, c: 1}]}}";
    for (keys, finding) in [
        ("{path: /spec/a}", "patch.mergeKeys[0]: needs exactly one of key, keys"),
        ("{path: /spec/a, key: b, keys: [c]}", "patch.mergeKeys[0]: needs exactly one of key, keys"),
        ("{path: /spec/a, keys: []}", "patch.mergeKeys[0].keys: needs at least one item"),
        ("{path: /spec/a, keys: b}", "patch.mergeKeys[0].keys: must be a list, is a string"),
        ("{path: /spec/a, keys: [b, c, b]}", "patch.mergeKeys[0].keys[2]: \"b\" is there twice; remove one"),
        ("{path: /spec/a, key: 1}", "patch.mergeKeys[0].key: must be a string, is a number"),
        ("{path: /spec/a, key: ''}", "patch.mergeKeys[0].key: must not be empty"),
        (
            "{path: /spec/a, key: b..c}",
            "patch.mergeKeys[0].key: \"b..c\" has an empty name; write names with dots",
        ),
        ("{path: /spec/a, key: .b}", "patch.mergeKeys[0].key: \".b\" has an empty name"),
        ("{path: /spec/a, key: /b/}", "patch.mergeKeys[0].key: \"/b/\" has an empty name"),
        ("{path: /spec/a, key: /b~2}", "patch.mergeKeys[0].key: \"/b~2\" is no JSON pointer"),
        ("{path: spec.a, key: b}", "patch.mergeKeys[0].path: \"spec.a\" is no JSON pointer"),
        (
            "{path: /spec/a, key: b}, {path: /spec/a, key: c}",
            "patch.mergeKeys[1].path: /spec/a is declared twice; name all keys of a list in one `keys`",
        ),
        ("{path: /spec/a, key: b, kee: c}", "patch.mergeKeys[0].kee: unknown field"),
    ] {
        let found = rule_faults(&format!("patch: {{type: Strategic, {value}, mergeKeys: [{keys}]}}"));
        assert_eq!(found.len(), 1, "{keys}: {found:#?}");
        assert!(found[0].starts_with(finding), "{keys}: {found:#?}");
    }
}
