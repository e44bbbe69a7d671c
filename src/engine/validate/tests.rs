use super::*;

fn found(api_version: &str, kind: &str, object: &'static str) -> Vec<Violation> {
    violations(&GroupVersionKind::of(api_version, kind), &Value::parse(object.as_bytes()).unwrap())
}

fn texts(violations: &[Violation]) -> Vec<String> {
    violations.iter().map(|it| format!("{}: {}", it.place, it.problem)).collect()
}

#[test]
fn a_violation_names_place_problem_and_advice() {
    let object = r#"{"metadata":{"labels":{"a b":"c","d":"e f"}},"spec":{"strategy":{"rollingUpdate":{"maxSurge":0,"maxUnavailable":"0%"}},
        "selector":{"matchLabels":{"app":"x"}},"template":{"metadata":{"labels":{"app":"y"}},
        "spec":{"containers":[{"name":"a","image":"i","volumeMounts":[{"name":"v","mountPath":"/v"}]}],"volumes":[{"name":"w","emptyDir":{},"hostPath":{"path":"/h"}}]}}}}"#;
    assert_eq!(
        texts(&found("apps/v1", "Deployment", object)),
        [
            "/metadata/labels/a b: \"a b\" is no key of a label; use up to 63 letters, digits, `-`, `_` and `.`, with a letter or digit at both ends, behind `DOMAIN/` if need be",
            "/metadata/labels/d: \"e f\" is no value of a label; use up to 63 letters, digits, `-`, `_` and `.`, with a letter or digit at both ends",
            "/spec/template/metadata/labels: do not have the label \"app\" as the selector has it; change it in both, or in neither of them",
            "/spec/template/spec/volumes/0/hostPath: is set together with `emptyDir`, and a volume has only one; remove one of the two",
            "/spec/template/spec/containers/0/volumeMounts/0/name: there is no volume \"v\" in the pod; add it to `volumes`, or remove the mount",
            "/spec/strategy/rollingUpdate/maxUnavailable: is 0, and so is `maxSurge`, so that no pod could ever be replaced; make one of the two 1 or more, where it is divided with `floor: 1`",
        ]
    );
}

#[test]
fn of_other_kinds_only_labels_and_annotations_are_looked_at() {
    let object = r#"{"metadata":{"labels":{"a":"-"},"annotations":{"b c":"d"}},"spec":{"replicas":-1,"template":{"metadata":{"labels":{"a":"{{x}}"}}}}}"#;
    let places = |api_version: &str, kind: &str| {
        found(api_version, kind, object).into_iter().map(|it| it.place.to_string()).collect::<Vec<_>>()
    };
    let metadata = ["/metadata/labels/a", "/metadata/annotations/b c"];
    assert_eq!(places("example.com/v1", "Deployment"), metadata);
    // A version that is no longer served.
    assert_eq!(places("apps/v1beta1", "Deployment"), metadata);
}

#[test]
fn a_pod_chaperon_is_checked_as_a_pod() {
    let object = r#"{"metadata":{},"spec":{"containers":[{"name":"a","image":"i"},{"name":"a","image":"i"}],"volumes":[{"name":"v","secret":{}}]}}"#;
    assert_eq!(
        texts(&found("multicluster.admiralty.io/v1alpha1", "PodChaperon", object)),
        [
            "/spec/volumes/0/secret/secretName: is missing or empty, and is required; set it",
            "/spec/containers/1/name: \"a\" is the name of another one too; use another name",
        ]
    );
}

#[test]
fn annotations_have_256_kib_together() {
    let object =
        |bytes: usize| format!(r#"{{"metadata":{{"annotations":{{"a":"{}"}}}}}}"#, "x".repeat(bytes));
    for (bytes, expected) in [(256 * 1024 - 1, 0), (256 * 1024, 1)] {
        let text = object(bytes);
        let value = Value::parse(text.as_bytes()).unwrap();
        let found = violations(&GroupVersionKind::of("example.com/v1", "A"), &value);
        assert_eq!(found.len(), expected, "{bytes}");
    }
}

#[test]
fn a_config_map_has_a_mebibyte() {
    for (bytes, expected) in [(1024 * 1024, 0), (1024 * 1024 + 1, 1)] {
        let text = format!(r#"{{"data":{{"a":"{}"}}}}"#, "x".repeat(bytes));
        let value = Value::parse(text.as_bytes()).unwrap();
        assert_eq!(violations(&GroupVersionKind::of("v1", "ConfigMap"), &value).len(), expected, "{bytes}");
    }
}

fn violation(place: &str, problem: &str) -> Violation {
    Violation { place: Pointer::parse(place).unwrap(), problem: problem.to_owned() }
}

#[test]
fn what_was_broken_before_is_not_new_wherever_it_has_moved() {
    let before =
        [violation("/c/0/image", "missing"), violation("/c/1/image", "missing"), violation("/r", "-1")];
    for (after, expected) in [
        (vec![("/c/0/image", "missing"), ("/c/1/image", "missing"), ("/r", "-1")], vec![]),
        // One item more in front of the two.
        (vec![("/c/1/image", "missing"), ("/c/2/image", "missing")], vec![]),
        // A third one is new, and the one at the place that had none.
        (
            vec![("/c/0/image", "missing"), ("/c/1/image", "missing"), ("/c/2/image", "missing")],
            vec!["/c/2/image"],
        ),
        (
            vec![("/c/1/image", "missing"), ("/c/0/image", "missing"), ("/c/5/image", "missing")],
            vec!["/c/5/image"],
        ),
        // Another problem at the same place is new.
        (vec![("/r", "-2")], vec!["/r"]),
        // So is the same problem elsewhere.
        (vec![("/s", "-1"), ("/c/0/name", "missing")], vec!["/s", "/c/0/name"]),
        (vec![], vec![]),
    ] {
        let after = after.into_iter().map(|(place, problem)| violation(place, problem)).collect();
        let new: Vec<String> = added(&before, after).iter().map(|it| it.place.to_string()).collect();
        assert_eq!(new, expected);
    }
}
