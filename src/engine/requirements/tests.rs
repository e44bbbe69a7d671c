//! Karmada's recorded answers, and the places that errors name.

use super::*;

const RECORDED: &str = include_str!("../../../tests/data/replica-requirements.json");

/// Where we answer otherwise than Karmada, on purpose.
const DIFFERENCES: [(&str, &str, &str); 7] = [
    (
        "more cpu than an int64 of thousandths",
        r#"{"resourceRequest":{"cpu":"9223372036854775807m","memory":"1Mi"},"namespace":"team"}"#,
        "Karmada's total becomes 0, and is left out",
    ),
    (
        "more memory than an int64",
        r#"{"resourceRequest":{"cpu":"1","memory":"9223372036854775807"},"namespace":"team"}"#,
        "Karmada's total becomes 0, and is left out",
    ),
    (
        "memory whose sum is more than an int64",
        r#"{"resourceRequest":{"cpu":"1","memory":"9223372036854775807"},"namespace":"team"}"#,
        "Karmada's total becomes negative, and is left out",
    ),
    (
        "memory of a hundred digits",
        "/spec/containers/0/resources/requests/memory: \
         \"9999999999999999999999999999999999999999999999999999999999999999\" is no quantity; \
         a quantity of 1.7e29 or more is too large to be counted",
        "Karmada takes the lowest 64 bits of it",
    ),
    (
        "a tab in front of a quantity",
        r#"{"resourceRequest":{"cpu":"1"},"namespace":"team"}"#,
        "Go looks at the text before escapes are resolved",
    ),
    (
        "a hard node affinity that is empty",
        r#"{"nodeClaim":{"hardNodeAffinity":{}},"namespace":"team"}"#,
        "taken over as it is; Karmada's decoder finds the same null list in it",
    ),
    (
        "a node selector with a null",
        r#"{"nodeClaim":{"nodeSelector":{"a":null}},"namespace":"team"}"#,
        "taken over as it is; Karmada's decoder makes the same empty text of it",
    ),
];

/// What we answer for a template, in words.
fn answer(template: &Value<'_>) -> String {
    match replica_requirements(template, "team") {
        Ok(requirements) => requirements.map_or(Value::Null, |some| some.to_value()).to_string(),
        Err(error) => error.to_string(),
    }
}

fn parse(text: &str) -> Value<'_> {
    Value::parse(text.as_bytes()).unwrap()
}

#[test]
fn every_recorded_template_is_answered_as_karmada_answers_it() {
    let recording = parse(RECORDED);
    let cases = recording.as_array().unwrap();
    assert_eq!(cases.len(), 147);
    let mut differences = 0;
    for case in cases {
        let name = case.get("name").unwrap().as_str().unwrap();
        let template = case.get("template").unwrap();
        let ours = answer(template);
        if let Some((_, expected, _)) = DIFFERENCES.iter().find(|(other, ..)| *other == name) {
            assert_eq!(ours, *expected, "{name}");
            differences += 1;
        } else if case.get("refused").is_some() {
            assert!(replica_requirements(template, "team").is_err(), "{name}: {ours}");
        } else {
            // As text: the order of the members is Karmada's too.
            assert_eq!(ours, case.get("requirements").unwrap().to_string(), "{name}");
        }
    }
    assert_eq!(differences, DIFFERENCES.len());
}

#[test]
fn an_error_names_the_place_and_the_problem() {
    for (template, expected) in [
        ("1", ": a number where a map should be"),
        (r#"{"spec":[]}"#, "/spec: a list where a map should be"),
        (r#"{"spec":{"containers":{}}}"#, "/spec/containers: a map where a list should be"),
        (r#"{"spec":{"containers":[{},1]}}"#, "/spec/containers/1: a number where a map should be"),
        (
            r#"{"spec":{"initContainers":[{"resources":"x"}]}}"#,
            "/spec/initContainers/0/resources: a string where a map should be",
        ),
        (
            r#"{"spec":{"containers":[{"resources":{"requests":[]}}]}}"#,
            "/spec/containers/0/resources/requests: a list where a map should be",
        ),
        (
            r#"{"spec":{"containers":[{"resources":{"limits":{"example.com/x":"1Gx"}}}]}}"#,
            "/spec/containers/0/resources/limits/example.com~1x: \"1Gx\" is no quantity; \
             a quantity is a number with an optional suffix such as m, k, M, Mi, Gi or e3",
        ),
        (r#"{"spec":{"overhead":{"cpu":true}}}"#, "/spec/overhead/cpu: a boolean where a quantity should be"),
        (
            r#"{"spec":{"nodeSelector":{"a/b":1}}}"#,
            "/spec/nodeSelector/a~1b: a number where a string should be",
        ),
        (r#"{"spec":{"tolerations":[{},"x"]}}"#, "/spec/tolerations/1: a string where a map should be"),
        (r#"{"spec":{"affinity":[]}}"#, "/spec/affinity: a list where a map should be"),
        (
            r#"{"spec":{"affinity":{"nodeAffinity":1}}}"#,
            "/spec/affinity/nodeAffinity: a number where a map should be",
        ),
        (
            r#"{"spec":{"affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[]}}}}"#,
            "/spec/affinity/nodeAffinity/requiredDuringSchedulingIgnoredDuringExecution: \
             a list where a map should be",
        ),
        (r#"{"spec":{"priorityClassName":[]}}"#, "/spec/priorityClassName: a list where a string should be"),
    ] {
        assert_eq!(answer(&parse(template)), expected);
    }
}

#[test]
fn a_component_has_no_namespace() {
    let template = parse(r#"{"spec":{"nodeSelector":{"a":"b"}}}"#);
    let requirements = replica_requirements(&template, "").unwrap().unwrap();
    assert_eq!(requirements.to_value().to_string(), r#"{"nodeClaim":{"nodeSelector":{"a":"b"}}}"#);
}

#[test]
fn the_node_claim_is_shared_with_the_template() {
    let template = parse(r#"{"spec":{"nodeSelector":{"a":"b"},"tolerations":[{"operator":"Exists"}]}}"#);
    let claim = replica_requirements(&template, "team").unwrap().unwrap().node_claim.unwrap();
    let spec = template.get("spec").unwrap();
    assert!(claim.node_selector.unwrap().is_same(spec.get("nodeSelector").unwrap()));
    assert!(claim.tolerations.unwrap().is_same(spec.get("tolerations").unwrap()));
}
