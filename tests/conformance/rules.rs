//! Each rule accepts what is right, and can fail.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD};

use crate::karmada::{Asked, Verdict, verify};
use crate::reply::{Reply, Rule};

const OBJECT: &str =
    r#"{"kind":"Rollout","metadata":{"name":"checkout"},"spec":{"replicas":3,"steps":[{"pull":"true"}]}}"#;

fn asked(operation: &str) -> Asked {
    let body = format!(r#"{{"request":{{"uid":"u-1","operation":"{operation}","object":{OBJECT}}}}}"#);
    Asked::of(body.as_bytes())
}

/// The bytes of a reply with this body.
fn framed(body: &str) -> String {
    let length = body.len();
    format!("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n{body}")
}

/// A body with these members in its response.
fn body(members: &str) -> String {
    format!(
        r#"{{"apiVersion":"config.karmada.io/v1alpha1","kind":"ResourceInterpreterContext","response":{{"uid":"u-1",{members}}}}}"#
    )
}

fn reply(members: &str) -> String {
    framed(&body(members))
}

const REPLICAS: &str = r#""successful":true,"replicas":3"#;
const REFUSAL: &str = r#""successful":false,"status":{"code":422,"message":"fix it"}"#;

fn patched(patch: &str) -> String {
    format!(r#""successful":true,"patchType":"JSONPatch","patch":"{}""#, STANDARD.encode(patch))
}

fn judge(operation: &str, bytes: &str) -> Result<Verdict, Rule> {
    let reply = Reply::parse(bytes.as_bytes());
    reply.and_then(|reply| verify(&asked(operation), &reply)).map_err(|broken| broken.rule)
}

/// Replaces what stands there exactly once.
fn with(text: &str, old: &str, new: &str) -> String {
    assert_eq!(text.matches(old).count(), 1, "{old:?} in {text}");
    text.replace(old, new)
}

/// Checks that changes to the bytes of a good reply break `rule`.
fn breaks(rule: Rule, changes: &[(&str, &str)]) {
    let good = reply(REPLICAS);
    assert_eq!(judge("InterpretReplica", &good), Ok(Verdict::Replicas(3, None)));
    for (old, new) in changes {
        assert_eq!(judge("InterpretReplica", &with(&good, old, new)), Err(rule), "{old:?} to {new:?}");
    }
}

/// Checks that changes to the body of a good reply, with the length unchanged, break `rule`.
fn body_breaks(rule: Rule, changes: &[(&str, &str)]) {
    for (old, new) in changes {
        let bytes = framed(&with(&body(REPLICAS), old, new));
        assert_eq!(judge("InterpretReplica", &bytes), Err(rule), "{old:?} to {new:?}");
    }
}

/// Checks that these members instead of right ones break `rule`.
fn refuses(operation: &str, rule: Rule, members: &[&str]) {
    for members in members {
        assert_eq!(judge(operation, &reply(members)), Err(rule), "{members}");
    }
}

#[test]
fn a_reply_is_a_head_and_a_body_of_the_declared_length() {
    let length = format!("content-length: {}", reply(REPLICAS).split_once("\r\n\r\n").unwrap().1.len());
    breaks(
        Rule::Http,
        &[
            ("HTTP/1.1 200", "HTTP/2 200"),
            ("HTTP/1.1 200", "HTTP/1.1 OK"),
            ("\r\n\r\n", "\r\n"),
            ("content-type:", "content-type"),
            (&length, "content-length: 5"),
            (&length, &format!("{length}9")),
            (&length, &format!("{length}\r\n{length}")),
            (&length, &format!("{length}\r\ntransfer-encoding: chunked")),
            (&length, "x: y"),
            ("}}", "}}\n"),
            ("}}", "}}HTTP/1.1 200 OK\r\n\r\n"),
        ],
    );
}

#[test]
fn an_answer_is_a_200() {
    breaks(
        Rule::HttpStatus,
        &[("200 OK", "204 No Content"), ("200 OK", "500 Internal Server Error"), ("200 OK", "400 x")],
    );
}

#[test]
fn an_answer_is_said_to_be_json() {
    breaks(
        Rule::ContentType,
        &[("application/json", "text/plain"), ("content-type: application/json", "x: y")],
    );
}

#[test]
fn nobody_is_asked_to_try_again() {
    breaks(Rule::RetryAfter, &[("content-type:", "Retry-After: 1\r\ncontent-type:")]);
}

#[test]
fn a_body_is_one_json_document() {
    let good = body(REPLICAS);
    assert!(judge("InterpretReplica", &framed(&good)).is_ok());
    let (twice, comma, cut) = (good.repeat(2), format!("{good},"), &good[..good.len() - 1]);
    for body in ["", "{", "[]", "null", "ok", &twice, &comma, cut] {
        assert_eq!(judge("InterpretReplica", &framed(body)), Err(Rule::OneDocument), "{body}");
    }
}

#[test]
fn a_reply_says_what_it_is() {
    body_breaks(
        Rule::TypeMeta,
        &[
            ("config.karmada.io/v1alpha1", "config.karmada.io/v1"),
            ("ResourceInterpreterContext", "AdmissionReview"),
            (r#""apiVersion""#, r#""apiversion""#),
        ],
    );
}

#[test]
fn a_reply_is_to_the_uid_that_asked() {
    body_breaks(
        Rule::Uid,
        &[("u-1", "u-2"), (r#""u-1""#, "1"), (r#""uid""#, r#""UID""#), (r#""response""#, r#""request""#)],
    );
}

#[test]
fn a_failure_says_why_in_less_than_a_kibibyte_and_nothing_else() {
    assert_eq!(judge("ReviseObject", &reply(REFUSAL)), Ok(Verdict::Refused(422, "fix it".to_owned())));
    let longest = with(REFUSAL, "fix it", &"x".repeat(1023));
    assert!(judge("ReviseObject", &reply(&longest)).is_ok());
    refuses(
        "ReviseObject",
        Rule::Failure,
        &[
            r#""successful":false"#,
            &with(REFUSAL, "422", "200"),
            &with(REFUSAL, "422", "\"422\""),
            &with(REFUSAL, "fix it", ""),
            &with(REFUSAL, "fix it", &"x".repeat(1024)),
            &with(REFUSAL, "message", "reason"),
            &with(REFUSAL, "false", "\"false\""),
            &with(REFUSAL, r#""successful":false,"#, ""),
            &with(REFUSAL, "false", "true"),
            &format!("{REFUSAL},\"replicas\":3"),
        ],
    );
    // An operation that is not answered can't succeed.
    refuses("Retain", Rule::Failure, &[&patched("[]")]);
}

#[test]
fn replicas_are_an_integer() {
    refuses(
        "InterpretReplica",
        Rule::Replicas,
        &[
            r#""successful":true"#,
            &with(REPLICAS, "3", "3.0"),
            &with(REPLICAS, "3", "\"3\""),
            &with(REPLICAS, "3", "null"),
            &with(REPLICAS, "3", "-1"),
            &with(REPLICAS, "3", "2147483648"),
        ],
    );
}

#[test]
fn requirements_are_of_karmadas_type() {
    let requirements = |text: &str| format!("{REPLICAS},\"replicaRequirements\":{text}");
    let right = r#"{"nodeClaim":{"nodeSelector":{"a":"b"},"tolerations":[]},"resourceRequest":{"cpu":"300m","memory":"1Gi","x/y":"2"},"namespace":"shop","priorityClassName":"high"}"#;
    for right in ["{}", right] {
        let value = serde_json::from_str(right).unwrap();
        let judged = judge("InterpretReplica", &reply(&requirements(right)));
        assert_eq!(judged, Ok(Verdict::Replicas(3, Some(value))));
    }
    for wrong in [
        "null",
        "[]",
        r#"{"replicas":3}"#,
        r#"{"namespace":1}"#,
        r#"{"resourceRequest":{"cpu":0.3}}"#,
        r#"{"resourceRequest":{"cpu":"0.3"}}"#,
        r#"{"resourceRequest":{"cpu":"3 m"}}"#,
        r#"{"resourceRequest":{"cpu":"m"}}"#,
        r#"{"resourceRequest":[]}"#,
        r#"{"nodeClaim":{"tolerations":{}}}"#,
        r#"{"nodeClaim":{"affinity":{}}}"#,
    ] {
        refuses("InterpretReplica", Rule::Requirements, &[&requirements(wrong)]);
    }
}

#[test]
fn patch_and_its_type_are_there_together() {
    assert_eq!(judge("ReviseReplica", &reply(&patched("[]"))), Ok(Verdict::Revised("[]".to_owned())));
    refuses(
        "ReviseReplica",
        Rule::PatchPair,
        &[
            r#""successful":true"#,
            r#""successful":true,"patch":"W10=""#,
            r#""successful":true,"patchType":"JSONPatch""#,
            r#""successful":true,"patchType":"JSONPatch","patch":null"#,
            r#""successful":true,"patchType":"JSONPatch","patch":[]"#,
            &with(&patched("[]"), "JSONPatch", "MergePatch"),
            &patched(""),
        ],
    );
}

#[test]
fn a_patch_is_standard_base64_with_padding() {
    let patch = r#"[{"op":"add","path":"/spec/a","value":">>>???!"}]"#;
    let good = patched(patch);
    assert!(judge("ReviseObject", &reply(&good)).is_ok());
    let encoded = STANDARD.encode(patch);
    assert!(encoded.contains(['+', '/']) && encoded.ends_with('='), "{encoded} tells nothing");
    refuses(
        "ReviseObject",
        Rule::PatchEncoding,
        &[
            &with(&good, &encoded, &STANDARD_NO_PAD.encode(patch)),
            &with(&good, &encoded, &encoded.replace('+', "-").replace('/', "_")),
            &with(&good, &encoded, &encoded.replacen(&encoded[..4], &format!("{}\\n", &encoded[..4]), 1)),
            &with(&good, &encoded, &STANDARD.encode([0xff, 0xfe])),
        ],
    );
}

#[test]
fn a_patch_holds_the_three_operations_and_no_other() {
    for patch in [
        "{}",
        "null",
        "[1]",
        r#"[{"op":"test","path":"/spec/replicas","value":3}]"#,
        r#"[{"op":"move","from":"/spec/replicas","path":"/spec/size"}]"#,
        r#"[{"op":"copy","from":"/spec/replicas","path":"/spec/size"}]"#,
        r#"[{"op":"replace","path":"/spec/replicas"}]"#,
        r#"[{"op":"remove","path":"/spec/replicas","value":null}]"#,
        r#"[{"path":"/spec/replicas","value":3}]"#,
        r#"[{"op":"add","value":3}]"#,
    ] {
        refuses("ReviseObject", Rule::PatchOperations, &[&patched(patch)]);
    }
}

#[test]
fn a_patch_applies_to_the_object_of_the_request() {
    for patch in [
        r#"[{"op":"replace","path":"/spec/steps/0/pull","value":null}]"#,
        r#"[{"op":"add","path":"/spec/steps/1","value":{}},{"op":"remove","path":"/spec/replicas"}]"#,
    ] {
        assert_eq!(judge("ReviseObject", &reply(&patched(patch))), Ok(Verdict::Revised(patch.to_owned())));
    }
    for patch in [
        r#"[{"op":"replace","path":"/spec/size","value":3}]"#,
        r#"[{"op":"remove","path":"/spec/size"}]"#,
        r#"[{"op":"add","path":"/spec/a/b","value":3}]"#,
        r#"[{"op":"add","path":"/spec/steps/2","value":3}]"#,
        r#"[{"op":"replace","path":"/spec/steps/1","value":3}]"#,
        r#"[{"op":"replace","path":"spec","value":3}]"#,
    ] {
        refuses("ReviseObject", Rule::PatchApplies, &[&patched(patch)]);
    }
}

#[test]
fn a_patched_object_is_still_the_same_one() {
    for patch in [
        r#"[{"op":"replace","path":"/kind","value":"Deployment"}]"#,
        r#"[{"op":"add","path":"/metadata/namespace","value":"other"}]"#,
        r#"[{"op":"remove","path":"/metadata"}]"#,
    ] {
        refuses("ReviseObject", Rule::Identity, &[&patched(patch)]);
    }
}
