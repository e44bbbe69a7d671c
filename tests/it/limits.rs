//! What clients may not take up: space, time, and the wrong port.

use std::time::Duration;

use bytes::Bytes;
use http::StatusCode;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
};

use crate::support::{
    client::{Client, Protocol, config, post, read_to_end, tls},
    eventually,
    server::TestServer,
    soon,
};

const SHORT: Duration = Duration::from_millis(100);

#[tokio::test]
async fn a_body_over_the_limit_is_refused_while_its_client_still_sends() {
    let server = TestServer::start().await;
    for protocol in [Protocol::Http1, Protocol::Http2] {
        let mut client = Client::connect(&server, protocol).await;
        let answer = client.send(post("/interpret", Bytes::from(vec![b' '; 10 << 20]))).await;
        let message = answer.refusal(StatusCode::PAYLOAD_TOO_LARGE, "RequestEntityTooLarge");
        assert_eq!(message, "the body is longer than 8388608 bytes");
        assert_eq!(client.post("/interpret", "{}").await.status, StatusCode::OK, "{protocol:?}");
    }
    assert_eq!(server.door.entered(), 2);
}

#[tokio::test]
async fn a_body_of_just_the_limit_is_taken() {
    let server = TestServer::start_with(|options| options.limits.max_body_bytes = 1000).await;
    let mut client = Client::connect(&server, Protocol::Http1).await;
    assert_eq!(client.send(post("/interpret", vec![b' '; 1000])).await.status, StatusCode::OK);
    client
        .send(post("/interpret", vec![b' '; 1001]))
        .await
        .refusal(StatusCode::PAYLOAD_TOO_LARGE, "RequestEntityTooLarge");
}

#[tokio::test]
async fn a_body_of_undeclared_length_is_refused_where_it_passes_the_limit() {
    let server = TestServer::start_with(|options| options.limits.max_body_bytes = 1000).await;
    let mut stream = connect(&server).await;
    let chunk = format!("190\r\n{}\r\n", "x".repeat(400));
    let head = "POST /interpret HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n";
    stream.write_all(format!("{head}{chunk}{chunk}{chunk}0\r\n\r\n").as_bytes()).await.unwrap();
    stream.write_all(b"GET /livez HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n").await.unwrap();
    let text = read_to_end(&mut stream).await;
    assert!(text.starts_with("HTTP/1.1 413 "), "{text}");
    assert!(text.contains("HTTP/1.1 200 OK"), "{text}");
}

#[tokio::test]
async fn a_client_that_asks_first_is_told_before_it_sends() {
    let server = TestServer::start_with(|options| options.limits.max_body_bytes = 1000).await;
    let mut stream = connect(&server).await;
    let head = "POST /interpret HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\nexpect: 100-continue\r\ncontent-length: 1001\r\n\r\n";
    stream.write_all(head.as_bytes()).await.unwrap();
    let text = read_to_end(&mut stream).await;
    assert!(text.starts_with("HTTP/1.1 413 "), "{text}");
}

#[tokio::test]
async fn a_body_that_does_not_come_is_not_waited_for() {
    let server = TestServer::start_with(|options| options.limits.body_timeout = SHORT).await;
    let mut stream = connect(&server).await;
    let head = "POST /interpret HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 9\r\n\r\n{}";
    stream.write_all(head.as_bytes()).await.unwrap();
    let text = read_to_end(&mut stream).await;
    assert!(text.starts_with("HTTP/1.1 408 ") && text.contains("connection: close"), "{text}");
    assert!(text.contains("the body was not there within 0.1 seconds"), "{text}");
    assert_eq!(server.door.entered(), 0);
}

#[tokio::test]
async fn a_handshake_that_does_not_get_on_is_cut() {
    let server = TestServer::start_with(|options| options.limits.handshake_timeout = SHORT).await;
    let mut silent = TcpStream::connect(server.secure).await.unwrap();
    let mut slow = TcpStream::connect(server.secure).await.unwrap();
    slow.write_all(&[0x16, 3, 1]).await.unwrap();
    assert_eq!(read_to_end(&mut silent).await, "");
    assert_eq!(read_to_end(&mut slow).await, "");
    failures(&server, 2).await;
}

#[tokio::test]
async fn a_head_that_does_not_get_on_is_cut_the_first_and_any_other() {
    let server = TestServer::start_with(|options| options.limits.header_timeout = SHORT).await;
    let mut first = connect(&server).await;
    first.write_all(b"GET /livez HTTP/1.1\r\nho").await.unwrap();
    assert_eq!(read_to_end(&mut first).await, "");
    let mut second = connect(&server).await;
    second.write_all(b"GET /livez HTTP/1.1\r\nhost: x\r\n\r\n").await.unwrap();
    let mut answer = Vec::new();
    while !answer.ends_with(b"\r\n\r\nok") {
        assert_ne!(soon("an answer", second.read_buf(&mut answer)).await.unwrap(), 0);
    }
    second.write_all(b"GET /li").await.unwrap();
    assert_eq!(read_to_end(&mut second).await, "");
}

#[tokio::test]
async fn a_connection_may_rest_longer_than_a_head_may_take_but_not_for_ever() {
    let server = TestServer::start_with(|options| {
        options.limits.header_timeout = Duration::from_millis(20);
        options.limits.idle_timeout = Duration::from_millis(200);
    })
    .await;
    for protocol in [Protocol::Http1, Protocol::Http2] {
        let mut client = Client::connect(&server, protocol).await;
        assert_eq!(client.post("/interpret", "{}").await.status, StatusCode::OK);
        let since = std::time::Instant::now();
        client.closed().await;
        assert!(since.elapsed() >= Duration::from_millis(150), "{:?}", since.elapsed());
    }
}

