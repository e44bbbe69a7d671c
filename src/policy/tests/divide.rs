//! The action `divide`.

use super::case::{Case, rule_faults};

/// The rule with these fields in addition to the path.
fn rule(rest: &str) -> String {
    format!("divide: {{path: /spec/partition{rest}}}")
}

/// The value for each cluster of the schedule, in order, for an object with this partition.
#[track_caller]
fn parts(rest: &str, schedule: &[(&str, i64)], partition: &str) -> Vec<String> {
    let part = |(cluster, _): &(&str, i64)| {
        let spec = Case::rule(&rule(rest))
            .schedule(schedule)
            .cluster(cluster)
            .spec(&format!("{{partition: {partition}}}"));
        spec.strip_prefix(r#"{"partition":"#).unwrap().strip_suffix('}').unwrap().to_owned()
    };
    schedule.iter().map(part).collect()
}

#[track_caller]
fn refused(rest: &str, spec: &str) -> String {
    Case::rule(&rule(rest)).refused(spec)
}

#[test]
fn the_parts_follow_the_replicas_and_sum_to_the_whole() {
    for (schedule, whole, expected) in [
        (&[("a", 10), ("b", 5)][..], "9", &["6", "3"][..]),
        (&[("a", 10), ("b", 5)], "10", &["7", "3"]),
        (&[("a", 1), ("b", 1), ("c", 1)], "10", &["4", "3", "3"]),
        // With equal remainders, the first in binding order gets more.
        (&[("b", 1), ("a", 1)], "1", &["1", "0"]),
        (&[("a", 3), ("b", 0)], "5", &["5", "0"]),
        // If no cluster has replicas, all get equal parts.
        (&[("a", 0), ("b", 0)], "5", &["3", "2"]),
        (&[("a", 7)], "5", &["5"]),
        (&[("a", 2), ("b", 1)], "0", &["0", "0"]),
        (
            &[("a", 2_147_483_647), ("b", 2_147_483_647)],
            "9223372036854775807",
            &["4611686018427387904", "4611686018427387903"],
        ),
    ] {
        assert_eq!(parts("", schedule, whole), expected, "{schedule:?} {whole}");
    }
    assert_eq!(parts(", weights: Equal", &[("a", 9), ("b", 1)], "5"), ["3", "2"]);
}

/// A minimum applies only to parts below it. The other clusters share the rest.
#[test]
fn a_minimum_is_filled_up_where_it_is_needed() {
    for (schedule, minimum, whole, expected) in [
        (&[("a", 9), ("b", 1)][..], 1, "10", &["9", "1"][..]),
        (&[("a", 99), ("b", 1)], 1, "10", &["9", "1"]),
        (&[("a", 4), ("b", 1), ("c", 1)], 2, "6", &["2", "2", "2"]),
        (&[("a", 3), ("b", 0)], 2, "10", &["8", "2"]),
    ] {
        assert_eq!(parts(&format!(", minimum: {minimum}"), schedule, whole), expected, "{schedule:?}");
    }
    assert_eq!(
        refused(", minimum: 2", "{partition: 3}"),
        "/spec/partition: can't be divided: is 3, of which 2 clusters can't get 2 each; make it larger, or use `floor: 2` in place of `minimum`, with which the sum may be more than the whole"
    );
    assert!(refused(", minimum: 4294967295", "{partition: 3}").contains("can't get 4294967295 each"));
}

/// With a floor, the sum of the parts may be larger than the whole.
#[test]
fn a_floor_raises_each_part_that_is_below_it() {
    let none = &[("a", 0), ("b", 0), ("c", 0), ("d", 0)][..];
    for (schedule, floor, whole, expected) in [
        (none, 1_u32, "2", &["1", "1", "1", "1"][..]),
        (none, 1, "10", &["3", "3", "2", "2"]),
        (none, 1, "0", &["1", "1", "1", "1"]),
        (&[("a", 9), ("b", 1)], 0, "10", &["9", "1"]),
        (&[("a", 9), ("b", 1)], 3, "10", &["9", "3"]),
        (&[("a", 99), ("b", 1)], 1, "10", &["10", "1"]),
        (&[("a", 1), ("b", 0)], 4_294_967_295, "1", &["4294967295", "4294967295"]),
    ] {
        assert_eq!(parts(&format!(", floor: {floor}"), schedule, whole), expected, "{schedule:?} {whole}");
    }
    let scaled = parts(", floor: 10, percentages: Scale", &[("a", 3), ("b", 1)], "25%");
    assert_eq!(scaled, ["\"19%\"", "\"10%\""]);
    // Kept percentages are not divided.
    assert_eq!(parts(", floor: 30", &[("a", 3), ("b", 1)], "25%"), ["\"25%\"", "\"25%\""]);
    // A floor does not apply to a missing value.
    assert_eq!(Case::rule(&rule(", floor: 1")).revised("{}").unwrap().patch, "[]");
    // A cluster that is not in the schedule gets the floor too, because the API server may reject 0.
    assert_eq!(Case::rule(&rule(", floor: 1")).cluster("other").spec("{partition: 9}"), r#"{"partition":1}"#);
}

#[test]
fn each_number_in_a_list_is_divided() {
    let schedule = &[("m1", 2), ("m2", 3)][..];
    let specs = |path: &str, spec: &str| -> Vec<String> {
        let one = |(cluster, _): &(&str, i64)| {
            Case::rule(&format!("divide: {{path: {path}}}")).schedule(schedule).cluster(cluster).spec(spec)
        };
        schedule.iter().map(one).collect()
    };
    for (path, spec, expected) in [
        (
            "/spec/steps/*/replicas",
            "{steps: [{replicas: 1, pause: {}}, {replicas: 3}, {pause: {}}, {replicas: 5}]}",
            [
                r#"{"steps":[{"replicas":0,"pause":{}},{"replicas":1},{"pause":{}},{"replicas":2}]}"#,
                r#"{"steps":[{"replicas":1,"pause":{}},{"replicas":2},{"pause":{}},{"replicas":3}]}"#,
            ],
        ),
        ("/spec/parts/*", "{parts: [5, 10]}", [r#"{"parts":[2,4]}"#, r#"{"parts":[3,6]}"#]),
        ("/spec/parts/1", "{parts: [5, 10]}", [r#"{"parts":[5,4]}"#, r#"{"parts":[5,6]}"#]),
        ("/spec/parts/2", "{parts: [5, 10]}", [r#"{"parts":[5,10]}"#, r#"{"parts":[5,10]}"#]),
        (
            "/spec/a/*/b/*/c",
            "{a: [{b: [{c: 5}]}, {b: null}, {b: [{c: 10}, {}]}]}",
            [
                r#"{"a":[{"b":[{"c":2}]},{"b":null},{"b":[{"c":4},{}]}]}"#,
                r#"{"a":[{"b":[{"c":3}]},{"b":null},{"b":[{"c":6},{}]}]}"#,
            ],
        ),
        // In a map, `*` is the name of a member.
        ("/spec/a/*", "{a: {'*': 5, b: 5}}", [r#"{"a":{"*":2,"b":5}}"#, r#"{"a":{"*":3,"b":5}}"#]),
        ("/spec/a/0/b", "{a: {'0': {b: 5}}}", [r#"{"a":{"0":{"b":2}}}"#, r#"{"a":{"0":{"b":3}}}"#]),
        ("/spec/steps/*/replicas", "{steps: null}", [r#"{"steps":null}"#; 2]),
        ("/spec/steps/*/replicas", "{}", ["{}"; 2]),
    ] {
        assert_eq!(specs(path, spec), expected, "{path} {spec}");
    }
    let case = || Case::rule("divide: {path: /spec/l/*/m}").cluster("z");
    assert_eq!(
        case().refused("{l: [{m: 1}, {m: x}]}"),
        "/spec/l/1/m: can't be divided: is a string that is no percentage; it must be an integer from 0 on"
    );
    assert_eq!(
        case().refused("{l: [{m: 1}, 7]}"),
        "/spec/l/1: must be a map, is a number; change the object, or the path in the rule"
    );
    // The items of the template are divided.
    assert_eq!(
        case().original("{l: [{m: 8}, {m: 4}]}").spec("{l: [{m: 2}, {}]}"),
        r#"{"l":[{"m":2},{"m":1}]}"#
    );
    assert_eq!(
        case().original("{l: [{m: 8}, {}]}").spec("{l: [{m: 9}, {m: 9}]}"),
        r#"{"l":[{"m":2},{"m":9}]}"#
    );
    assert_eq!(
        case().original("{l: [{m: 8}]}").refused("{l: [{m: 8}, {m: 9}]}"),
        "/spec/l: can't be divided: has 2 items, and 1 in the template, so that it is not known which are the same; divide before the list is changed, or name a place outside of it"
    );
}

#[test]
fn a_percentage_is_kept_or_scaled() {
    let schedule = &[("a", 3), ("b", 1)][..];
    assert_eq!(parts("", schedule, "25%"), ["\"25%\"", "\"25%\""]);
    assert_eq!(parts(", percentages: Keep", schedule, "odd%"), ["\"odd%\"", "\"odd%\""]);
    assert_eq!(parts(", percentages: Scale", schedule, "25%"), ["\"19%\"", "\"6%\""]);
    assert_eq!(parts(", percentages: Scale", schedule, "8"), ["6", "2"]);
    for wrong in ["-5%", "2.5%", "%", "odd%"] {
        let refusal = refused(", percentages: Scale", &format!("{{partition: '{wrong}'}}"));
        assert!(refusal.contains("is negative or no integer"), "{refusal}");
    }
}

#[test]
fn a_cluster_that_the_binding_does_not_list_gets_none() {
    let case = Case::rule(&rule(", minimum: 1")).cluster("other");
    assert_eq!(case.spec("{partition: 9}"), r#"{"partition":0}"#);
    // The same for an empty schedule.
    assert_eq!(Case::rule(&rule("")).schedule(&[]).spec("{partition: 9}"), r#"{"partition":0}"#);
    let unknown = Case::rule(&rule("")).without_schedule();
    assert!(unknown.revised("{partition: 9}").unwrap_err().starts_with("503 "));
    assert_eq!(
        unknown.refused("{partition: 9}"),
        "/spec/partition: can't be divided: the schedule of the workload is not known; give `request.targetClusters`, or the binding in --state"
    );
}

#[test]
fn the_whole_is_that_of_the_template_where_that_is_known() {
    let case = || Case::rule(&rule(""));
    assert_eq!(case().original("{partition: 8}").spec("{partition: 100}"), r#"{"partition":6}"#);
    assert_eq!(case().original("{partition: 8}").spec("{}"), r#"{"partition":6}"#);
    assert_eq!(case().original("{}").spec("{partition: 100}"), r#"{"partition":100}"#);
    // The object is already divided. The template gives the same result again.
    assert_eq!(case().original("{partition: 8}").spec("{partition: 6}"), r#"{"partition":6}"#);
}

#[test]
fn nothing_happens_where_there_is_nothing_to_divide() {
    for spec in ["{}", "{partition: null}"] {
        assert_eq!(Case::rule(&rule("")).revised(spec).unwrap().patch, "[]", "{spec}");
        // Not even the missing schedule is an error.
        assert_eq!(Case::rule(&rule("")).without_schedule().revised(spec).unwrap().patch, "[]", "{spec}");
    }
    let deep = Case::rule("divide: {path: /spec/a/b}");
    assert_eq!(deep.revised("{a: null}").unwrap().patch, "[]");
    assert_eq!(
        deep.refused("{a: [1]}"),
        "/spec/a: must be a map, is a list; change the object, or the path in the rule (`divide.path` is /spec/a/b)"
    );
}

#[test]
fn what_is_no_integer_from_0_on_is_refused() {
    for (partition, problem) in [
        ("-1", "is negative or no integer"),
        ("1.5", "is negative or no integer"),
        ("9223372036854775808", "is negative or no integer"),
        ("'7'", "is a string that is no percentage"),
        ("true", "is a boolean"),
        ("[1]", "is a list"),
        ("{}", "is a map"),
    ] {
        let refusal = refused("", &format!("{{partition: {partition}}}"));
        assert!(refusal.starts_with(&format!("/spec/partition: can't be divided: {problem}; ")), "{refusal}");
    }
}

#[test]
fn what_is_wrong_with_it_is_found_at_load() {
    for (divide, finding) in [
        ("{}", "divide.path: is required"),
        ("{path: spec}", "divide.path: \"spec\" is no JSON pointer"),
        ("{path: /metadata/name}", "divide.path: /metadata/name says who the object is"),
        ("{path: /metadata/labels/karmada.io~1x}", "divide.path: \"karmada.io/x\" belongs to the platform"),
        ("{path: ''}", "divide.path: "),
        (
            "{path: /a, weights: Replica}",
            "divide.weights: \"Replica\" is not one of Replicas, Equal; did you mean \"Replicas\"?",
        ),
        ("{path: /a, minimum: -1}", "divide.minimum: must be from 0 to 4294967295, is -1"),
        ("{path: /a, minimum: '1'}", "divide.minimum: must be an integer, is a string"),
        ("{path: /a, floor: -1}", "divide.floor: must be from 0 to 4294967295, is -1"),
        (
            "{path: /a, floor: 1, minimum: 1}",
            "divide.floor: `minimum` is given too; use `minimum` where the sum must stay the whole, else `floor`",
        ),
        ("{path: /a, percentages: Drop}", "divide.percentages: \"Drop\" is not one of Keep, Scale"),
    ] {
        let found = rule_faults(&format!("divide: {divide}"));
        assert!(found.iter().any(|found| found.starts_with(finding)), "{divide}: {found:#?}");
    }
}
