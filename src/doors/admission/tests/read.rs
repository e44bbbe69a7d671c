//! Valid reviews.

use serde_json::{Value, json};

use super::super::{Operation, Review};
use super::{decode, deep, request};

fn review(changes: Value) -> Review<'static> {
    decode(request(changes)).unwrap().content.unwrap()
}

#[test]
fn optional_members_may_be_missing() {
    const OPTIONAL: [&str; 7] = ["kind", "name", "namespace", "subResource", "object", "oldObject", "dryRun"];
    let body = r#"{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","request":{MORE"uid":"u-1","operation":"CREATE",
        "resource":{"version":"v1","resource":"pods"}}}"#;
    for more in [String::new(), OPTIONAL.map(|name| format!("\"{name}\":null,")).concat()] {
        let decoded = decode(body.replace("MORE", &more)).unwrap();
        let head = decoded.head;
        assert_eq!([head.kind, head.namespace, head.name], ["", "", ""]);
        let review = decoded.content.unwrap();
        assert_eq!([&review.namespace, &review.name, &review.resource.sub_resource], ["", "", ""]);
        assert_eq!((review.resource.group.as_ref(), review.resource.resource.as_ref()), ("", "pods"));
        assert!(review.object.is_none() && review.old_object.is_none() && !review.dry_run);
    }
}

#[test]
fn every_operation_has_its_name() {
    for (name, operation) in [
        ("CREATE", Operation::Create),
        ("UPDATE", Operation::Update),
        ("DELETE", Operation::Delete),
        ("CONNECT", Operation::Connect),
    ] {
        let decoded = decode(request(json!({"operation": name, "dryRun": true}))).unwrap();
        assert_eq!((decoded.head.operation, decoded.head.dry_run), (name, Some(true)));
        let review = decoded.content.unwrap();
        assert_eq!((review.operation, review.operation.name(), review.dry_run), (operation, name, true));
    }
}

#[test]
fn a_sub_resource_is_decoded() {
    let review = review(json!({"subResource": "status"}));
    assert_eq!([&review.resource.resource, &review.resource.sub_resource], ["works", "status"]);
}

#[test]
fn escapes_are_decoded() {
    let body =
        request(json!({})).replace("u-1", r"u\u002d1").replace(r#""operation""#, r#""operat\u0069on""#);
    let decoded = decode(body).unwrap();
    assert_eq!((decoded.head.uid.as_ref(), decoded.content.unwrap().operation), ("u-1", Operation::Update));
}

#[test]
fn an_invalid_old_object_counts_as_missing() {
    for broken in [json!("text"), json!([]), json!(7), deep(513)] {
        let review = review(json!({"oldObject": broken}));
        assert!(review.object.is_some() && review.old_object.is_none());
    }
    assert!(review(json!({"oldObject": deep(512)})).old_object.is_some());
    let twice = request(json!({"oldObject": {"a": 1, "b": 2}})).replace(r#""b":2"#, r#""a":2"#);
    let review = decode(twice).unwrap().content.unwrap();
    assert!(review.object.is_some() && review.old_object.is_none());
}

#[test]
fn unknown_members_are_ignored() {
    for anything in [json!(7), json!("text"), json!([[]]), deep(600)] {
        let review = review(
            json!({"userInfo": anything, "options": anything, "requestKind": anything, "new": anything}),
        );
        assert_eq!(review.name, "checkout-1");
    }
}