#[tokio::test]
async fn a_request_may_take_longer_than_a_connection_may_rest() {
    let server = TestServer::start_with(|options| options.limits.idle_timeout = SHORT).await;
    let mut client = Client::connect(&server, Protocol::Http1).await;
    client.ready().await.unwrap();
    let mut answer = std::pin::pin!(client.try_send(post("/interpret", "\"wait\"")));
    assert!(tokio::time::timeout(SHORT * 3, &mut answer).await.is_err());
    server.door.gate.add_permits(1);
    assert_eq!(soon("the answer", answer).await.unwrap().status, StatusCode::OK);
}

#[tokio::test]
async fn more_connections_than_allowed_wait_for_their_turn() {
    let server = TestServer::start_with(|options| options.limits.max_connections = 1).await;
    let first = Client::connect(&server, Protocol::Http1).await;
    let config = config(&server.authority, Protocol::Http1, None);
    let mut second = tokio::spawn(Client::try_connect(server.secure, config, Protocol::Http1));
    assert!(tokio::time::timeout(SHORT, &mut second).await.is_err());
    drop(first);
    let mut second = soon("the second connection", second).await.unwrap().unwrap();
    assert_eq!(second.post("/interpret", "{}").await.status, StatusCode::OK);
}

#[tokio::test]
async fn plain_http_on_the_secure_port_is_told_what_to_do() {
    let server = TestServer::start().await;
    let mut stream = TcpStream::connect(server.secure).await.unwrap();
    stream.write_all(b"GET /livez HTTP/1.1\r\nhost: x\r\n\r\n").await.unwrap();
    let text = read_to_end(&mut stream).await;
    let (head, body) = text.split_once("\r\n\r\n").unwrap();
    assert!(head.starts_with("HTTP/1.1 400 Bad Request\r\ncontent-type: application/json\r\n"), "{head}");
    let status: serde_json::Value = serde_json::from_str(body).unwrap();
    assert_eq!(status["reason"], "BadRequest");
    assert!(status["message"].as_str().unwrap().starts_with("this is an HTTPS port"), "{body}");
    failures(&server, 1).await;
}

async fn connect(server: &TestServer) -> tokio_rustls::client::TlsStream<TcpStream> {
    tls(server.secure, config(&server.authority, Protocol::Http1, None)).await.unwrap()
}

/// Waits until that many connections are counted to have failed before TLS was set up.
async fn failures(server: &TestServer, count: u32) {
    let line = format!("reviser_tls_handshake_failures_total {count}\n");
    eventually(&line, || async {
        Client::connect_admin(server).await.get("/metrics").await.text().contains(&line).then_some(())
    })
    .await;
}

#[tokio::test]
async fn a_request_that_needs_more_than_the_memory_budget_is_refused() {
    let server = TestServer::start_with(|options| options.limits.memory_budget = 1 << 20).await;
    let mut client = Client::connect(&server, Protocol::Http1).await;
    let many = format!("[{}{{}}]", "{},".repeat(10_000));
    let message = client
        .send(post("/interpret", many))
        .await
        .refusal(StatusCode::PAYLOAD_TOO_LARGE, "RequestEntityTooLarge");
    assert_eq!(
        message,
        "the request needs about 2750404 bytes of memory, more than the budget of 1048576; send a smaller object, or raise --memory-budget"
    );
    assert_eq!(client.post("/interpret", "{}").await.status, StatusCode::OK);
    assert_eq!(server.door.entered(), 1);
}

#[tokio::test]
async fn bodies_that_do_not_come_do_not_keep_the_memory_budget() {
    let server = TestServer::start_with(|options| options.limits.memory_budget = 1 << 20).await;
    let mut slow = Vec::new();
    for _ in 0..8 {
        let mut stream = connect(&server).await;
        let head = "POST /interpret HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 900000\r\n\r\n";
        stream.write_all(head.as_bytes()).await.unwrap();
        stream.write_all(&vec![b' '; 250 << 10]).await.unwrap();
        slow.push(stream);
    }
    let mut client = Client::connect(&server, Protocol::Http2).await;
    assert_eq!(client.post("/interpret", "{}").await.status, StatusCode::OK);
    let mut refused = 0;
    for stream in &mut slow[..4] {
        let text = read_to_end(stream).await;
        assert!(text.starts_with("HTTP/1.1 503 ") && text.contains("connection: close"), "{text}");
        refused += 1;
    }
    assert_eq!((refused, server.door.entered()), (4, 1));
}

#[tokio::test]
async fn idle_connections_are_closed_for_those_that_wait() {
    let server = TestServer::start_with(|options| {
        options.limits.max_connections = 4;
        options.limits.idle_timeout = Duration::from_hours(1);
    })
    .await;
    let mut idle = Vec::new();
    for protocol in [Protocol::Http1, Protocol::Http2, Protocol::Http1, Protocol::Http2] {
        let mut client = Client::connect(&server, protocol).await;
        assert_eq!(client.post("/interpret", "{}").await.status, StatusCode::OK);
        idle.push(client);
    }
    let mut next = Client::connect(&server, Protocol::Http1).await;
    assert_eq!(next.post("/interpret", "{}").await.status, StatusCode::OK);
}

#[tokio::test]
async fn idle_connections_do_not_keep_probes_from_the_admin_port() {
    let server =
        TestServer::start_with(|options| options.limits.idle_timeout = Duration::from_hours(1)).await;
    let mut idle = Vec::new();
    for _ in 0..70 {
        idle.push(TcpStream::connect(server.admin).await.unwrap());
    }
    let mut probe = TcpStream::connect(server.admin).await.unwrap();
    probe.write_all(b"GET /livez HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n").await.unwrap();
    let text = read_to_end(&mut probe).await;
    assert!(text.starts_with("HTTP/1.1 200 OK"), "{text}");
}
