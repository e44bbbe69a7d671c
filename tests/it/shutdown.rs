//! The end of a server, as its callers notice it: not at all.

use std::{
    net::SocketAddr,
    sync::Arc,
    time::{Duration, Instant},
};

use http::StatusCode;
use reviser::server::{Ending, Lifecycle, Phase};
use rustls::ClientConfig;

use crate::support::{
    client::{Client, Protocol, config, post},
    eventually,
    server::TestServer,
    soon,
};

const LONG: Duration = Duration::from_mins(1);

#[tokio::test]
async fn readiness_goes_first_and_requests_are_served_on() {
    let server = TestServer::start_with(|options| options.drain = LONG).await;
    let mut kept = Client::connect(&server, Protocol::Http1).await;
    let mut kept_http2 = Client::connect(&server, Protocol::Http2).await;
    kept_http2.post("/interpret", "{}").await;
    let mut admin = Client::connect_admin(&server).await;
    assert_eq!(admin.get("/readyz").await.text(), "ok");
    server.lifecycle.drain();
    let answer = admin.get("/readyz").await;
    assert_eq!(answer.status, StatusCode::SERVICE_UNAVAILABLE);
    assert_eq!(answer.text(), "[-]draining failed: the server is about to end\nreadyz check failed\n");
    assert!(answer.closes());

    let answer = kept.post("/interpret", "{}").await;
    assert_eq!(answer.status, StatusCode::OK);
    assert!(answer.closes(), "a client that keeps its connection has to close it");
    kept_http2.closed().await;
    for protocol in [Protocol::Http1, Protocol::Http2] {
        let mut new = Client::connect(&server, protocol).await;
        assert_eq!(new.post("/interpret", "{}").await.status, StatusCode::OK, "{protocol:?}");
        new.closed().await;
    }
    assert_eq!(Client::connect_admin(&server).await.get("/livez").await.text(), "ok");

    server.lifecycle.finish();
    assert_eq!(server.ended().await, Ending { cut: 0 });
}

#[tokio::test]
async fn requests_in_flight_are_answered() {
    for protocol in [Protocol::Http1, Protocol::Http2] {
        let server = TestServer::start().await;
        let mut client = Client::connect(&server, protocol).await;
        client.ready().await.unwrap();
        let waiting = tokio::spawn(async move { client.try_send(post("/interpret", "\"wait\"")).await });
        eventually("the request waits", || async { (server.door.entered() == 1).then_some(()) }).await;
        server.lifecycle.finish();
        eventually("the port is closed", || async {
            tokio::net::TcpStream::connect(server.secure).await.is_err().then_some(())
        })
        .await;
        server.door.gate.add_permits(1);
        let answer = soon("the answer", waiting).await.unwrap().unwrap();
        assert_eq!((answer.status, answer.text()), (StatusCode::OK, "\"wait\""), "{protocol:?}");
        assert_eq!(server.ended().await, Ending { cut: 0 });
    }
}

#[tokio::test]
async fn requests_that_take_too_long_are_cut_in_the_end() {
    let server = TestServer::start_with(|options| options.finish = Duration::from_millis(50)).await;
    let mut client = Client::connect(&server, Protocol::Http1).await;
    client.ready().await.unwrap();
    let waiting = tokio::spawn(async move { client.try_send(post("/interpret", "\"wait\"")).await });
    eventually("the request waits", || async { (server.door.entered() == 1).then_some(()) }).await;
    server.lifecycle.finish();
    assert_eq!(server.ended().await, Ending { cut: 1 });
    assert!(soon("the client notices", waiting).await.unwrap().is_err());
}

#[tokio::test]
async fn asked_twice_a_server_ends_at_once() {
    let server = TestServer::start_with(|options| options.drain = LONG).await;
    let mut client = Client::connect(&server, Protocol::Http1).await;
    client.post("/interpret", "{}").await;
    server.lifecycle.drain();
    server.lifecycle.abort();
    let since = Instant::now();
    server.ended().await;
    assert!(since.elapsed() < Duration::from_secs(5));
}

#[tokio::test]
async fn clients_that_never_use_their_connection_do_not_hold_up_the_end() {
    let server = TestServer::start().await;
    let _unused = Client::connect(&server, Protocol::Http1).await;
    let mut idle = Client::connect(&server, Protocol::Http2).await;
    idle.post("/interpret", "{}").await;
    server.lifecycle.finish();
    let since = Instant::now();
    assert_eq!(server.ended().await, Ending { cut: 0 });
    assert!(since.elapsed() < Duration::from_secs(5));
}

/// What became of the requests of one client.
#[derive(Debug, Default)]
struct Tally {
    answered: usize,
    lost: Vec<String>,
}

