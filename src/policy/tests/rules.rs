//! Fields of rules other than the action (`targetCluster`, `when`, `variables`, `onError`), and allocations
//! in expressions.

use super::case::{Case, faults, rule_faults};

const CONTAINER: &str = "template: {spec: {containers: [{name: c}]}}";

/// A rule that sets `field` of the spec.
fn set(field: &str, value: &str) -> String {
    format!("patch: {{type: Merge, value: {{spec: {{{field}: {value}}}}}}}")
}

#[test]
fn rules_apply_in_order_and_see_what_the_ones_before_them_did() {
    let case = Case::policy(
        "rules:
- {name: one, patch: {type: Merge, value: {spec: {m: '${object.spec.m + 1}'}}}}
- {name: two, when: object.spec.m == 2, patch: {type: Merge, value: {spec: {m: '${object.spec.m * 10}'}}}}
- {name: three, when: object.spec.m == 2, patch: {type: Merge, value: {spec: {three: true}}}}",
    );
    let done = case.revised("{m: 1}").unwrap();
    assert_eq!((done.spec.as_str(), done.applied), (r#"{"m":20}"#, vec!["one".to_owned(), "two".to_owned()]));
}

#[test]
fn a_condition_is_a_boolean_and_an_error_in_it_is_one_of_the_rule() {
    let when = |when: &str| Case::rule(&format!("when: '{when}', {}", set("done", "1")));
    assert_eq!(when("replicas > 2").spec("{}"), r#"{"done":1}"#);
    assert_eq!(when("replicas > 3").spec("{}"), "{}");
    assert_eq!(when("has(object.spec.a) && object.spec.a").spec("{}"), "{}");
    let refusal = when("object.spec.missing == 1").revised("{}").unwrap_err();
    assert!(refusal.starts_with(r#"422 ClusterRevisionPolicy/p rule "r" cluster "x": "#), "{refusal}");
    assert!(refusal.contains("object.spec.missing"), "{refusal}");
    assert!(
        when("object.spec.a").refused("{a: text}").contains("boolean"),
        "{}",
        when("object.spec.a").refused("{a: text}")
    );
    assert!(when("replicas > 2").without_schedule().revised("{}").unwrap_err().starts_with("503 "));
    for (when, finding) in [
        ("'replicas >'", "when: "),
        ("true", "when: must be a string, is a boolean"),
        ("''", "when: must not be empty"),
        ("\"'yes'\"", "when: "),
    ] {
        let found = rule_faults(&format!("when: {when}, {}", set("a", "1")));
        assert!(found[0].starts_with(finding), "{when}: {found:#?}");
    }
}

/// The sum does not overflow. Karmada never schedules this many replicas.
#[test]
fn the_sum_of_the_replicas_is_one_of_64_bits() {
    let huge = Case::rule(&set("sum", "'${binding.replicas}'")).schedule(&[("x", i64::MAX), ("z", i64::MAX)]);
    assert_eq!(huge.spec("{}"), r#"{"sum":9223372036854775807}"#);
    let divided = Case::rule("divide: {path: /spec/parts}").schedule(&[("x", i64::MAX), ("z", i64::MAX)]);
    assert_eq!(divided.spec("{parts: 3}"), r#"{"parts":2}"#);
}

#[test]
fn variables_see_the_ones_before_them_and_the_object_as_the_policy_found_it() {
    let case = Case::policy(
        "variables:
- {name: m, expression: object.spec.m}
- {name: twice, expression: variables.m * 2}
- {name: bad, expression: object.spec.missing}
rules:
- {name: one, patch: {type: Merge, value: {spec: {m: 100}}}}
- {name: two, patch: {type: Merge, value: {spec: {twice: '${variables.twice}', now: '${object.spec.m}'}}}}",
    );
    assert_eq!(case.spec("{m: 4}"), r#"{"m":100,"twice":8,"now":100}"#);
    // A variable that is not read is not evaluated. The error of a variable is an error of the rule that
    // reads it.
    let reads = Case::policy(
        "variables:
- {name: bad, expression: object.spec.missing}
rules:
- {name: one, patch: {type: Merge, value: {spec: {a: '${variables.bad}'}}}}",
    );
    let refusal = reads.refused("{}");
    assert!(refusal.starts_with("variables.bad: ") && refusal.contains("object.spec.missing"), "{refusal}");
    for (variables, finding) in [
        ("[{name: a, expression: variables.b}, {name: b, expression: '1'}]", "variables[0].expression: "),
        (
            "[{name: a, expression: '1'}, {name: a, expression: '2'}]",
            "variables[1].name: \"a\" is the name of an earlier variable",
        ),
        ("[{name: 1a, expression: '1'}]", "variables[0].name: \"1a\" can't be written in an expression"),
        ("[{name: a}]", "variables[0]: needs exactly one of expression, values, and has none"),
        ("[{name: a, expression: 1}]", "variables[0].expression: must be a string, is a number"),
    ] {
        let found = faults(&format!("variables: {variables}\nrules: [{{name: r, {}}}]", set("a", "1")));
        assert!(found[0].starts_with(finding), "{variables}: {found:#?}");
    }
}

/// Each policy starts with the object after the previous policy.
#[test]
fn the_variables_of_a_policy_are_its_own() {
    let policy = |name: &str, priority: i64, spec: &str| {
        super::case::document(&format!(
            "{{apiVersion: reviser.io/v1alpha1, kind: ClusterRevisionPolicy, metadata: {{name: {name}}}, spec: {{priority: {priority},
              resourceSelectors: [{{apiVersion: apps.example.com/v1, kind: Train}}], {spec}}}}}"
        ))
    };
    let counting = "variables: [{name: v, expression: object.spec.m + 1}], rules: [{name: r, patch: {type: Merge, value: {spec: {m: '${variables.v}'}}}}, {name: s, patch: {type: Merge, value: {spec: {k: '${variables.v}'}}}}]";
    let case = Case::documents(&[policy("late", 1, counting), policy("early", 0, counting)]);
    assert_eq!(case.spec("{m: 1}"), r#"{"m":3,"k":3}"#);
    let foreign =
        policy("other", 2, "rules: [{name: r, when: variables.v == 1, patch: {type: Merge, value: {}}}]");
    let found = super::findings(&[policy("early", 0, counting), foreign]);
    assert!(found[0].starts_with("1 spec.rules[0].when: "), "{found:#?}");
}

#[test]
fn a_rule_that_is_skipped_is_undone_as_a_whole() {
    let case = Case::policy(
        "variables:
- {name: m, expression: size(object.spec)}
rules:
- {name: first, patch: {type: Merge, value: {spec: {first: '${variables.m}'}}}}
- {name: fails, onError: Skip, env: {name: A, value: x, containers: [c, absent]}}
- {name: sees, patch: {type: Merge, value: {spec: {sees: '${has(object.spec.template.spec.containers[0].env)}', m: '${size(object.spec)}'}}}}",
    );
    let done = case.revised(&format!("{{{CONTAINER}}}")).unwrap();
    assert_eq!(
        done.spec,
        r#"{"template":{"spec":{"containers":[{"name":"c"}]}},"first":1,"sees":false,"m":2}"#
    );
    assert_eq!(done.applied, ["first", "sees"]);
    assert_eq!(
        done.skipped,
        [
            r#"ClusterRevisionPolicy/p rule "fails" cluster "x": /spec/template/spec: has no container "absent"; name a container that exists, or use `onError: Skip`"#
        ]
    );
}

#[test]
fn skip_covers_condition_expressions_and_patch_and_nothing_that_others_could_tell() {
    let skipping = |rule: &str| Case::rule(&format!("onError: Skip, {rule}"));
    for rule in [
        format!("when: object.spec.missing == 1, {}", set("a", "1")),
        set("a", "'${object.spec.missing}'"),
        set("a", "'${1 / (replicas - 3)}'"),
        "patch: {type: JSON, value: [{op: remove, path: /spec/missing}]}".to_owned(),
        "image: {tag: v1, containers: [missing]}".to_owned(),
        "divide: {path: /spec/text}".to_owned(),
    ] {
        let done = skipping(&rule).revised("{text: x}").unwrap();
        assert_eq!((done.patch.as_str(), done.skipped.len()), ("[]", 1), "{rule}");
    }
    // Missing data is not an error of the rule. The request must fail instead of being served without the
    // rule.
    for rule in [
        "divide: {path: /spec/m}".to_owned(),
        set("a", "'${replicas}'"),
        set("a", "'${cluster.region}'"),
        set("a", "'${original.spec}'"),
        format!("targetCluster: {{labelSelector: {{matchLabels: {{a: b}}}}}}, {}", set("a", "1")),
    ] {
        let refusal = skipping(&rule).without_schedule().revised("{m: 1}").unwrap_err();
        assert!(refusal.starts_with("503 "), "{rule}: {refusal}");
    }
    // The same for protected fields.
    let limits = skipping("patch: {type: Merge, value: {metadata: {annotations: '${object.spec.a}'}}}");
    let refusal = limits.revised("{a: {work.karmada.io/x: '1'}}").unwrap_err();
    assert!(
        refusal.contains(
            "rule \"r\" cluster \"x\": /metadata/annotations/work.karmada.io~1x: belongs to the platform"
        ),
        "{refusal}"
    );
    let found = faults(
        "allocations: [{name: fort}]\nrules: [{name: r, onError: Skip, fort: {allocation: fort, steps: /spec/s, field: /f}}]",
    );
    assert_eq!(
        found,
        ["rules[0].onError: a fort that is skipped would run everywhere; `fort` takes only Fail"]
    );
    assert!(
        rule_faults(&format!("onError: Ignore, {}", set("a", "1")))[0]
            .starts_with("onError: \"Ignore\" is not one of Fail, Skip")
    );
}

#[test]
fn a_cluster_is_selected_by_name_labels_and_fields() {
    let included = |target: &str| {
        let case = Case::rule(&format!("targetCluster: {{{target}}}, {}", set("yes", "1"))).known(
            &[("tier", "gold")],
            [Some("aws"), None],
            &["x1", "x2"],
        );
        case.spec("{}") != "{}"
    };
    for (target, expected) in [
        ("", true),
        ("clusterNames: [x]", true),
        ("clusterNames: ['y', 'x*']", true),
        ("clusterNames: ['y']", false),
        ("clusterNames: ['?']", true),
        ("exclude: [x]", false),
        ("exclude: ['x?']", true),
        ("clusterNames: ['*'], exclude: ['*']", false),
        ("labelSelector: {}", true),
        ("labelSelector: {matchLabels: {tier: gold}}", true),
        ("labelSelector: {matchLabels: {tier: silver}}", false),
        (
            "labelSelector: {matchExpressions: [{key: tier, operator: Exists}, {key: gone, operator: DoesNotExist}]}",
            true,
        ),
        ("labelSelector: {matchExpressions: [{key: tier, operator: NotIn, values: [gold]}]}", false),
        ("fieldSelector: {matchExpressions: [{key: provider, operator: In, values: [aws, gcp]}]}", true),
        ("fieldSelector: {matchExpressions: [{key: region, operator: In, values: [eu]}]}", false),
        ("fieldSelector: {matchExpressions: [{key: region, operator: NotIn, values: [eu]}]}", true),
        ("fieldSelector: {matchExpressions: [{key: zone, operator: In, values: [x1, x2, x3]}]}", true),
        ("fieldSelector: {matchExpressions: [{key: zone, operator: In, values: [x1]}]}", false),
        ("clusterNames: [x], labelSelector: {matchLabels: {tier: silver}}", false),
    ] {
        assert_eq!(included(target), expected, "{target}");
    }
    for (target, finding) in [
        ("clusterName: [x]", "targetCluster.clusterName: unknown field; did you mean \"clusterNames\"?"),
        (
            "fieldSelector: {matchExpressions: [{key: zones, operator: In, values: [a]}]}",
            "targetCluster.fieldSelector.matchExpressions[0].key: \"zones\" is not one of provider, region, zone",
        ),
        (
            "fieldSelector: {matchExpressions: [{key: zone, operator: Exists, values: [a]}]}",
            "targetCluster.fieldSelector.matchExpressions[0].operator: ",
        ),
        (
            "fieldSelector: {matchExpressions: [{key: zone, operator: In, values: []}]}",
            "targetCluster.fieldSelector.matchExpressions[0].values: needs at least one value",
        ),
    ] {
        let found = rule_faults(&format!("targetCluster: {{{target}}}, {}", set("a", "1")));
        assert!(found[0].starts_with(finding), "{target}: {found:#?}");
    }
}

#[test]
fn what_is_not_known_about_a_cluster_matters_only_to_a_rule_that_asks() {
    let region = || Case::rule(&set("region", "'${cluster.region}'"));
    let refusal = region().revised("{}").unwrap_err();
    assert!(
        refusal.starts_with("503 ") && refusal.contains("nothing is known about the cluster \"x\""),
        "{refusal}"
    );
    assert_eq!(region().known(&[], [None, Some("eu")], &[]).spec("{}"), r#"{"region":"eu"}"#);
    // The cluster is known and has no region. That is an error of the rule.
    assert!(region().known(&[], [None, None], &[]).revised("{}").unwrap_err().starts_with("422 "));
    let or = Case::rule(&set("region", "'${cluster.?region.orValue(\"none\")}'"));
    assert_eq!(or.known(&[], [None, None], &[]).spec("{}"), r#"{"region":"none"}"#);
    let zone =
        Case::rule(&set("zone", "'${cluster.zone}-${cluster.labels[\"topology.kubernetes.io/rack\"]}'"));
    assert_eq!(
        zone.known(&[("topology.kubernetes.io/rack", "7")], [None, None], &["z1", "z2"]).spec("{}"),
        r#"{"zone":"z1-7"}"#
    );
    // The name of the cluster is enough to see that the rule is for another cluster.
    let other = Case::rule(&format!(
        "targetCluster: {{clusterNames: ['y'], labelSelector: {{matchLabels: {{a: b}}}}}}, {}",
        set("region", "'${cluster.region}'")
    ));
    assert_eq!(other.spec("{}"), "{}");
}

#[test]
fn an_allocation_in_an_expression_is_claimed_when_it_is_read() {
    let policy = |when: &str| {
        Case::policy(&format!(
            "allocations: [{{name: fort}}, {{name: blue-green}}, {{name: unused}}]
variables: [{{name: host, expression: allocations.fort}}]
rules:
- {{name: r, when: '{when}', patch: {{type: Merge, value: {{spec: {{hosts: '${{variables.host == cluster.name}}', at: '${{variables.host}}'}}}}}}}}"
        ))
    };
    for (cluster, expected) in [("x", r#"{"hosts":true,"at":"x"}"#), ("z", r#"{"hosts":false,"at":"x"}"#)] {
        let done = policy("true").cluster(cluster).revised("{}").unwrap();
        assert_eq!((done.spec.as_str(), done.claims), (expected, vec!["fort=x".to_owned()]), "{cluster}");
    }
    assert!(policy("false").revised("{}").unwrap().claims.is_empty());
    let named = policy("allocations[\"blue-green\"] == cluster.name").revised("{}").unwrap();
    assert_eq!(named.claims, ["blue-green=x", "fort=x"]);
    // An empty schedule has no host.
    let nowhere = policy("true").schedule(&[]).revised("{}").unwrap();
    assert_eq!((nowhere.spec.as_str(), nowhere.claims.len()), (r#"{"hosts":false}"#, 0));
    assert!(policy("true").without_schedule().revised("{}").unwrap_err().starts_with("503 "));
    let unknown = rule_faults(&set("a", "'${allocations.fort}'"));
    assert!(unknown[0].contains("fort"), "{unknown:#?}");
    // A claim of a skipped rule stays in the ledger.
    let skipped = Case::policy(
        "allocations: [{name: fort}]\nrules: [{name: r, onError: Skip, when: allocations.fort == 'x', patch: {type: JSON, value: [{op: remove, path: /spec/mone}]}}]",
    );
    let done = skipped.revised("{}").unwrap();
    assert_eq!((done.skipped.len(), done.claims), (1, vec!["fort=x".to_owned()]));
}

/// A copy of a part of the object is cheap, and a rule may put the object into itself, which doubles it each
/// time.
#[test]
fn an_object_that_is_put_into_itself_stays_bounded() {
    let rule = |number: usize| {
        format!(
            "- {{name: r{number}, patch: {{type: Merge, value: {{spec: {{q{number}: '${{object}}'}}}}}}}}"
        )
    };
    let rules = |count: usize| {
        Case::policy(&format!("rules:\n{}", (0..count).map(rule).collect::<Vec<_>>().join("\n")))
    };
    assert!(rules(3).revised("{a: 1}").is_ok());
    let refusal = rules(40).revised("{a: 1}").unwrap_err();
    assert!(
        refusal.contains("what the expressions give for this object is more than 1048576 bytes together"),
        "{refusal}"
    );
}
