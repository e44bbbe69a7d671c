//! The action `env`.

use super::case::{Case, document, rule_faults};
use crate::json::Pointer;

/// The containers of a pod template after the rule.
#[track_caller]
fn containers(rule: &str, containers: &str) -> String {
    let spec = Case::rule(rule).spec(&format!("{{template: {{spec: {{containers: {containers}}}}}}}"));
    let inside = spec.strip_prefix(r#"{"template":{"spec":{"containers":"#);
    inside.unwrap_or_else(|| panic!("{spec}")).strip_suffix("}}}").unwrap().to_owned()
}

const SET: &str = "env: {name: A, value: '1'}";

#[test]
fn a_variable_is_replaced_in_its_place_and_a_new_one_comes_last() {
    for (before, after) in [
        ("[{name: c}]", r#"[{"name":"c","env":[{"name":"A","value":"1"}]}]"#),
        ("[{name: c, env: null}]", r#"[{"name":"c","env":[{"name":"A","value":"1"}]}]"#),
        (
            "[{name: c, env: [{name: B, value: b}], args: []}]",
            r#"[{"name":"c","env":[{"name":"B","value":"b"},{"name":"A","value":"1"}],"args":[]}]"#,
        ),
        (
            "[{name: c, env: [{name: A, value: old}, {name: B}]}]",
            r#"[{"name":"c","env":[{"name":"A","value":"1"},{"name":"B"}]}]"#,
        ),
        // If several variables have the name, each is replaced.
        (
            "[{name: c, env: [{name: A, value: x}, {name: B}, {name: A}]}]",
            r#"[{"name":"c","env":[{"name":"A","value":"1"},{"name":"B"},{"name":"A","value":"1"}]}]"#,
        ),
        // Other names and missing names are unchanged.
        (
            "[{name: c, env: [{name: a}, {name: 1}, x]}]",
            r#"[{"name":"c","env":[{"name":"a"},{"name":1},"x",{"name":"A","value":"1"}]}]"#,
        ),
    ] {
        assert_eq!(containers(SET, before), after, "{before}");
    }
    let unchanged = Case::rule(SET)
        .revised("{template: {spec: {containers: [{name: c, env: [{value: '1', name: A}]}]}}}")
        .unwrap();
    assert_eq!((unchanged.patch.as_str(), unchanged.applied.len()), ("[]", 0));
}

#[test]
fn a_variable_stands_before_those_that_refer_to_it() {
    let names = |rule: &str, env: &str| {
        let spec = format!("{{template: {{spec: {{containers: [{{name: c, env: {env}}}]}}}}}}");
        let done = Case::rule(rule).revised(&spec).unwrap();
        let spec = document(&done.spec);
        let containers = spec.at(&Pointer::parse("/template/spec/containers/0/env").unwrap()).unwrap();
        let names = containers.as_array().unwrap().iter().map(|it| it.get("name").unwrap().as_str().unwrap());
        (names.collect::<Vec<_>>().join(" "), done.warnings)
    };
    for (env, expected) in [
        ("[{name: HOST, value: db.$(A).svc}, {name: MODE, value: ro}]", "A HOST MODE"),
        ("[{name: MODE, value: ro}, {name: HOST, value: $(A)}, {name: URL, value: $(A)}]", "MODE A HOST URL"),
        // An escaped reference is not a reference, nor is a reference to another name.
        ("[{name: HOST, value: db.$$(A).svc}]", "HOST A"),
        ("[{name: HOST, value: $(AB)$(a)$A}]", "HOST A"),
        ("[{name: HOST, valueFrom: {fieldRef: {fieldPath: $(A)}}}]", "HOST A"),
        // An existing variable moves too.
        ("[{name: HOST, value: $(A)}, {name: MODE}, {name: A, value: x}]", "A HOST MODE"),
        ("[{name: A, value: x}, {name: HOST, value: $(A)}]", "A HOST"),
        ("[{name: A, value: x}, {name: HOST, value: $(A)}, {name: A, value: y}]", "A HOST A"),
    ] {
        assert_eq!(names(SET, env), (expected.to_owned(), vec![]), "{env}");
    }
    let own = "env: {name: A, value: 'in $(POD)'}";
    for (env, expected) in [
        ("[{name: POD}, {name: HOST, value: $(A)}]", "POD A HOST"),
        ("[{name: POD}, {name: HOST, value: $(A)}, {name: A}]", "POD A HOST"),
    ] {
        assert_eq!(names(own, env), (expected.to_owned(), vec![]), "{env}");
    }
    // No position is before one variable and after the other.
    for (rule, env, expected, place) in [
        (own, "[{name: HOST, value: $(A)}, {name: POD}]", "HOST POD A", "comes after it"),
        (own, "[{name: HOST, value: $(A)}, {name: POD}, {name: A}]", "HOST POD A", "comes after it"),
        (SET, "[{name: HOST, value: $(A)}, {name: A}, {name: A}]", "HOST A A", "comes after it"),
    ] {
        let (order, warnings) = names(rule, env);
        assert_eq!(order, expected, "{env}");
        assert_eq!(warnings.len(), 1, "{env}: {warnings:?}");
        assert!(
            warnings[0].contains("/spec/template/spec/containers/0/env/0: refers to $(A)")
                && warnings[0].contains(place),
            "{warnings:?}"
        );
    }
}

#[test]
fn another_action_that_puts_a_variable_behind_its_users_is_a_warning() {
    let spec = "{template: {spec: {containers: [{name: c, env: [{name: HOST, value: $(A)}, {name: OLD, value: $(LATE)}, {name: LATE, value: x}]}]}}}";
    let add = Case::rule(
        "patch: {type: JSON, value: [{op: add, path: /spec/template/spec/containers/0/env/-, value: {name: A, value: x}}]}",
    );
    assert_eq!(
        add.revised(spec).unwrap().warnings,
        [
            "cluster \"x\": /spec/template/spec/containers/0/env/0: refers to $(A), which comes after it and is not expanded here; put A before it"
        ]
    );
    let first = Case::rule(
        "patch: {type: JSON, value: [{op: add, path: /spec/template/spec/containers/0/env/0, value: {name: A, value: x}}]}",
    );
    assert_eq!(first.revised(spec).unwrap().warnings, [""; 0]);
}

#[test]
fn value_and_value_from_exclude_each_other() {
    let from = "env: {name: A, valueFrom: {fieldRef: {fieldPath: \"${'spec.' + object.spec.field}\"}}}";
    let spec = "{field: nodeName, template: {spec: {containers: [{name: c, env: [{name: A, value: x}]}]}}}";
    assert_eq!(
        Case::rule(from).spec(spec),
        r#"{"field":"nodeName","template":{"spec":{"containers":[{"name":"c","env":[{"name":"A","valueFrom":{"fieldRef":{"fieldPath":"spec.nodeName"}}}]}]}}}"#
    );
    assert_eq!(
        containers(SET, "[{name: c, env: [{name: A, valueFrom: {fieldRef: {fieldPath: x}}}]}]"),
        r#"[{"name":"c","env":[{"name":"A","value":"1"}]}]"#
    );
    let whole = Case::rule("env: {name: A, valueFrom: '${object.spec.from}'}");
    let template = "template: {spec: {containers: [{name: c}]}}";
    assert!(whole.spec(&format!("{{from: {{a: 1}}, {template}}}")).contains(r#""valueFrom":{"a":1}"#));
    assert_eq!(
        whole.refused(&format!("{{from: text, {template}}}")),
        "`env.valueFrom` must give a map, and gave a string; change the expression in the rule"
    );
}

#[test]
fn a_value_is_a_text_whatever_the_expression_gives() {
    let value = |expression: &str| {
        let rule = format!("env: {{name: A, value: \"{expression}\"}}");
        containers(&rule, "[{name: c}]")
            .replace(r#"[{"name":"c","env":[{"name":"A","value":"#, "")
            .replace("}]}]", "")
    };
    for (expression, expected) in [
        ("${cluster.name}", r#""x""#),
        ("${replicas}", r#""3""#),
        ("${replicas > 1}", r#""true""#),
        ("in ${cluster.name} of ${binding.replicas}", r#""in x of 4""#),
        ("$${HOME}", r#""${HOME}""#),
        ("", r#""""#),
    ] {
        assert_eq!(value(expression), expected, "{expression}");
    }
    let null = Case::rule("env: {name: A, value: '${object.spec.absent}'}");
    let refusal = null.refused("{absent: null, template: {spec: {containers: [{name: c}]}}}");
    assert!(refusal.starts_with("`env.value` must give a string, and gave null"), "{refusal}");
}

#[test]
fn it_is_for_all_containers_or_the_named_ones_and_init_containers_if_asked() {
    let spec = |init: &str, containers: &str| {
        format!(r#"{{"template":{{"spec":{{"initContainers":[{init}],"containers":[{containers}]}}}}}}"#)
    };
    let plain = |name: &str| format!(r#"{{"name":"{name}"}}"#);
    let set = |name: &str| format!(r#"{{"name":"{name}","env":[{{"name":"A","value":"1"}}]}}"#);
    let before = spec(&plain("i"), &[plain("a"), plain("b")].join(","));
    for (which, after) in [
        ("", spec(&plain("i"), &[set("a"), set("b")].join(","))),
        (", containers: [b]", spec(&plain("i"), &[plain("a"), set("b")].join(","))),
        (", containers: []", spec(&plain("i"), &[set("a"), set("b")].join(","))),
        (", initContainers: true", spec(&set("i"), &[set("a"), set("b")].join(","))),
        (", initContainers: true, containers: [i, a]", spec(&set("i"), &[set("a"), plain("b")].join(","))),
        (", initContainers: false", spec(&plain("i"), &[set("a"), set("b")].join(","))),
    ] {
        let case = Case::rule(&format!("env: {{name: A, value: '1'{which}}}"));
        assert_eq!(case.spec(&before), after, "{which}");
    }
    let absent = Case::rule("env: {name: A, value: '1', containers: [a, i]}");
    assert_eq!(
        absent.refused(&before),
        r#"/spec/template/spec: has no container "i"; name a container that exists, or use `onError: Skip`"#
    );
    assert!(absent.refused("{}").starts_with("/spec/template/spec: has no container \"a\""));
    // Without names, no container is required.
    for nothing in [
        "{}",
        "{template: null}",
        "{template: {spec: {containers: null}}}",
        "{template: {spec: {containers: []}}}",
    ] {
        assert_eq!(Case::rule(SET).revised(nothing).unwrap().patch, "[]", "{nothing}");
    }
}

#[test]
fn remove_takes_each_of_that_name_and_leaves_the_list() {
    let remove = "env: {name: A, remove: true}";
    for (before, after) in [
        ("[{name: c}]", r#"[{"name":"c"}]"#),
        ("[{name: c, env: [{name: B}]}]", r#"[{"name":"c","env":[{"name":"B"}]}]"#),
        (
            "[{name: c, env: [{name: A}, {name: B}, {name: A, value: x}]}]",
            r#"[{"name":"c","env":[{"name":"B"}]}]"#,
        ),
        ("[{name: c, env: [{name: A}]}]", r#"[{"name":"c","env":[]}]"#),
    ] {
        assert_eq!(containers(remove, before), after, "{before}");
    }
}

#[test]
fn what_is_no_list_of_containers_or_variables_is_refused_with_its_place() {
    for (spec, refusal) in [
        (
            "{template: {spec: {containers: {}}}}",
            "/spec/template/spec/containers: must be a list of containers, is a map",
        ),
        (
            "{template: {spec: {containers: [c]}}}",
            "/spec/template/spec/containers/0: must be a container, is a string",
        ),
        (
            "{template: {spec: {containers: [{name: c}, {name: d, env: {A: x}}]}}}",
            "/spec/template/spec/containers/1/env: must be a list of environment variables, is a map",
        ),
        ("{template: {spec: x}}", "/spec/template/spec: must be a map, is a string"),
    ] {
        let found = Case::rule(SET).refused(spec);
        assert!(found.starts_with(refusal), "{found}");
    }
}

#[test]
fn the_pod_template_is_where_the_kind_has_it() {
    let object = |api_version: &str, kind: &str, rest: &str| {
        super::case::document(&format!(
            "{{apiVersion: {api_version}, kind: {kind}, metadata: {{name: web, namespace: s}}, {rest}}}"
        ))
        .to_string()
    };
    let policy = super::case::document(
        r#"{apiVersion: reviser.io/v1alpha1, kind: ClusterRevisionPolicy, metadata: {name: p}, spec: {
            resourceSelectors: [{apiVersion: v1, kind: Pod}, {apiVersion: v1, kind: PodTemplate}, {apiVersion: batch/v1, kind: CronJob},
              {apiVersion: apps/v1, kind: DaemonSet}, {apiVersion: multicluster.admiralty.io/v1alpha1, kind: PodChaperon}, {apiVersion: a/v1, kind: Odd}],
            rules: [{name: r, env: {name: A, value: "1"}}]}}"#,
    );
    let interpretation = super::case::document(
        "{apiVersion: reviser.io/v1alpha1, kind: ResourceInterpretation, metadata: {name: i}, spec: {
            target: {apiVersion: a/v1, kind: Odd}, replicaResource: {podTemplate: /spec/worker/pod}}}",
    );
    let case = Case::documents(&[policy, interpretation]);
    let containers = "{spec: {containers: [{name: c}]}}";
    let inside = "spec: {containers: [{name: c}]}";
    for (object, place) in [
        (object("v1", "Pod", inside), "/spec"),
        (object("multicluster.admiralty.io/v1alpha1", "PodChaperon", inside), "/spec"),
        (object("v1", "PodTemplate", &format!("template: {containers}")), "/template/spec"),
        (
            object(
                "batch/v1",
                "CronJob",
                &format!("spec: {{jobTemplate: {{spec: {{template: {containers}}}}}}}"),
            ),
            "/spec/jobTemplate/spec/template/spec",
        ),
        (object("apps/v1", "DaemonSet", &format!("spec: {{template: {containers}}}")), "/spec/template/spec"),
        (
            object(
                "a/v1",
                "Odd",
                &format!("spec: {{template: {containers}, worker: {{pod: {containers}}}}}"),
            ),
            "/spec/worker/pod/spec",
        ),
    ] {
        assert_eq!(
            case.revised_whole(&object).unwrap().patch,
            format!(
                r#"[{{"op":"add","path":"{place}/containers/0/env","value":[{{"name":"A","value":"1"}}]}}]"#
            )
        );
    }
}

#[test]
fn what_is_wrong_with_it_is_found_at_load() {
    for (env, finding) in [
        ("{value: x}", "env.name: is required"),
        ("{name: ''}", "env.name: must not be empty"),
        (
            "{name: A=B, value: x}",
            "env.name: is the name of an environment variable, without `=` and expressions",
        ),
        ("{name: '${cluster.name}', value: x}", "env.name: is the name of an environment variable"),
        ("{name: A}", "env: needs exactly one of value, valueFrom, remove"),
        ("{name: A, value: x, remove: true}", "env: needs exactly one of value, valueFrom, remove"),
        ("{name: A, remove: false}", "env.remove: only `true` says something; leave it out"),
        ("{name: A, value: 5}", "env.value: must be a string, is a number"),
        ("{name: A, value: '${[1]}'}", "env.value: must give a string, and gives a list"),
        ("{name: A, valueFrom: x}", "env.valueFrom: must be a map, is a string"),
        ("{name: A, value: '${clutser.name}'}", "env.value: line 1, column 3 of the text: "),
        ("{name: A, value: x, containers: c}", "env.containers: must be a list, is a string"),
        ("{name: A, value: x, containers: ['']}", "env.containers[0]: must not be empty"),
        (
            "{name: A, value: x, initContainers: some}",
            "env.initContainers: must be true or false, is a string",
        ),
        ("{name: A, valeu: x}", "env: needs exactly one of value, valueFrom, remove"),
    ] {
        let found = rule_faults(&format!("env: {env}"));
        assert!(found.iter().any(|found| found.starts_with(finding)), "{env}: {found:#?}");
    }
}
