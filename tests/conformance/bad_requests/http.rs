//! Requests without a uid, or that are not answered: errors over HTTP. And the query.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;

use super::Gets::{Code, Http, Patch};
use super::{NULLED, UID, check, check_requests, good, judge, revise, still_serves};
use crate::Site;
use crate::reply::Reply;
use crate::spawned::wire::post;

#[test]
fn a_body_without_a_uid_is_refused_over_http() {
    const NOT_JSON: &str = "the body is no ResourceInterpreterContext: not JSON at byte ";
    const NO_REQUEST: &str = "the body is no ResourceInterpreterContext: it has no `request` that is a map";
    const NO_UID: &str = "`request.uid` must be there once, a string that is not empty";
    let truncated = good()[..good().len() - 40].to_vec();
    let mut latin = good();
    let at = latin.windows(8).position(|eight| eight == b"checkout").unwrap();
    latin[at + 2] = 0xe9;
    check(vec![
        ("nothing", Vec::new(), Http(400, NOT_JSON)),
        ("white space", b" \r\n".to_vec(), Http(400, NOT_JSON)),
        ("not JSON", b"kind: ResourceInterpreterContext\n".to_vec(), Http(400, NOT_JSON)),
        ("truncated", truncated, Http(400, NOT_JSON)),
        ("two documents", [good(), good()].concat(), Http(400, NOT_JSON)),
        ("not UTF-8", latin, Http(400, "the body is no ResourceInterpreterContext: not UTF-8 at byte ")),
        ("a list", b"[]".to_vec(), Http(400, NO_REQUEST)),
        ("null", b"null".to_vec(), Http(400, NO_REQUEST)),
        ("no request", revise(r#""request":"#, r#""requests":"#), Http(400, NO_REQUEST)),
        ("a request that is a list", b"{\"request\":[]}".to_vec(), Http(400, NO_REQUEST)),
        ("no uid", revise(r#""uid":"#, r#""id":"#), Http(400, NO_UID)),
        ("an empty uid", revise(UID, ""), Http(400, NO_UID)),
        ("a uid that is a number", revise(&format!("\"{UID}\""), "7"), Http(400, NO_UID)),
        (
            "two uids",
            revise(r#""name":"checkout","namespace":"shop","operation""#, r#""uid":"b","operation""#),
            Http(400, NO_UID),
        ),
        (
            "two requests",
            revise(r#""request":"#, r#""request":{"uid":"a"},"request":"#),
            Http(400, "the body has the member \"request\" twice"),
        ),
        ("only brackets", "[".repeat(100_000).into_bytes(), Http(400, NOT_JSON)),
    ]);
}

#[test]
fn a_request_that_is_wrong_over_http_is_refused_over_http() {
    let typed = |kind: &str| {
        let request = String::from_utf8(post("/interpret", &good())).unwrap();
        request.replace("Content-Type: application/json\r\n", kind).into_bytes()
    };
    let method = |method: &str| {
        let request = String::from_utf8(post("/interpret", &good())).unwrap();
        request.replacen("POST", method, 1).into_bytes()
    };
    let large = post("/interpret", &vec![b' '; 10 << 20]);
    check_requests([
        (
            "no content type",
            typed(""),
            Http(415, "the body has to be JSON, and Content-Type application/json"),
        ),
        ("YAML", typed("Content-Type: application/yaml\r\n"), Http(415, "the body has to be JSON")),
        (
            "a form, as curl sends",
            typed("Content-Type: application/x-www-form-urlencoded\r\n"),
            Http(415, "the body has to be JSON"),
        ),
        ("10 MB", large, Http(413, "the body is longer than 8388608 bytes")),
        ("another path", post("/interpre", &good()), Http(404, "there is nothing at \"/interpre\"")),
        ("PUT", method("PUT"), Http(405, "PUT is not possible here; POST is")),
    ]);
}

#[test]
fn plain_http_is_told_to_use_https() {
    let mut site = Site::start();
    let mut stream = TcpStream::connect(site.server.secure).unwrap();
    stream.write_all(&post("/interpret", &good())).unwrap();
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes).unwrap();
    let reply = Reply::parse(&bytes).unwrap_or_else(|broken| panic!("{broken}"));
    judge("plain HTTP", &reply, &Http(400, "this is an HTTPS port, and the request came in plain HTTP"));
    still_serves(&mut site, "plain HTTP");
}

#[test]
fn a_deadline_that_has_passed_is_told_to_the_uid_and_one_that_is_no_duration_is_none() {
    let until = |timeout: &str| post(&format!("/interpret?timeout={timeout}"), &good());
    check_requests([
        (
            "1ns",
            until("1ns"),
            Code(504, "Rollout/checkout cluster \"cluster-z\": the deadline of the request has passed"),
        ),
        ("10s", until("10s"), Patch(NULLED)),
        ("soon", until("soon"), Patch(NULLED)),
        ("none", until(""), Patch(NULLED)),
        ("-1s", until("-1s"), Patch(NULLED)),
        ("10", until("10"), Patch(NULLED)),
        ("%zz", until("%zz"), Patch(NULLED)),
    ]);
}
