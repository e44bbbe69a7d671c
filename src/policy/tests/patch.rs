//! The action `patch`.

use super::case::{Case, rule_faults};

#[track_caller]
fn patched(patch: &str, spec: &str) -> String {
    Case::rule(&format!("patch: {{{patch}}}")).spec(spec)
}

#[test]
fn a_strategic_patch_merges_pod_templates_of_custom_kinds_as_those_of_pods() {
    assert_eq!(
        patched(
            "type: Strategic, value: {spec: {template: {spec: {containers: [{name: b, image: new}, {name: d}], nodeSelector: {zone: '${cluster.name}'}}}, list: [2]}}",
            "{template: {spec: {containers: [{name: a}, {image: old, name: b, args: [1]}]}}, list: [1], other: 1.0}",
        ),
        r#"{"template":{"spec":{"containers":[{"name":"a"},{"image":"new","name":"b","args":[1]},{"name":"d"}],"nodeSelector":{"zone":"x"}}},"list":[2],"other":1.0}"#
    );
    let spec = "{parts: [{id: 1, a: x}, {id: 2}], deep: [{id: q, list: [{k: 1}]}]}";
    let patch = "value: {spec: {parts: [{id: 2, a: '${replicas}'}, {$patch: delete, id: 1}]}}";
    assert_eq!(
        patched(&format!("type: Strategic, mergeKeys: [{{path: /spec/parts, key: id}}], {patch}"), spec),
        r#"{"parts":[{"id":2,"a":3}],"deep":[{"id":"q","list":[{"k":1}]}]}"#
    );
    let deep = "type: Strategic, mergeKeys: [{path: /spec/deep, key: id}, {path: '/spec/deep/*/list', key: k}], \
                value: {spec: {deep: [{id: q, list: [{k: 2}]}]}}";
    assert!(
        patched(deep, spec).contains(r#""list":[{"k":2},{"k":1}]"#)
            || patched(deep, spec).contains(r#""list":[{"k":1},{"k":2}]"#)
    );
}

#[test]
fn a_merge_patch_replaces_lists_and_a_null_removes() {
    assert_eq!(
        patched(
            "type: Merge, value: {spec: {list: [9], gone: null, map: {b: '${binding.clusters.size()}'}}}",
            "{list: [1, 2], gone: 1, map: {a: 1}, untouched: [1e2, null]}",
        ),
        r#"{"list":[9],"map":{"a":1,"b":2},"untouched":[1e2,null]}"#
    );
    // A null from an expression removes the field too.
    assert_eq!(patched("type: Merge, value: {spec: {a: '${null}', b: 1}}", "{a: 1}"), r#"{"b":1}"#);
}

#[test]
fn a_json_patch_says_what_becomes_of_a_missing_path() {
    let operations = "value: [{op: add, path: /spec/a/b, value: '${replicas}'}, {op: replace, path: /spec/c, value: 2}, {op: remove, path: /spec/d}]";
    let patch = |missing: &str| format!("type: JSON, {missing}{operations}");
    let whole = "{a: {}, c: 1, d: 1}";
    for missing in ["", "missingPath: Fail, ", "missingPath: Create, ", "missingPath: Skip, "] {
        assert_eq!(patched(&patch(missing), whole), r#"{"a":{"b":3},"c":2}"#, "{missing}");
    }
    let refusal = Case::rule(&format!("patch: {{{}}}", patch(""))).refused("{c: 1, d: 1}");
    assert!(refusal.starts_with("/spec/a") && refusal.contains("(operation 0)"), "{refusal}");
    assert_eq!(patched(&patch("missingPath: Create, "), "{d: 1}"), r#"{"a":{"b":3},"c":2}"#);
    assert_eq!(patched(&patch("missingPath: Skip, "), "{c: 1}"), r#"{"c":2}"#);
    let more = "type: JSON, value: [{op: test, path: /spec/a, value: 1}, {op: copy, from: /spec/a, path: '/spec/x~1y'}, {op: move, from: /spec/l/1, path: /spec/l/0}]";
    assert_eq!(patched(more, "{a: 1, l: [1, 2]}"), r#"{"a":1,"l":[2,1],"x/y":1}"#);
    let refusal = Case::rule(&format!("patch: {{{more}}}")).refused("{a: 2, l: [1, 2]}");
    assert!(refusal.contains("(operation 0)"), "{refusal}");
}

#[test]
fn a_path_may_hold_expressions() {
    let patch =
        "type: JSON, missingPath: Create, value: [{op: add, path: '/spec/by/${cluster.name}', value: 1}]";
    assert_eq!(patched(patch, "{}"), r#"{"by":{"x":1}}"#);
}

#[test]
fn the_value_may_be_yaml_in_a_string() {
    for kind in ["Strategic", "Merge"] {
        let rule = format!(
            "patch: {{type: {kind}, value: \"# a comment\\nspec:\\n  zone: ${{cluster.name}}\\n  m: 0x10\\n\"}}"
        );
        assert_eq!(Case::rule(&rule).spec("{a: 1}"), r#"{"a":1,"zone":"x","m":16}"#, "{kind}");
    }
    let json = r#"type: JSON, value: '[{"op":"add","path":"/spec/n","value":1.50}]'"#;
    assert_eq!(patched(json, "{}"), r#"{"n":1.50}"#);
}

/// As in the proposal of Admiralty's transformations, whose patch contains only comments.
#[test]
fn a_patch_of_comments_only_changes_nothing() {
    for kind in ["Strategic", "Merge", "JSON"] {
        for value in ["\"# user can define a patch here\"", "''", "null", "'null'", "'---'"] {
            let done =
                Case::rule(&format!("patch: {{type: {kind}, value: {value}}}")).revised("{a: 1}").unwrap();
            assert_eq!((done.patch.as_str(), done.applied.len()), ("[]", 0), "{kind} {value}");
        }
    }
    for (kind, empty) in [("Strategic", "{}"), ("Merge", "{}"), ("JSON", "[]")] {
        assert_eq!(
            Case::rule(&format!("patch: {{type: {kind}, value: {empty}}}")).revised("{a: 1}").unwrap().patch,
            "[]"
        );
    }
}

/// A string that is one expression is the patch, and not YAML.
#[test]
fn the_whole_value_may_be_one_expression() {
    let whole = r#"value: "${ {'spec': {'zone': cluster.name, 'n': replicas}} }""#;
    for kind in ["Strategic", "Merge"] {
        assert_eq!(
            patched(&format!("type: {kind}, {whole}"), "{a: 1}"),
            r#"{"a":1,"zone":"x","n":3}"#,
            "{kind}"
        );
        let kept = format!("type: {kind}, value: '${{object.spec.patch}}'");
        assert_eq!(patched(&kept, "{patch: {spec: {b: 1}}}"), r#"{"patch":{"spec":{"b":1}},"b":1}"#);
        // If the field is missing, nothing changes.
        assert_eq!(patched(&kept, "{patch: null}"), r#"{"patch":null}"#);
    }
    let list = r#"type: JSON, value: "${[{'op': 'add', 'path': '/spec/b', 'value': replicas}]}""#;
    assert_eq!(patched(list, "{}"), r#"{"b":3}"#);
    let refused = |kind: &str, patch: &str| {
        Case::rule(&format!("patch: {{type: {kind}, value: '${{object.spec.patch}}'}}"))
            .refused(&format!("{{patch: {patch}}}"))
    };
    assert!(refused("Strategic", "[1]").starts_with("patch.value: a strategic merge patch is a map"));
    assert!(refused("Strategic", "{spec: {$patch: odd}}").starts_with("patch.value/spec/$patch: "));
    assert!(
        refused("Merge", "[1]").starts_with("patch.value: must be a map, is a list"),
        "{}",
        refused("Merge", "[1]")
    );
    assert!(refused("JSON", "{a: 1}").starts_with("patch.value: "), "{}", refused("JSON", "{a: 1}"));
}

#[test]
fn what_does_not_fit_the_object_is_refused_with_the_place() {
    for (patch, spec, refusal) in [
        (
            "type: Strategic, value: {spec: {template: {spec: {containers: [{image: x}]}}}}",
            "{template: {spec: {containers: []}}}",
            "/spec/template/spec/containers: ",
        ),
        ("type: JSON, value: [{op: remove, path: /spec/l/7}]", "{l: [1]}", "/spec/l/7: "),
    ] {
        let found = Case::rule(&format!("patch: {{{patch}}}")).refused(spec);
        assert!(
            found.starts_with(refusal) && found.ends_with("; change the object, or the patch in the rule"),
            "{found}"
        );
    }
}

#[test]
fn what_is_wrong_with_it_is_found_at_load() {
    for (patch, finding) in [
        ("{value: {}}", "patch.type: is required"),
        ("{type: Strategic}", "patch.value: is required"),
        (
            "{type: strategic, value: {}}",
            "patch.type: \"strategic\" is not one of Strategic, Merge, JSON; did you mean \"Strategic\"?",
        ),
        ("{type: Merge, value: [1]}", "patch.value: must be a map, is a list"),
        ("{type: Merge, value: 'a: [1'}", "patch.value: is no YAML: "),
        (
            "{type: Merge, value: \"a: 1\\n---\\nb: 1\"}",
            "patch.value: holds 2 YAML documents, and a patch is one",
        ),
        ("{type: Merge, value: {}, missingPath: Skip}", "patch.missingPath: is for the type JSON"),
        ("{type: JSON, value: [], mergeKeys: []}", "patch.mergeKeys: is for the type Strategic"),
        ("{type: JSON, value: {}}", "patch.value: "),
        ("{type: JSON, value: [{op: put, path: /a}]}", "patch.value[0].op: "),
        ("{type: JSON, value: [{op: add, path: a, value: 1}]}", "patch.value[0].path: "),
        (
            "{type: JSON, value: [], missingPath: Ignore}",
            "patch.missingPath: \"Ignore\" is not one of Fail, Create, Skip",
        ),
        ("{type: Strategic, value: {spec: {$patch: odd}}}", "patch.value.spec[\"$patch\"]: "),
        (
            "{type: Strategic, value: {}, mergeKeys: [{path: /a}]}",
            "patch.mergeKeys[0]: needs exactly one of ",
        ),
        ("{type: Merge, value: {spec: '${replica}'}}", "patch.value.spec: line 1, column 3 of the text: "),
        ("{type: Merge, value: '${[1]}'}", "patch.value: must give a map, and gives a list"),
        ("{type: JSON, value: '${{}}'}", "patch.value: must give a list, and gives a map"),
        ("{type: Strategic, value: '${1}'}", "patch.value: must give a map, and gives a number"),
    ] {
        let found = rule_faults(&format!("patch: {patch}"));
        assert!(found.iter().any(|found| found.starts_with(finding)), "{patch}: {found:#?}");
    }
}

/// Also for custom resources: the API server parses the document, but not the text in it.
#[test]
fn keys_of_a_text_that_are_read_as_booleans_are_found() {
    for (text, finding) in [
        (
            r#""metadata: {labels: {n: a}}""#,
            "patch.value.metadata.labels.false: `n` is read as false; put it in quotes",
        ),
        (r#""spec: {On: a}""#, "patch.value.spec.true: `On` is read as true; put it in quotes"),
        (r#""spec: [{a: 1, 0755: b}]""#, "patch.value.spec[0][493]: `0755` is read as 493; put it in quotes"),
    ] {
        let found = rule_faults(&format!("patch: {{type: Merge, value: {text}}}"));
        assert_eq!(found, [finding], "{text}");
    }
    for text in [r#""spec: {'n': a, \"y\": b}""#, r#""spec: {a: yes}""#] {
        Case::rule(&format!("patch: {{type: Merge, value: {text}}}"));
    }
}

#[test]
fn a_name_holds_no_expression() {
    for (patch, place) in [
        (
            "type: Merge, value: {metadata: {labels: {'${cluster.name}': x}}}",
            "value.metadata.labels[\"${cluster.name}\"]: ",
        ),
        (
            "type: Strategic, value: {spec: {a: [{'x-${replicas}': 1}]}}",
            "value.spec.a[0][\"x-${replicas}\"]: ",
        ),
        (
            "type: JSON, value: [{op: add, path: /spec/a, value: {'${cluster.name}': 1}}]",
            "value[0].value[\"${cluster.name}\"]: ",
        ),
    ] {
        let found = super::case::rule_faults(&format!("patch: {{{patch}}}"));
        let expected = format!("patch.{place}names hold no expressions");
        assert!(found.iter().any(|found| found.starts_with(&expected)), "{patch}: {found:#?}");
    }
    super::case::Case::rule("patch: {type: Merge, value: {spec: '${{cluster.name: 1}}'}}");
}
