//! Requests that are wrong, each with what exactly comes back: the HTTP status, the code and the beginning of
//! the message.
//!
//! After each of them the next good request is answered, by the same process.

mod envelope;
mod http;
mod object;

use crate::Site;
use crate::karmada::{Asked, Verdict, verify};
use crate::reply::{Reply, Rule};
use crate::spawned::wire::post;

const UID: &str = "6c1f9a35-7f0e-4f4b-9a58-0d6a2f7f5a10";

/// A right request, but for the operation that goes into it.
const REQUEST: &str = r#"{"apiVersion":"config.karmada.io/v1alpha1","kind":"ResourceInterpreterContext","request":{
"uid":"6c1f9a35-7f0e-4f4b-9a58-0d6a2f7f5a10","kind":{"group":"deploy.example.com","version":"v1alpha1","kind":"Rollout"},
"name":"checkout","namespace":"shop","operation":"OPERATION","clusterName":"cluster-z","replicas":2,
"targetClusters":[{"name":"cluster-x","replicas":3},{"name":"cluster-z","replicas":1}],
"object":{"apiVersion":"deploy.example.com/v1alpha1","kind":"Rollout","metadata":{"name":"checkout","namespace":"shop"},
"spec":{"replicas":4,"strategy":{"canary":{"steps":[{"type":"Fort","properties":{"pull":"true"}},{"type":"Batch"}]}}}}}}"#;

/// What [`REQUEST`] as it stands gets.
const NULLED: &str =
    r#"[{"op":"replace","path":"/spec/strategy/canary/steps/0/properties/pull","value":null}]"#;

/// What a request gets.
enum Gets {
    /// A `metav1.Status` with this HTTP status and a message that begins so.
    Http(u16, &'static str),
    /// A reply to the uid with this code and a message that begins so.
    Code(i64, &'static str),
    /// The answer, as if nothing were wrong.
    Patch(&'static str),
}

use Gets::{Code, Http, Patch};

/// The right request for `operation`, where `old`, which is there once, is `new`.
fn with(operation: &str, old: &str, new: &str) -> Vec<u8> {
    let request = REQUEST.replace("OPERATION", operation);
    assert_eq!(request.matches(old).count(), 1, "{old:?} in {request}");
    request.replace(old, new).into_bytes()
}

fn revise(old: &str, new: &str) -> Vec<u8> {
    with("ReviseObject", old, new)
}

fn good() -> Vec<u8> {
    with("ReviseObject", UID, UID)
}

/// Maps in maps, so many levels.
fn nested(levels: usize) -> String {
    format!("{}{{}}{}", r#"{"a":"#.repeat(levels - 1), "}".repeat(levels - 1))
}

/// Sends each body, and checks what it gets and that the server is none the worse for it.
fn check(cases: Vec<(&str, Vec<u8>, Gets)>) {
    check_requests(
        cases.into_iter().map(|(name, body, gets)| (name, post("/interpret?timeout=10s", &body), gets)),
    );
}

fn check_requests<'n>(cases: impl IntoIterator<Item = (&'n str, Vec<u8>, Gets)>) {
    let mut site = Site::start();
    for (name, request, gets) in cases {
        let reply = site.send(&request).unwrap_or_else(|broken| panic!("{name}: {broken}"));
        judge(name, &reply, &gets);
        still_serves(&mut site, name);
    }
}

fn judge(name: &str, reply: &Reply, gets: &Gets) {
    // Which operation it was does not matter to a failure; to a patch it matters that it is one.
    let asked = Asked { uid: UID.to_owned(), operation: "ReviseObject".to_owned(), object: None };
    match gets {
        Http(status, beginning) => {
            let message = reply.refusal().unwrap_or_else(|broken| panic!("{name}: {broken}"));
            assert!(
                reply.status == *status && message.starts_with(beginning),
                "{name}: {} {message}",
                reply.status
            );
        }
        Code(code, beginning) => match verify(&asked, reply) {
            Ok(Verdict::Refused(found, message)) => {
                assert!(found == *code && message.starts_with(beginning), "{name}: {found} {message}");
            }
            other => panic!("{name}: {other:?}"),
        },
        Patch(patch) => match verify(&asked, reply) {
            Ok(Verdict::Revised(found)) => assert_eq!(found, *patch, "{name}"),
            other => panic!("{name}: {other:?}"),
        },
    }
}

fn still_serves(site: &mut Site, after: &str) {
    let verdict = site.interpret(&good()).unwrap_or_else(|broken| panic!("after {after}: {broken}"));
    assert_eq!(verdict, Verdict::Revised(NULLED.to_owned()), "after {after}");
    assert!(site.server.runs(), "after {after} the process was gone");
}

#[test]
fn a_status_that_is_not_one_is_noticed() {
    let good = r#"{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"m","reason":"BadRequest","code":400}"#;
    let reply = |status: u16, body: &str| Reply {
        status,
        headers: vec![("content-type".to_owned(), "application/json".to_owned())],
        body: body.as_bytes().to_vec(),
    };
    assert_eq!(reply(400, good).refusal().unwrap(), "m");
    let rule = |reply: Reply| reply.refusal().unwrap_err().rule;
    assert_eq!(rule(reply(404, good)), Rule::Fault);
    for (old, new) in
        [("\"Status\"", "\"Pod\""), ("v1", "v2"), ("Failure", "Success"), ("\"m\"", "\"\""), ("400", "500")]
    {
        assert_eq!(rule(reply(400, &good.replace(old, new))), Rule::Fault, "{old}");
    }
    let mut retried = reply(400, good);
    retried.headers.push(("retry-after".to_owned(), "1".to_owned()));
    assert_eq!(rule(retried), Rule::RetryAfter);
}
