//! Variables with a value for each cluster.

use super::case::{Case, faults};

const RULE: &str = "rules: [{name: r, patch: {type: Merge, value: {spec: {a: '${variables.url}'}}}}]";

fn case(variable: &str) -> Case {
    Case::policy(&format!("variables: [{{name: url, {variable}}}]\n{RULE}"))
}

#[test]
fn the_value_is_that_of_the_cluster_or_the_default() {
    for (variable, cluster, spec) in [
        ("values: {x: 'https://x.example.com:5432', z: b}", "x", r#"{"a":"https://x.example.com:5432"}"#),
        ("values: {x: 'https://x.example.com:5432', z: b}", "z", r#"{"a":"b"}"#),
        ("values: {x: b}, default: other", "z", r#"{"a":"other"}"#),
        ("values: {x: b}, default: null", "x", r#"{"a":"b"}"#),
        ("values: {}, default: other", "x", r#"{"a":"other"}"#),
        ("values: {x: {host: h, ports: [1, 2.0]}}", "x", r#"{"a":{"host":"h","ports":[1,2]}}"#),
        ("values: {x: '$${HOME}'}", "x", r#"{"a":"${HOME}"}"#),
    ] {
        assert_eq!(case(variable).cluster(cluster).spec("{}"), spec, "{variable}");
    }
}

#[test]
fn a_cluster_without_a_value_is_an_error_where_the_variable_is_read() {
    let case = case("values: {x: a}").cluster("z");
    assert_eq!(
        case.refused("{}"),
        "failed to evaluate \"variables.url\" at line 1, column 10: variables.url is not defined: its `values` have no entry for the cluster \"z\"; add one, or give a `default`"
    );
    for (expression, spec) in
        [("has(variables.url) ? 1 : 2", r#"{"a":2}"#), ("variables.?url.orValue('none')", r#"{"a":"none"}"#)]
    {
        let case = Case::policy(&format!(
            "variables: [{{name: url, values: {{x: a}}}}]\nrules: [{{name: r, patch: {{type: Merge, value: {{spec: {{a: \"${{{expression}}}\"}}}}}}}}]"
        ));
        assert_eq!(case.cluster("z").spec("{}"), spec, "{expression}");
    }
    // No rule for that cluster reads the variable.
    let when = "variables: [{name: url, values: {x: a}}]\nrules: [{name: r, targetCluster: {clusterNames: [x]}, env: {name: URL, value: '${variables.url}'}}]";
    assert_eq!(Case::policy(when).cluster("z").revised("{}").unwrap().patch, "[]");
}

#[test]
fn a_later_variable_reads_it() {
    let case = Case::policy(
        "variables: [{name: host, values: {x: a, z: b}}, {name: url, expression: '\"https://\" + variables.host'}]\nrules: [{name: r, patch: {type: Merge, value: {spec: {a: '${variables.url}'}}}}]",
    );
    assert_eq!(case.spec("{}"), r#"{"a":"https://a"}"#);
}

#[test]
fn a_table_of_five_hundred_clusters_is_read() {
    let entries: Vec<String> = (0..500)
        .map(|number| format!("edge-{number:03}: 'https://db.edge-{number:03}.example.com'"))
        .collect();
    let case = case(&format!("values: {{{}}}", entries.join(", ")));
    let done = case.schedule(&[("edge-499", 1)]).cluster("edge-499").spec("{}");
    assert_eq!(done, r#"{"a":"https://db.edge-499.example.com"}"#);
}

#[test]
fn what_is_wrong_with_it_is_found_at_load() {
    for (variable, finding) in [
        ("default: a", "variables[0]: needs exactly one of expression, values, and has none"),
        (
            "values: {x: a}, expression: '1'",
            "variables[0]: needs exactly one of expression, values, and has both",
        ),
        ("expression: '1', default: a", "variables[0].default: is for `values`"),
        ("values: [a]", "variables[0].values: must be a map, is a list"),
        ("values: {'eu-*': a}", "variables[0].values[\"eu-*\"]: is no name of a cluster"),
        ("values: {x: '${cluster.name}'}", "variables[0].values.x: holds `${`, and `values` are data"),
        ("values: {x: [{a: '${HOME}'}]}", "variables[0].values.x: holds `${`"),
        ("values: {x: null}", "variables[0].values.x: must not be null"),
        ("value: {x: a}", "variables[0].value: unknown field; did you mean \"values\"?"),
    ] {
        let found = faults(&format!("variables: [{{name: url, {variable}}}]\n{RULE}"));
        assert!(found.iter().any(|found| found.starts_with(finding)), "{variable}: {found:#?}");
    }
}
