//! Invalid reviews.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::super::http_error;
use super::{decode, deep, request};
use crate::json::Kind;

fn failure(body: &str) -> (u16, String) {
    let decoded = decode(body).unwrap_or_else(|error| panic!("{error}: {body}"));
    assert_eq!(decoded.head.uid, "u-1");
    let failure = decoded.content.expect_err(body);
    (failure.code().status(), failure.message())
}

#[test]
fn an_invalid_request_is_refused_with_its_uid_and_the_path() {
    const RESOURCE: &str = "request.resource: must be a map of the strings group, version and resource; send";
    for (changes, code, message) in [
        (json!({"operation": null}), 400, "request.operation: is missing; send it"),
        (json!({"operation": 7}), 400, "request.operation: must be a string, is a number"),
        (
            json!({"operation": "Create"}),
            400,
            "request.operation: \"Create\" does not exist; send one of CREATE, UPDATE, DELETE, CONNECT",
        ),
        (json!({"dryRun": "true"}), 400, "request.dryRun: must be true or false, is a string"),
        (json!({"dryRun": 1}), 400, "request.dryRun: must be true or false, is a number"),
        (json!({"namespace": ["a"]}), 400, "request.namespace: must be a string, is a list"),
        (json!({"name": {}}), 400, "request.name: must be a string, is a map"),
        (json!({"subResource": false}), 400, "request.subResource: must be a string, is a boolean"),
        (json!({"resource": null}), 400, RESOURCE),
        (json!({"resource": "works"}), 400, RESOURCE),
        (json!({"resource": {"group": "g", "version": "v1"}}), 400, RESOURCE),
        (json!({"resource": {"group": "g", "version": "", "resource": "works"}}), 400, RESOURCE),
        (json!({"resource": {"group": 1, "version": "v1", "resource": "works"}}), 400, RESOURCE),
        (
            json!({"object": []}),
            422,
            "Work/checkout-1: request.object: must be a map, is a list; send one object",
        ),
        (json!({"object": "{}", "name": null}), 422, "request.object: must be a map, is a string"),
        (
            json!({"object": deep(513)}),
            422,
            "Work/checkout-1: request.object: nested 513 levels deep, more than the 512 that are read; send a flatter",
        ),
    ] {
        let (found, text) = failure(&request(changes));
        assert!(
            found == code && text.starts_with(message),
            "{found} {text}\nshould begin with\n{code} {message}"
        );
    }
    assert!(decode(request(json!({"object": deep(512)}))).unwrap().content.is_ok());
}

#[test]
fn a_repeated_name_in_the_object_is_refused_with_its_path() {
    let body = request(json!({"object": {"spec": {"replicas": 1, "paused": 2}}}));
    let body = body.replace("paused", "replicas");
    let place = body.rfind("\"replicas\"").unwrap();
    assert_eq!(
        failure(&body),
        (
            422,
            format!(
                "Work/checkout-1: request.object: the member \"replicas\" is there twice, the second time at byte {place}; fix the object"
            )
        )
    );
}

