use super::{Mismatch, MismatchKind, ObjectType, Shape, Type, check, table, write_as_text};
use crate::json::{Pointer, Value};

fn value(text: &str) -> Value<'static> {
    Value::parse(text.as_bytes()).unwrap().into_owned()
}

fn pointer(text: &str) -> Pointer {
    Pointer::parse(text).unwrap()
}

/// Every mismatch of an object, as `place: problem`.
fn found(of: &ObjectType, object: &str) -> Vec<String> {
    let told = |Mismatch { place, problem }| format!("{place}: {problem}");
    check(&value(object), of.root(), &Pointer::ROOT).into_iter().map(told).collect()
}

fn deployment() -> ObjectType {
    ObjectType::built_in("apps/v1", "Deployment").unwrap()
}

fn rows(of: Type) -> Vec<usize> {
    match of {
        Type::List(of) | Type::Map(of) => rows(*of),
        Type::Struct(row) => vec![row],
        _ => Vec::new(),
    }
}

#[test]
fn the_table_is_sorted_and_refers_to_its_own_rows() {
    assert!(table::KINDS.is_sorted_by(|a, b| (a.0, a.1) < (b.0, b.1)));
    for fields in table::STRUCTS {
        assert!(fields.is_sorted_by(|a, b| a.0 < b.0), "{fields:?}");
        for (_, of) in *fields {
            assert!(rows(*of).into_iter().all(|row| row < table::STRUCTS.len()));
        }
    }
}

