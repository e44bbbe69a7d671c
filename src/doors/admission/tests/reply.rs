//! The bytes of replies, and whether an API server accepts them.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::super::{Head, MAX_WARNING_BYTES, Response, encode, http_error};
use super::{decode, request};
use crate::domain::{Code, Failure};
use crate::json::{Pointer, Value as Tree};
use crate::patch::{Operation, Patch};

fn head(uid: &str) -> Head<'static> {
    decode(request(json!({"uid": uid}))).unwrap().head
}

fn allowed(patch: Patch<'_>, warnings: Vec<String>) -> Response<'_> {
    Response::Allowed { patch, warnings }
}

/// Why an API server would refuse a reply to `uid`.
///
/// Source: kubernetes/apiserver v0.36.2 `VerifyAdmissionResponse`; the types of kubernetes/api
/// `admission/v1`.
fn refusal_reason(reply: &str, uid: &str) -> Option<&'static str> {
    let reply: Value = serde_json::from_str(reply).unwrap();
    if (&reply["apiVersion"], &reply["kind"]) != (&json!("admission.k8s.io/v1"), &json!("AdmissionReview")) {
        return Some("another version or kind");
    }
    let response = &reply["response"];
    if response["uid"] != uid {
        return Some("another uid");
    }
    let Some(allowed) = response["allowed"].as_bool() else { return Some("no verdict") };
    match (response.get("patch"), response.get("patchType")) {
        (None, None) => {}
        (Some(Value::String(patch)), Some(kind)) if kind == "JSONPatch" && allowed => {
            let Ok(patch) = STANDARD.decode(patch) else { return Some("a patch that is not base64") };
            if !serde_json::from_slice::<json_patch::Patch>(&patch).is_ok_and(|patch| !patch.is_empty()) {
                return Some("a patch that is none");
            }
        }
        _ => return Some("one of patch and patchType, or a patch of what is refused"),
    }
    match response.get("warnings") {
        None => {}
        Some(Value::Array(warnings)) if !warnings.is_empty() => {
            for warning in warnings.iter().map(|warning| warning.as_str().unwrap_or("\0")) {
                if warning.chars().count() >= 256 || warning.contains(char::is_control) {
                    return Some("a warning that is cut short or dropped");
                }
            }
        }
        Some(_) => return Some("warnings that are no list"),
    }
    match response.get("status") {
        None if allowed => None,
        Some(status)
            if !allowed
                && status["status"] == "Failure"
                && status["code"].as_u64().is_some_and(|code| (400..500).contains(&code))
                && status["reason"].is_string()
                && status["message"].is_string() =>
        {
            None
        }
        _ => Some("a status that does not go with the verdict"),
    }
}

#[test]
fn replies_are_these_bytes() {
    let head = head("u \"1\"");
    let reply = |verdict| {
        let reply = encode(&head, &verdict);
        assert_eq!(refusal_reason(&reply, "u \"1\""), None, "{reply}");
        let start =
            r#"{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","response":{"uid":"u \"1\"","#;
        reply.strip_prefix(start).unwrap().strip_suffix("}}").unwrap().to_owned()
    };
    assert_eq!(reply(allowed(Patch::default(), Vec::new())), r#""allowed":true"#);
    let patch = Patch(vec![Operation::Remove(Pointer::parse("/a").unwrap())]);
    assert_eq!(
        reply(allowed(patch, vec!["one".to_owned(), "\"two\"".to_owned()])),
        r#""allowed":true,"patchType":"JSONPatch","patch":"W3sib3AiOiJyZW1vdmUiLCJwYXRoIjoiL2EifV0=","warnings":["one","\"two\""]"#
    );
    assert_eq!(
        reply(Response::Denied(Failure::unprocessable("no \"good\"").context("Work/a"))),
        r#""allowed":false,"status":{"status":"Failure","message":"Work/a: no \"good\"","reason":"Invalid","code":422}"#
    );
    assert_eq!(
        reply(Response::Denied(Failure::bad_request("what"))),
        r#""allowed":false,"status":{"status":"Failure","message":"what","reason":"BadRequest","code":400}"#
    );
}

#[test]
fn a_warning_is_one_short_line() {
    let warnings = |text: &str| -> Vec<String> {
        let reply = encode(&head("u"), &allowed(Patch::default(), vec![text.to_owned()]));
        assert_eq!(refusal_reason(&reply, "u"), None, "{reply}");
        let reply: Value = serde_json::from_str(&reply).unwrap();
        serde_json::from_value(reply["response"]["warnings"].clone()).unwrap()
    };
    assert_eq!(warnings("a\tb\r\nc\u{0}\u{7f}\u{85}d"), ["a b  c   d"]);
    let exact = "x".repeat(MAX_WARNING_BYTES);
    assert_eq!(warnings(&exact), [exact.as_str()]);
    let long = &warnings(&format!("Work/a: {}; touch it", "é".repeat(300)))[0];
    assert!(long.starts_with("Work/a: é") && long.ends_with("é; touch it"), "{long}");
    assert!(long.len() <= MAX_WARNING_BYTES && long.len() > MAX_WARNING_BYTES - 5, "{}", long.len());
}

#[test]
fn failures_of_the_user_are_denied_and_failures_of_the_server_are_http_errors() {
    for code in [Code::BadRequest, Code::Unprocessable, Code::Unscheduled] {
        assert_eq!(http_error(code), None);
    }
    for (code, status, reason) in [
        (Code::Conflict, 503, "ServiceUnavailable"),
        (Code::Unavailable, 503, "ServiceUnavailable"),
        (Code::DeadlineExceeded, 504, "Timeout"),
        (Code::Internal, 500, "InternalError"),
    ] {
        let error = http_error(code).unwrap();
        assert_eq!((error.status(), error.reason()), (status, reason));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn every_reply_is_one_that_an_api_server_takes(
        uid in "\\PC{1,12}|[\\x01-\\x1f\"\\\\]{1,4}",
        denied in any::<bool>(),
        text in "(?s).{0,400}",
        warnings in proptest::collection::vec("(?s).{0,400}", 0..3),
        changes in proptest::collection::vec(("[a-z/~]{0,4}", "(?s).{0,40}"), 0..3),
    ) {
        let changes = changes.into_iter().map(|(name, value)| {
            Operation::Add(Pointer::of([name]), Tree::from(value))
        });
        let response = if denied {
            Response::Denied(Failure::unprocessable(text))
        } else {
            allowed(Patch(changes.collect()), warnings)
        };
        let reply = encode(&head(&uid), &response);
        prop_assert_eq!(refusal_reason(&reply, &uid), None, "{}", reply);
    }
}
