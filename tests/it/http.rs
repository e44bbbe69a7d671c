//! Requests and answers.

use bytes::Bytes;
use http::{Method, Request, StatusCode, header};
use http_body_util::Full;

use crate::support::{
    client::{Client, Protocol, post},
    eventually,
    server::TestServer,
};

#[tokio::test]
async fn a_door_is_reached_by_every_way_to_speak_http() {
    let server = TestServer::start().await;
    for protocol in [Protocol::Http1, Protocol::Http2, Protocol::Http1Unasked, Protocol::Http2Unasked] {
        let mut client = Client::connect(&server, protocol).await;
        for body in ["{\"a\":1}", "{\"b\":2}"] {
            let answer = client.post("/interpret", body).await;
            assert_eq!((answer.status, answer.text()), (StatusCode::OK, body), "{protocol:?}");
            assert_eq!(answer.header(header::CONTENT_TYPE), Some("application/json"));
            assert!(!answer.closes());
        }
    }
}

#[tokio::test]
async fn a_long_body_arrives_whole() {
    let server = TestServer::start().await;
    let body: String = (0..300_000).map(|n| n.to_string()).collect();
    for protocol in [Protocol::Http1, Protocol::Http2] {
        let mut client = Client::connect(&server, protocol).await;
        let answer = client.send(post("/interpret", body.clone())).await;
        assert!(answer.text() == body, "{protocol:?}");
    }
}

#[tokio::test]
async fn the_deadline_of_the_caller_reaches_the_door() {
    let server = TestServer::start().await;
    let mut client = Client::connect(&server, Protocol::Http1).await;
    let left: u64 = client.post("/interpret?timeout=1m30s", "\"deadline\"").await.text().parse().unwrap();
    assert!((60_000..=90_000).contains(&left), "{left}");
    for query in ["", "?timeout=soon", "?timeout=-1s"] {
        let answer = client.post(&format!("/interpret{query}"), "\"deadline\"").await;
        assert_eq!(answer.text(), "null", "{query}");
    }
}

#[tokio::test]
async fn a_door_gets_the_target_from_its_path() {
    let server = TestServer::start().await;
    let mut client = Client::connect(&server, Protocol::Http1).await;
    assert_eq!(client.post("/mutate/podchaperons/eu", "\"target\"").await.text(), "\"eu\"");
    client
        .post("/mutate/podchaperons/eu/west", "\"target\"")
        .await
        .refusal(StatusCode::NOT_FOUND, "NotFound");
}

#[tokio::test]
async fn what_is_not_there_or_not_that_way_is_said_so() {
    let server = TestServer::start().await;
    for protocol in [Protocol::Http1, Protocol::Http2] {
        let mut client = Client::connect(&server, protocol).await;
        let message = client.post("/interpre", "{}").await.refusal(StatusCode::NOT_FOUND, "NotFound");
        assert_eq!(message, "there is nothing at \"/interpre\"");
        let answer = client.get("/metrics").await;
        answer.refusal(StatusCode::NOT_FOUND, "NotFound");

        let answer = client.get("/interpret").await;
        answer.refusal(StatusCode::METHOD_NOT_ALLOWED, "MethodNotAllowed");
        assert_eq!(answer.header(header::ALLOW), Some("POST"));
        let answer = client.post("/livez", "{}").await;
        answer.refusal(StatusCode::METHOD_NOT_ALLOWED, "MethodNotAllowed");
        assert_eq!(answer.header(header::ALLOW), Some("GET,HEAD"));
        assert!(!answer.closes());
        assert_eq!(client.post("/interpret", "{}").await.status, StatusCode::OK);
    }
}

#[tokio::test]
async fn only_json_gets_to_a_door() {
    let server = TestServer::start().await;
    let mut client = Client::connect(&server, Protocol::Http1).await;
    let request = |kind: Option<&'static str>| {
        let builder = Request::builder().method(Method::POST).uri("/interpret").header(header::HOST, "x");
        let builder = match kind {
            Some(kind) => builder.header(header::CONTENT_TYPE, kind),
            None => builder,
        };
        builder.body(Full::new(Bytes::from_static(b"{}"))).unwrap()
    };
    for kind in [None, Some("application/yaml"), Some("application/jsonx"), Some("text/json")] {
        let message = client
            .send(request(kind))
            .await
            .refusal(StatusCode::UNSUPPORTED_MEDIA_TYPE, "UnsupportedMediaType");
        assert_eq!(message, "the body has to be JSON, and Content-Type application/json");
    }
    for kind in ["application/json", "application/json; charset=utf-8", "Application/JSON ;x=y"] {
        assert_eq!(client.send(request(Some(kind))).await.status, StatusCode::OK, "{kind}");
    }
    assert_eq!(server.door.entered(), 3);
}

#[tokio::test]
async fn a_door_that_panics_costs_one_answer_and_nothing_else() {
    let server = TestServer::start().await;
    for protocol in [Protocol::Http1, Protocol::Http2] {
        let mut client = Client::connect(&server, protocol).await;
        let answer = client.post("/interpret", "\"panic\"").await;
        answer.refusal(StatusCode::INTERNAL_SERVER_ERROR, "InternalError");
        assert_eq!(client.post("/interpret", "{}").await.status, StatusCode::OK);
    }
}

#[tokio::test]
async fn every_request_is_counted_by_what_came_of_it() {
    let server = TestServer::start().await;
    let mut client = Client::connect(&server, Protocol::Http1).await;
    client.post("/interpret", "{}").await;
    client.post("/interpret", "{}").await;
    client.post("/interpret", "\"panic\"").await;
    client.get("/interpret").await;
    let mut leaving = Client::connect(&server, Protocol::Http1).await;
    leaving.ready().await.unwrap();
    let waiting = tokio::spawn(async move { leaving.try_send(post("/interpret", "\"wait\"")).await.is_ok() });
    eventually("a request waits", || async { (server.door.entered() == 4).then_some(()) }).await;
    waiting.abort();

    let cancelled =
        "reviser_requests_total{door=\"interpreter\",operation=\"unknown\",outcome=\"cancelled\"} 1";
    let text = eventually("the request whose client has left is counted", || async {
        let text = Client::connect_admin(&server).await.get("/metrics").await.text().to_owned();
        // The connection is closed a little after its request is given up.
        (text.contains(cancelled) && text.contains("reviser_connections 1\n")).then_some(text)
    })
    .await;
    for line in [
        "reviser_requests_total{door=\"interpreter\",operation=\"Echo\",outcome=\"ok\"} 2",
        "reviser_requests_total{door=\"interpreter\",operation=\"unknown\",outcome=\"panic\"} 1",
        "reviser_requests_total{door=\"interpreter\",operation=\"unknown\",outcome=\"MethodNotAllowed\"} 1",
        "reviser_request_duration_seconds_count{door=\"interpreter\",operation=\"Echo\"} 2",
        "reviser_request_duration_seconds_bucket{le=\"10.0\",door=\"interpreter\",operation=\"Echo\"} 2",
        "reviser_tls_handshake_failures_total 0",
        concat!("reviser_build_info{version=\"", env!("CARGO_PKG_VERSION"), "\"} 1"),
    ] {
        assert!(text.lines().any(|found| found == line), "{line}\n{text}");
    }
    assert!(text.ends_with("# EOF\n"));
}