#[test]
fn a_value_of_the_wrong_type_is_found_with_its_place() {
    for (object, expected) in [
        (r#"{"metadata":{"labels":{"a":1}}}"#, "/metadata/labels/a: must be a string, is a number"),
        (r#"{"metadata":{"labels":{"a":null}}}"#, "/metadata/labels/a: must be a string, is null"),
        (
            r#"{"metadata":{"annotations":{"a":{"b":"c"}}}}"#,
            "/metadata/annotations/a: must be a string, is a map",
        ),
        (r#"{"spec":{"replicas":"3"}}"#, "/spec/replicas: must be an integer of 32 bits, is a string"),
        (
            r#"{"spec":{"replicas":3000000000}}"#,
            "/spec/replicas: must be an integer of 32 bits, is 3000000000",
        ),
        (r#"{"spec":{"replicas":1.5}}"#, "/spec/replicas: must be an integer of 32 bits, is 1.5"),
        (r#"{"spec":{"paused":"true"}}"#, "/spec/paused: must be true or false, is a string"),
        (
            r#"{"spec":{"strategy":{"rollingUpdate":{"maxSurge":true}}}}"#,
            "/spec/strategy/rollingUpdate/maxSurge: must be an integer of 32 bits or a string, is a boolean",
        ),
        (
            r#"{"spec":{"template":{"spec":{"containers":[{"env":[{"name":"A","value":3}]}]}}}}"#,
            "/spec/template/spec/containers/0/env/0/value: must be a string, is a number",
        ),
        (
            r#"{"spec":{"template":{"spec":{"containers":[{"resources":{"limits":{"cpu":"two"}}}]}}}}"#,
            r#"/spec/template/spec/containers/0/resources/limits/cpu: must be a quantity such as 500m or 1Gi, is "two""#,
        ),
        (
            r#"{"spec":{"template":{"spec":{"containers":{"name":"a"}}}}}"#,
            "/spec/template/spec/containers: must be a list, is a map",
        ),
        (
            r#"{"metadata":{"creationTimestamp":"today"}}"#,
            r#"/metadata/creationTimestamp: must be a time such as 2026-01-02T15:04:05Z, is "today""#,
        ),
        (r#"{"spec":{"replica":3}}"#, "/spec/replica: unknown field"),
        // The API server compares names of fields by their case.
        (r#"{"spec":{"Replicas":3}}"#, "/spec/Replicas: unknown field"),
    ] {
        assert_eq!(found(&deployment(), object), [expected], "{object}");
    }
}

#[test]
fn what_an_api_server_decodes_fits() {
    for object in [
        r#"{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"a","labels":null,"creationTimestamp":null}}"#,
        r#"{"spec":{"replicas":2.0,"strategy":{"rollingUpdate":{"maxSurge":"25%","maxUnavailable":1}}}}"#,
        r#"{"spec":{"template":{"spec":{"containers":[{"resources":{"limits":{"cpu":0.5,"memory":"1Gi","a.b/c":1e3}}}]}}}}"#,
        r#"{"spec":{"template":{"spec":{"nodeSelector":null,"volumes":[{"emptyDir":{}}]}}}}"#,
        r#"{"metadata":{"managedFields":[{"fieldsV1":{"f:spec":{}},"time":"2026-01-02T03:04:05Z"}]}}"#,
    ] {
        assert_eq!(found(&deployment(), object), [""; 0], "{object}");
    }
}

#[test]
fn secrets_are_base64_and_are_not_shown() {
    let secret = ObjectType::built_in("v1", "Secret").unwrap();
    assert_eq!(
        found(&secret, r#"{"data":{"a":"cGFzcw==","b":"cGFz\ncw=="},"stringData":{"c":"x"}}"#),
        [""; 0]
    );
    assert_eq!(
        found(&secret, r#"{"data":{"a":"hunter2!"}}"#),
        ["/data/a: must be a string in base64, is another string"]
    );
}

#[test]
fn a_custom_kind_is_known_in_its_metadata_and_its_templates() {
    let templates = [pointer("/spec/template"), pointer("/spec/groups/*/template")];
    let of = ObjectType::custom(&templates, |_| true);
    let object = r#"{"metadata":{"labels":{"a":true}},"spec":{"replicas":"x","template":{"metadata":{"annotations":{"b":1}},"spec":{"own":1,"hostname":7}},"groups":[{"size":"x","template":{"spec":{"containers":[{"name":1}]}}}]}}"#;
    assert_eq!(
        found(&of, object),
        [
            "/metadata/labels/a: must be a string, is a boolean",
            "/spec/template/metadata/annotations/b: must be a string, is a number",
            "/spec/template/spec/hostname: must be a string, is a number",
            "/spec/groups/0/template/spec/containers/0/name: must be a string, is a number",
        ]
    );
    // A template that is not one of pods.
    let of = ObjectType::custom(&templates, |_| false);
    assert_eq!(found(&of, r#"{"spec":{"template":{"spec":{"hostname":7}}}}"#), [""; 0]);
}

#[test]
fn a_definition_gives_types_to_a_custom_kind() {
    let schema = value(
        r#"{"type":"object","properties":{"n":{"type":"integer"},"t":{"type":"array","items":{"type":"object","properties":{"s":{"type":"string"}}}},"any":{"type":"object","x-kubernetes-preserve-unknown-fields":true},"m":{"type":"object","additionalProperties":{"type":"string"}},"x":{"x-kubernetes-int-or-string":true}}}"#,
    );
    let check = |object: &str| {
        let told = |Mismatch { place, problem }| format!("{place}: {problem}");
        let found = check(&value(object), Shape::Definition(&schema), &Pointer::ROOT);
        found.into_iter().map(told).collect::<Vec<_>>()
    };
    assert_eq!(
        check(r#"{"n":"1","t":[{"s":1,"u":2}],"any":{"a":{"b":1}},"m":{"k":1},"x":true}"#),
        [
            "/n: must be an integer of 64 bits, is a string",
            "/t/0/s: must be a string, is a number",
            "/t/0/u: unknown field",
            "/m/k: must be a string, is a number",
            "/x: must be an integer of 32 bits or a string, is a boolean",
        ]
    );
}

#[test]
fn numbers_and_booleans_are_spelled_where_only_a_string_fits() {
    let of = deployment();
    let before = r#"{"metadata":{"labels":{"n":2,"b":true,"s":"x"}},"spec":{"replicas":2,"template":{"spec":{"containers":[{"env":[{"name":"A","value":1.50}],"ports":[{"containerPort":80}],"resources":{"limits":{"cpu":1}}}]}}}}"#;
    let after = r#"{"metadata":{"labels":{"n":"2","b":"true","s":"x"}},"spec":{"replicas":2,"template":{"spec":{"containers":[{"env":[{"name":"A","value":"1.50"}],"ports":[{"containerPort":80}],"resources":{"limits":{"cpu":1}}}]}}}}"#;
    assert_eq!(write_as_text(value(before), of.root()).to_string(), after);
    assert_eq!(write_as_text(value(after), of.root()).to_string(), after);
}

#[test]
fn a_place_is_found_by_its_pointer() {
    let of = deployment();
    for (place, expected) in [
        ("/spec/template/spec/containers/0/env/-/value", Some(Type::String)),
        ("/spec/template/metadata/labels/example.com~1a", Some(Type::String)),
        ("/spec/replicas", Some(Type::Int32)),
        ("/spec/unknown/deeper", None),
    ] {
        assert_eq!(of.at(&pointer(place)).known(), expected, "{place}");
    }
    assert_eq!(of.root().unknown_step(&pointer("/spec/template/spec/containers/0/imag")), Some(6));
    assert_eq!(of.root().unknown_step(&pointer("/spec/template/spec/containers/0/image")), None);
    assert!(matches!(of.root().field("spec"), Some(Shape::Exact(Type::Struct(_)))));
    let problem = MismatchKind::Type { expected: "a string", found: "a list".to_owned() };
    assert_eq!(problem.to_string(), "must be a string, is a list");
}
