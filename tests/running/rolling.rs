//! A rolling restart without a failed request.

use std::{
    net::SocketAddr,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering::SeqCst},
    },
    time::{Duration, Instant},
};

use http::header;
use rustix::process::Signal;
use tokio::task::JoinSet;

use crate::crowd::{Trust, get};
use crate::history::{Ask, History, State, Workload};
use crate::hosting::{Hosting, read_reply};
use crate::https::{self, Protocol};
use crate::process::PATIENCE;

/// The addresses of the ready servers, like the endpoints of a Service.
struct Front {
    ready: Mutex<Vec<SocketAddr>>,
    over: AtomicBool,
}

/// The results of one client.
#[derive(Debug, Default)]
struct Tally {
    /// The server of each answer.
    answers: Vec<SocketAddr>,
    lost: Vec<String>,
}

/// Whether a failed request can be retried because the server never processed it: the connection was closed
/// before, the client had not begun to send, or in HTTP/2 the server had sent GOAWAY.
fn is_unsent(error: &hyper::Error) -> bool {
    error.is_closed()
        || error.is_canceled()
        || format!("{error:?}").contains("GoAway(b\"\", NO_ERROR, Remote)")
}

/// Sends requests in a loop, on one connection until the server closes it, then on a connection to another
/// server.
async fn ask(
    trust: Arc<Trust>,
    history: Arc<History>,
    front: Arc<Front>,
    protocol: Protocol,
    number: usize,
) -> Tally {
    let mut tally = Tally::default();
    let ask = Ask { workload: 0, state: 0, cluster: ["a", "b"][number % 2] };
    let expected = if ask.cluster == "b" { Hosting::Hosts } else { Hosting::Elsewhere };
    let mut turn = number;
    while !front.over.load(SeqCst) {
        turn += 1;
        let server = {
            let ready = front.ready.lock().unwrap();
            ready[turn % ready.len()]
        };
        // The server refused the connection, so no request was sent.
        let Ok(client) = trust.connect(server, protocol).await else { continue };
        while !front.over.load(SeqCst) {
            let uid = format!("{number}-{}", tally.answers.len());
            let request = https::post("/interpret", https::full(history.request(&ask, &uid)));
            match client.send(request).await {
                Ok(reply) => {
                    let hosting = read_reply(&reply.body, &uid, &history.workloads[0].object);
                    assert_eq!((reply.status.as_u16(), hosting), (200, Ok(expected)));
                    tally.answers.push(server);
                    if reply.headers.get(header::CONNECTION).is_some_and(|value| value == "close") {
                        break;
                    }
                }
                Err(error) if is_unsent(&error) => break,
                Err(error) => {
                    tally.lost.push(format!("{protocol:?} {error:?}"));
                    break;
                }
            }
            // Some clients are busy, others are mostly idle.
            tokio::time::sleep(Duration::from_millis([0, 1, 9, 60][number % 4])).await;
        }
    }
    tally
}

/// Waits until `holds`, up to a deadline.
async fn eventually(what: &str, holds: impl Fn() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !holds() {
        assert!(Instant::now() < deadline, "timed out: {what}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// The number of answered requests in the metrics of a server.
fn served(admin: SocketAddr) -> usize {
    let metrics = get(admin, "/metrics");
    let counts =
        metrics.lines().filter_map(|line| line.strip_prefix("reviser_requests_total{")?.rsplit_once(' '));
    counts.map(|(_, count)| count.parse::<usize>().unwrap()).sum()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_rolling_restart_loses_no_reply() {
    let trust = Arc::new(Trust::new());
    let state = State { clusters: vec![("a", 1), ("b", 3)], pin: None };
    let workloads = vec![Workload::new("Rollout", "shop", "checkout", vec![state])];
    let history = Arc::new(History { workloads });

    let old = trust.server("memory", &["--drain-seconds", "1"]);
    let front = Arc::new(Front { ready: Mutex::new(vec![old.secure]), over: AtomicBool::new(false) });
    let mut clients = JoinSet::new();
    for number in 0..24 {
        let protocol = if number % 3 == 0 { Protocol::Http2 } else { Protocol::Http1 };
        clients.spawn(ask(Arc::clone(&trust), Arc::clone(&history), Arc::clone(&front), protocol, number));
    }
    eventually("the old server is busy", || served(old.admin) > 300).await;

    let new = trust.server("memory", &["--drain-seconds", "0"]);
    assert!(get(new.admin, "/readyz").starts_with("HTTP/1.1 200"));
    front.ready.lock().unwrap().push(new.secure);
    old.process.signal(Signal::TERM);
    // The probe removes the endpoint a little later.
    eventually("the old server is not ready", || !get(old.admin, "/readyz").starts_with("HTTP/1.1 200"))
        .await;
    front.ready.lock().unwrap().retain(|address| *address != old.secure);
    let gone = old.secure;
    let done = tokio::task::spawn_blocking(|| old.process.ended()).await.unwrap();
    assert_eq!(done.code, Some(0), "{}", done.stderr);
    let before = served(new.admin);
    eventually("the new server has all the clients", || served(new.admin) > before + 300).await;
    front.over.store(true, SeqCst);
    let tallies = tokio::time::timeout(PATIENCE, clients.join_all()).await.unwrap();

    let lost: Vec<&String> = tallies.iter().flat_map(|tally| &tally.lost).collect();
    assert!(lost.is_empty(), "{lost:?}");
    let answers =
        |server| tallies.iter().flat_map(|tally| &tally.answers).filter(|answer| **answer == server).count();
    let logged = done.stderr.lines().filter(|line| line.contains("operation=ReviseObject ")).count();
    assert_eq!(answers(gone), logged, "an answer of the old server was lost");
    assert_eq!(answers(new.secure), served(new.admin));
    assert!(
        tallies.iter().all(|tally| tally.answers.contains(&new.secure)),
        "a client did not reach the new server"
    );
    assert!(done.stderr.contains("ended, every request answered"), "{}", done.stderr);
    assert_eq!(new.end(Signal::TERM).code, Some(0));
}
