//! Each rule for the reply to an `AdmissionReview` accepts what is right, and can fail.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD};

use crate::admission::{Asked, Verdict, verify};
use crate::reply::{Reply, Rule};

const WORK: &str = r#"{"apiVersion":"work.karmada.io/v1alpha1","kind":"Work","metadata":{"name":"w","annotations":{"a":"b"}},
"spec":{"workload":{"manifests":[{"apiVersion":"a/v1","kind":"Train","metadata":{"name":"t","namespace":"n",
"labels":{"team":"x","work.karmada.io/permanent-id":"1"},"annotations":{"resourcetemplate.karmada.io/uid":"2"}},"go":1}]}}}"#;

fn asked(object: &str) -> Asked {
    Asked::of(format!(r#"{{"request":{{"uid":"u-1","object":{object}}}}}"#).as_bytes())
}

fn framed(status: &str, body: &str) -> String {
    let length = body.len();
    format!("HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n{body}")
}

/// The body of an answer with these members.
fn body(members: &str) -> String {
    format!(
        r#"{{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","response":{{"uid":"u-1",{members}}}}}"#
    )
}

fn judge_bytes(object: &str, bytes: &str) -> Result<Verdict, Rule> {
    let reply = Reply::parse(bytes.as_bytes());
    reply.and_then(|reply| verify(&asked(object), &reply)).map_err(|broken| broken.rule)
}

fn judge(members: &str) -> Result<Verdict, Rule> {
    judge_bytes(WORK, &framed("200 OK", &body(members)))
}

/// Replaces what stands there exactly once.
fn with(text: &str, old: &str, new: &str) -> String {
    assert_eq!(text.matches(old).count(), 1, "{old:?} in {text}");
    text.replace(old, new)
}

const ALLOWED: &str = r#""allowed":true"#;
const DENIED: &str =
    r#""allowed":false,"status":{"status":"Failure","message":"fix it","reason":"Invalid","code":422}"#;
const FAULT: &str = r#"{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"no","reason":"ServiceUnavailable","code":503}"#;

fn patched(patch: &str) -> String {
    format!(r#""allowed":true,"patchType":"JSONPatch","patch":"{}""#, STANDARD.encode(patch))
}

/// A patch of this one operation.
fn operation(op: &str, path: &str, value: &str) -> String {
    patched(&format!(r#"[{{"op":"{op}","path":"{path}","value":{value}}}]"#))
}

fn refuses(rule: Rule, members: &[&str]) {
    for members in members {
        assert_eq!(judge(members), Err(rule), "{members}");
    }
}

#[test]
fn an_answer_is_a_200_in_json_that_says_what_it_is_and_to_whom() {
    let good = framed("200 OK", &body(ALLOWED));
    assert_eq!(judge_bytes(WORK, &good), Ok(Verdict::nothing()));
    for (old, new, rule) in [
        ("200 OK", "201 Created", Rule::HttpStatus),
        ("200 OK", "204 No Content", Rule::HttpStatus),
        ("200 OK", "422 Unprocessable Entity", Rule::HttpStatus),
        ("application/json", "text/plain; a=application", Rule::ContentType),
        ("content-type:", "Retry-After: 1\r\ncontent-type:", Rule::RetryAfter),
    ] {
        assert_eq!(judge_bytes(WORK, &with(&good, old, new)), Err(rule), "{old:?} to {new:?}");
    }
    for (old, new, rule) in [
        ("admission.k8s.io/v1", "admission.k8s.io/v1beta1", Rule::TypeMeta),
        ("AdmissionReview", "AdmissionResponse", Rule::TypeMeta),
        (r#""kind""#, r#""Kind""#, Rule::TypeMeta),
        ("u-1", "u-2", Rule::Uid),
        (r#""u-1""#, "1", Rule::Uid),
        (r#""response""#, r#""request""#, Rule::Uid),
        ("}}", "}", Rule::OneDocument),
        ("}}", "}}{}", Rule::OneDocument),
    ] {
        let bytes = framed("200 OK", &with(&body(ALLOWED), old, new));
        assert_eq!(judge_bytes(WORK, &bytes), Err(rule), "{old:?} to {new:?}");
    }
}

#[test]
fn a_denial_says_why_in_less_than_a_kibibyte_and_nothing_else() {
    assert_eq!(judge(DENIED), Ok(Verdict::Denied(422, "fix it".to_owned())));
    assert!(judge(&with(DENIED, "fix it", &"x".repeat(1023))).is_ok());
    refuses(
        Rule::Failure,
        &[
            r#""allowed":false"#,
            &with(DENIED, "422", "200"),
            &with(DENIED, "422", "503"),
            &with(DENIED, "422", "\"422\""),
            &with(DENIED, "fix it", ""),
            &with(DENIED, "fix it", &"x".repeat(1024)),
            &with(DENIED, "message", "details"),
            &with(DENIED, "Invalid", ""),
            &with(DENIED, "Failure", "Success"),
            &with(DENIED, "false", "\"false\""),
            &with(DENIED, "false", "null"),
            &with(DENIED, r#""allowed":false,"#, ""),
            &with(DENIED, "false", "true"),
            &format!("{DENIED},\"patch\":\"W10=\""),
        ],
    );
}

#[test]
fn what_is_no_answer_is_a_5xx_with_a_status_that_says_why() {
    let fault = framed("503 Service Unavailable", FAULT);
    assert_eq!(judge_bytes(WORK, &fault), Ok(Verdict::Failed(503, "no".to_owned())));
    for (old, new, rule) in [
        ("503 Service", "500 Service", Rule::Fault),
        ("503 Service", "403 Service", Rule::HttpStatus),
        ("application/json", "text/html", Rule::ContentType),
        ("content-type:", "retry-after: 5\r\ncontent-type:", Rule::RetryAfter),
    ] {
        assert_eq!(judge_bytes(WORK, &with(&fault, old, new)), Err(rule), "{old:?} to {new:?}");
    }
    for (old, new) in [
        ("\"Status\"", "\"Pod\""),
        ("v1", "v2"),
        ("Failure", "Success"),
        ("\"no\"", "\"\""),
        ("ServiceUnavailable", ""),
        (":503", ":500"),
    ] {
        let bytes = framed("503 Service Unavailable", &with(FAULT, old, new));
        assert_eq!(judge_bytes(WORK, &bytes), Err(Rule::Fault), "{old:?} to {new:?}");
    }
    let denied = framed("503 Service Unavailable", &body(DENIED));
    assert_eq!(judge_bytes(WORK, &denied), Err(Rule::Fault));
}

#[test]
fn patch_and_its_type_are_there_together_or_neither_is() {
    let patch = r#"[{"op":"replace","path":"/spec/workload/manifests/0/go","value":null}]"#;
    let verdict = Verdict::Allowed { patch: Some(patch.to_owned()), warnings: Vec::new() };
    assert_eq!(judge(&patched(patch)), Ok(verdict));
    refuses(
        Rule::PatchPair,
        &[
            r#""allowed":true,"patch":"W10=""#,
            r#""allowed":true,"patchType":"JSONPatch""#,
            r#""allowed":true,"patchType":"JSONPatch","patch":null"#,
            r#""allowed":true,"patchType":null,"patch":null"#,
            &with(&patched(patch), "JSONPatch", "MergePatch"),
            &with(&patched(patch), "JSONPatch", ""),
            &patched(""),
            &patched("[]"),
        ],
    );
    refuses(Rule::Failure, &[r#""allowed":true,"status":{"code":200}"#]);
}

#[test]
fn a_patch_is_base64_of_operations_that_apply_to_the_object() {
    let good = operation("add", "/spec/workload/manifests/0/stop", r#"">>>???!""#);
    assert!(judge(&good).is_ok());
    let encoded = good.rsplit('"').nth(1).unwrap();
    assert!(encoded.contains(['+', '/']) && encoded.ends_with('='), "{encoded} tells nothing");
    let raw = STANDARD.decode(encoded).unwrap();
    refuses(
        Rule::PatchEncoding,
        &[
            &with(&good, encoded, &STANDARD_NO_PAD.encode(raw)),
            &with(&good, encoded, &encoded.replace('+', "-").replace('/', "_")),
            &with(&good, encoded, &STANDARD.encode([0xff, 0xfe])),
        ],
    );
    refuses(
        Rule::PatchOperations,
        &[
            &patched("{}"),
            &patched(r#"[{"op":"remove","path":"/spec","value":1}]"#),
            &operation("test", "/kind", r#""Work""#),
            &operation("move", "/kind", "1"),
        ],
    );
    refuses(
        Rule::PatchApplies,
        &[
            &operation("replace", "/spec/workload/manifests/0/stop", "1"),
            &operation("replace", "/spec/workload/manifests/1/go", "1"),
            &operation("add", "/metadata/labels/a", r#""b""#),
            &patched(r#"[{"op":"remove","path":"/status"}]"#),
        ],
    );
    // In a DELETE there is nothing to change.
    let patch = framed("200 OK", &body(&operation("add", "/spec", "1")));
    assert_eq!(judge_bytes("null", &patch), Err(Rule::PatchApplies));
}

#[test]
fn only_manifests_and_the_record_change_and_whose_they_are_does_not() {
    let manifests = "/spec/workload/manifests";
    let at = |place: &str| format!("{manifests}/0/{place}");
    for good in [
        operation("add", "/metadata/annotations/reviser.io~1revision", r#""{}""#),
        operation("add", &at("metadata/annotations/reviser.io~1revised"), r#""1""#),
        operation("replace", &at("metadata/labels/team"), r#""y""#),
        operation("replace", &at("go"), "null"),
    ] {
        assert!(judge(&good).is_ok(), "{good}");
    }
    refuses(
        Rule::Identity,
        &[
            &operation("replace", "/kind", r#""Pod""#),
            &operation("add", "/metadata/namespace", r#""x""#),
            &operation("add", "/metadata/uid", r#""x""#),
        ],
    );
    refuses(
        Rule::Untouched,
        &[
            &operation("add", "/metadata/annotations/reviser.io~1other", r#""{}""#),
            &operation("add", "/metadata/labels", "{}"),
            &operation("replace", "/metadata/annotations/a", r#""c""#),
            &operation("add", "/spec/suspendDispatching", "true"),
            &operation("add", "/status", "{}"),
            &operation("add", &format!("{manifests}/-"), "{}"),
            &operation("replace", manifests, "[]"),
            &operation("replace", &format!("{manifests}/0"), "1"),
            &operation("replace", &at("apiVersion"), r#""a/v2""#),
            &operation("replace", &at("kind"), r#""Bus""#),
            &operation("replace", &at("metadata/name"), r#""u""#),
            &operation("replace", &at("metadata/namespace"), r#""m""#),
            &operation("replace", &at("metadata/labels/work.karmada.io~1permanent-id"), r#""3""#),
            &operation("replace", &at("metadata/annotations"), "{}"),
        ],
    );
}

#[test]
fn a_warning_is_one_short_line_that_is_said_once() {
    let warned = |warnings: &str| format!(r#""allowed":true,"warnings":{warnings}"#);
    let text = |warning: String| warned(&serde_json::to_string(&[warning]).unwrap());
    let verdict = Verdict::Allowed { patch: None, warnings: vec!["a".to_owned(), "b".to_owned()] };
    assert_eq!(judge(&warned(r#"["a","b"]"#)), Ok(verdict));
    assert!(judge(&text("é".repeat(256))).is_ok());
    refuses(
        Rule::Warnings,
        &[
            &warned("[]"),
            &warned("null"),
            &warned("\"a\""),
            &warned("[1]"),
            &warned("[\"\"]"),
            &warned(r#"["a","a"]"#),
            &text("é".repeat(257)),
            &text("a\nb".to_owned()),
            &text("a\tb".to_owned()),
            &text("a\u{7f}".to_owned()),
            &text("a\u{85}b".to_owned()),
        ],
    );
}