#[test]
fn a_repeated_name_in_the_envelope_is_refused_also_behind_an_object_that_has_one() {
    let broken = json!({"oldObject": {"a": 1, "b": 2}});
    let broken = request(broken).replace(r#""b":2"#, r#""a":2"#);
    assert!(decode(broken.as_str()).unwrap().content.is_ok());
    for (member, again) in [
        (r#""operation":"UPDATE""#, r#""operation":"DELETE""#),
        (r#""dryRun":false"#, r#""dryRun":true"#),
        (r#""namespace":"karmada-es-cluster-x""#, r#""namespace":"karmada-es-cluster-z""#),
        (r#""name":"checkout-1","namespace""#, r#""name":"checkout-2","namespace""#),
        (r#""resource":"works""#, r#""resource":"others""#),
        (r#""kind":"Work","version""#, r#""kind":"Others","version""#),
        (r#""object":{"#, r#""object":{}"#),
    ] {
        let again = again.trim_end_matches(",\"namespace\"").trim_end_matches(",\"version\"");
        for body in [&request(json!({})), &broken] {
            assert_eq!(body.matches(member).count(), 1, "{member} in {body}");
            let (code, message) = failure(&body.replace(member, &format!("{again},{member}")));
            assert!(code == 400 && message.ends_with("; send it once"), "{again}: {code} {message}");
        }
    }
}

#[test]
fn another_version_and_a_missing_uid_are_unreadable() {
    let right = request(json!({}));
    for (body, message) in [
        (String::new(), "the body is no AdmissionReview: not JSON at byte 0"),
        ("nonsense".to_owned(), "the body is no AdmissionReview: not JSON at byte 0"),
        ("[]".to_owned(), "kind: must be \"AdmissionReview\", is missing"),
        (right[..200].to_owned(), "the body is no AdmissionReview: not JSON at byte 200"),
        (
            right.replace("admission.k8s.io/v1", "admission.k8s.io/v1beta1"),
            "apiVersion: must be \"admission.k8s.io/v1\", is \"admission.k8s.io/v1beta1\"; set `admissionReviewVersions: [v1]` in the webhook configuration",
        ),
        (
            right.replace("\"apiVersion\":\"admission.k8s.io/v1\",", ""),
            "apiVersion: must be \"admission.k8s.io/v1\", is missing",
        ),
        (
            right.replace("AdmissionReview", "ResourceInterpreterContext"),
            "kind: must be \"AdmissionReview\", is \"ResourceInterpreterContext\"; send an AdmissionReview",
        ),
        (right.replacen('{', r#"{"kind":"AdmissionReview","#, 1), "the body has the member \"kind\" twice"),
        (right.replacen('{', r#"{"request":{"uid":"u-2"},"#, 1), "the body has the member \"request\" twice"),
        (right.replace("\"request\"", "\"response\""), "the body is no AdmissionReview: it has no `request`"),
        (right.replace("\"u-1\"", "\"u-1\",\"uid\":\"u-1\""), "`request.uid` must be there once"),
        (request(json!({"uid": null})), "`request.uid` must be there once"),
        (request(json!({"uid": ""})), "`request.uid` must be there once"),
        (request(json!({"uid": 7})), "`request.uid` must be there once"),
    ] {
        let error = decode(body.as_str()).expect_err(&body).to_string();
        assert!(error.starts_with(message), "{error}\nshould begin with\n{message}");
    }
    assert!(decode(b"{\"request\":{\"uid\":\"\xff\"}}".as_slice()).is_err());
}

#[test]
fn an_operation_that_does_not_exist_has_one_label() {
    for operation in [json!("Create"), json!(null), json!(7), json!("\u{1}".repeat(1000))] {
        assert_eq!(decode(request(json!({"operation": operation}))).unwrap().head.operation, "unknown");
    }
}

fn anything() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(json!(null)),
        any::<bool>().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        "(CREATE|UPDATE|DELETE|[a-z]{0,3}|\\PC{0,3})".prop_map(Value::from),
        (500_usize..520).prop_map(deep),
    ];
    leaf.prop_recursive(3, 12, 4, |inner| {
        let name = "(group|version|resource|kind|a)";
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            proptest::collection::vec((name, inner), 0..4)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

/// A member and its new value.
fn change() -> impl Strategy<Value = (&'static str, Value)> {
    let members = [
        "kind",
        "resource",
        "subResource",
        "name",
        "namespace",
        "operation",
        "object",
        "oldObject",
        "dryRun",
        "other",
    ];
    (proptest::sample::select(members.to_vec()), anything())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn whatever_the_members_are_the_uid_is_known_and_a_failure_is_the_callers(
        changes in proptest::collection::vec(change(), 0..4),
    ) {
        let changes = Value::Object(changes.into_iter().map(|(name, value)| (name.to_owned(), value)).collect());
        let body = request(changes);
        let decoded = decode(body.as_str()).unwrap();
        prop_assert_eq!(decoded.head.uid.as_ref(), "u-1");
        match decoded.content {
            Err(failure) => prop_assert!(http_error(failure.code()).is_none()),
            Ok(review) => {
                prop_assert_eq!(decoded.head.operation, review.operation.name());
                prop_assert_eq!(decoded.head.dry_run, Some(review.dry_run));
                prop_assert_eq!(&decoded.head.name, &review.name);
                for object in [review.object, review.old_object].into_iter().flatten() {
                    let is_map = object.kind() == Kind::Object;
                    prop_assert!(is_map && object.to_value().is_ok());
                }
            }
        }
    }

    #[test]
    fn no_bytes_bring_it_down(at in any::<proptest::sample::Index>(), bytes in proptest::collection::vec(any::<u8>(), 0..4)) {
        let mut body = request(json!({})).into_bytes();
        let at = at.index(body.len());
        let end = (at + bytes.len()).min(body.len());
        body.splice(at..end, bytes);
        let valid = serde_json::from_slice::<serde::de::IgnoredAny>(&body).is_ok();
        let read = decode(body);
        prop_assert!(valid || read.is_err());
    }
}