/// Whether the request that failed with `error` did not get to the server, as far as the protocol can tell;
/// any client then sends it again on another connection. That is so where hyper had not begun to send it, and
/// in HTTP/2 where the server had said before that it would take no more.
fn is_unsent(error: &hyper::Error) -> bool {
    error.is_canceled() || format!("{error:?}").contains("GoAway(b\"\", NO_ERROR, Remote)")
}

/// Asks again and again, on a connection that is kept as long as the server lets it be, until the server does
/// not take connections any more. `pause` is the time between two requests.
async fn ask(address: SocketAddr, tls: Arc<ClientConfig>, protocol: Protocol, pause: Duration) -> Tally {
    let mut tally = Tally::default();
    let mut pace = tokio::time::interval(pause.max(Duration::from_nanos(1)));
    while let Ok(mut client) = Client::try_connect(address, Arc::clone(&tls), protocol).await {
        while client.ready().await.is_ok() {
            match client.try_send(post("/interpret", "{\"a\":[1,2,3]}")).await {
                Ok(answer) => {
                    assert_eq!(answer.status, StatusCode::OK);
                    tally.answered += 1;
                }
                Err(error) if is_unsent(&error) => break,
                Err(error) => tally.lost.push(format!("{protocol:?} {pause:?} {error:?}")),
            }
            pace.tick().await;
        }
    }
    tally
}

async fn crowd(server: &TestServer) -> tokio::task::JoinSet<Tally> {
    let mut clients = tokio::task::JoinSet::new();
    for protocol in [Protocol::Http1, Protocol::Http2, Protocol::Http1Unasked] {
        let tls = config(&server.authority, protocol, None);
        for pause in [0, 0, 1, 7, 40] {
            let pause = Duration::from_millis(pause);
            clients.spawn(ask(server.secure, Arc::clone(&tls), protocol, pause));
        }
    }
    eventually("the crowd is busy", || async { (server.door.entered() > 200).then_some(()) }).await;
    clients
}

/// Waits until the server has ended, and the crowd with it, and checks that every request that got to the
/// door was answered to its client.
async fn nothing_is_lost(server: TestServer, clients: tokio::task::JoinSet<Tally>) {
    let tallies = soon("all clients are done", clients.join_all()).await;
    let door = server.door.clone();
    assert_eq!(server.ended().await, Ending { cut: 0 });
    let lost: Vec<_> = tallies.iter().flat_map(|tally| &tally.lost).collect();
    assert!(lost.is_empty(), "{lost:?}");
    assert_eq!(tallies.iter().map(|tally| tally.answered).sum::<usize>(), door.entered());
    assert!(tallies.iter().all(|tally| tally.answered > 0), "{tallies:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_reply_is_lost_while_a_crowd_is_drained() {
    let server = TestServer::start_with(|options| options.drain = Duration::from_millis(300)).await;
    let clients = crowd(&server).await;
    server.lifecycle.drain();
    nothing_is_lost(server, clients).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_reply_is_lost_without_a_drain_either() {
    let server = TestServer::start().await;
    let clients = crowd(&server).await;
    server.lifecycle.finish();
    nothing_is_lost(server, clients).await;
}

#[tokio::test]
async fn the_time_to_drain_is_taken_and_no_more() {
    let server = TestServer::start_with(|options| options.drain = Duration::from_millis(100)).await;
    let since = Instant::now();
    server.lifecycle.drain();
    server.ended().await;
    assert!((Duration::from_millis(100)..Duration::from_secs(5)).contains(&since.elapsed()));
}

#[tokio::test]
async fn whoever_waits_for_a_phase_sees_it_come() {
    let lifecycle = Lifecycle::default();
    let waiting = tokio::spawn({
        let lifecycle = lifecycle.clone();
        async move { lifecycle.reached(Phase::Draining).await }
    });
    lifecycle.finish();
    soon("the phase is seen", waiting).await.unwrap();
}

/// Sends this process a signal.
fn raise(signal: &str) {
    let command = format!("kill -{signal} {}", std::process::id());
    assert!(std::process::Command::new("sh").args(["-c", &command]).status().unwrap().success());
}

#[tokio::test]
async fn signals_push_the_phase_forward() {
    for (first, phase, second) in [("TERM", Phase::Draining, "INT"), ("INT", Phase::Stopping, "TERM")] {
        let lifecycle = Lifecycle::default();
        let following = tokio::spawn(lifecycle.follow_signals().unwrap());
        raise(first);
        soon("the first signal counts", lifecycle.reached(phase)).await;
        assert_eq!(lifecycle.phase(), phase);
        raise(second);
        soon("the second signal counts", lifecycle.reached(Phase::Ended)).await;
        following.abort();
    }
}
