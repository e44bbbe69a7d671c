//! Concurrent clients, and the log of their requests and replies.

use std::{
    io::{Read as _, Write as _},
    net::{SocketAddr, TcpStream},
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicU64, AtomicUsize, Ordering::SeqCst},
    },
    time::{Duration, Instant, SystemTime},
};

use bytes::Bytes;
use futures_util::stream;
use http_body::Frame;
use http_body_util::{BodyExt as _, StreamBody};
use reviser::certs::{Authority, SubjectNames};
use rustls::ClientConfig;
use tokio::{
    sync::{Barrier, oneshot},
    task::{JoinSet, yield_now},
};

use crate::checker::{Entry, Reply};
use crate::history::History;
use crate::hosting::read_reply;
use crate::https::{self, Body, Client, Protocol};
use crate::process::{PATIENCE, Server};

/// Number of HTTP/1.1 and HTTP/2 connections.
const SINGLE: usize = 40;
const SHARED: usize = 6;
/// Requests in each round whose client closes its connection before the reply.
const LOSING: usize = 8;

/// A directory with a server certificate, and client configurations that trust it.
pub(crate) struct Trust {
    pub(crate) directory: tempfile::TempDir,
    configs: [Arc<ClientConfig>; 2],
}

impl Trust {
    pub(crate) fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let authority = Authority::new(SystemTime::now()).unwrap();
        let pair = authority.issue_server(&SubjectNames::local(), SystemTime::now()).unwrap();
        std::fs::write(directory.path().join("tls.crt"), pair.certificate).unwrap();
        std::fs::write(directory.path().join("tls.key"), pair.key).unwrap();
        std::fs::write(directory.path().join("policy.yaml"), crate::history::POLICY).unwrap();
        let config = |protocol| https::config(authority.certificate_pem().as_bytes(), protocol, None);
        Self { directory, configs: [config(Protocol::Http1), config(Protocol::Http2)] }
    }

    /// Starts a server with that certificate and the policy of these tests.
    pub(crate) fn server(&self, ledger: &str, more: &[&str]) -> Server {
        let path = |name: &str| self.directory.path().join(name).display().to_string();
        let [directory, policy] = [path(""), path("policy.yaml")];
        let arguments = ["--cert-dir", &directory, "--policy", &policy, "--ledger", ledger];
        Server::start(arguments.iter().chain(more))
    }

    /// The value of `--ledger` for a file in this directory.
    pub(crate) fn file_ledger(&self) -> String {
        format!("file:{}", Path::join(self.directory.path(), "ledger").display())
    }

    pub(crate) async fn connect(&self, address: SocketAddr, protocol: Protocol) -> std::io::Result<Client> {
        let config = match protocol {
            Protocol::Http1 => &self.configs[0],
            Protocol::Http2 => &self.configs[1],
        };
        Client::connect(address, "localhost", Arc::clone(config)).await
    }
}

/// Clients of one server, with persistent connections.
pub(crate) struct Crowd {
    trust: Arc<Trust>,
    secure: SocketAddr,
    admin: SocketAddr,
    /// HTTP/1.1 clients first.
    clients: Vec<Client>,
}

/// The event counter of a log.
pub(crate) type Clock = Arc<AtomicU64>;

impl Crowd {
    pub(crate) async fn of(server: &Server, trust: &Arc<Trust>) -> Self {
        let mut clients = Vec::new();
        for number in 0..SINGLE + SHARED {
            let protocol = if number < SINGLE { Protocol::Http1 } else { Protocol::Http2 };
            clients.push(trust.connect(server.secure, protocol).await.unwrap());
        }
        Self { trust: Arc::clone(trust), secure: server.secure, admin: server.admin, clients }
    }

    /// Sends all requests of a round and returns their replies.
    /// No body is sent before all request heads are, so all requests are in flight at one time. `answered` is
    /// called at each reply with the number of replies of this round.
    pub(crate) async fn play(
        &self,
        history: &Arc<History>,
        round: usize,
        clock: &Clock,
        answered: impl Fn(usize) + Send + Sync + 'static,
    ) -> Vec<Entry> {
        let asks = history.round(round);
        let together = Arc::new(Barrier::new(asks.len()));
        let answered = Arc::new((AtomicUsize::new(0), answered));
        let mut requests = JoinSet::new();
        for (number, ask) in asks.into_iter().enumerate() {
            let client = match number {
                0..LOSING => None,
                _ if number < LOSING + SINGLE => Some(self.clients[number - LOSING].clone()),
                _ => Some(self.clients[SINGLE + number % SHARED].clone()),
            };
            let (trust, secure) = (Arc::clone(&self.trust), self.secure);
            let (history, clock, together) = (Arc::clone(history), Arc::clone(clock), Arc::clone(&together));
            let answered = Arc::clone(&answered);
            requests.spawn(async move {
                let uid = format!("{round}-{number}");
                let loses = client.is_none();
                let client = match client {
                    Some(client) => client,
                    None => trust.connect(secure, Protocol::Http1).await.unwrap(),
                };
                let (body, released) = gated(history.request(&ask, &uid), together);
                let sent = clock.fetch_add(1, SeqCst);
                let sending = client.send(https::post("/interpret", body));
                let reply = tokio::select! {
                    reply = sending => reply.ok(),
                    () = given_up(released, number), if loses => None,
                };
                drop(client);
                let object = &history.workloads[ask.workload].object;
                let reply = match reply.map(|reply| read_reply(&reply.body, &uid, object)) {
                    None => Reply::Lost,
                    Some(Ok(hosting)) => Reply::Answered(hosting),
                    Some(Err(problem)) => Reply::Wrong(problem),
                };
                let ended = clock.fetch_add(1, SeqCst);
                if !matches!(reply, Reply::Lost) {
                    answered.1(answered.0.fetch_add(1, SeqCst) + 1);
                }
                Entry { ask, sent, ended, reply }
            });
        }
        let all = tokio::time::timeout(PATIENCE, requests.join_all()).await;
        all.unwrap_or_else(|_elapsed| panic!("round {round} timed out"))
    }

    /// Plays a round until the server has finished all its requests, also those whose client has gone.
    /// Otherwise they could overlap with the next round, unseen by the checker.
    pub(crate) async fn play_to_the_end(
        &self,
        history: &Arc<History>,
        round: usize,
        clock: &Clock,
    ) -> Vec<Entry> {
        let entries = self.play(history, round, clock, |_answered| {}).await;
        let connections = format!("reviser_connections {}", self.clients.len());
        let deadline = Instant::now() + PATIENCE;
        while !get(self.admin, "/metrics").lines().any(|line| line == connections) {
            assert!(Instant::now() < deadline, "the server keeps closed connections");
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        entries
    }

    /// Plays these rounds, one after the other.
    pub(crate) async fn play_all(
        &self,
        history: &Arc<History>,
        rounds: std::ops::Range<usize>,
        clock: &Clock,
    ) -> Vec<Entry> {
        let mut log = Vec::new();
        for round in rounds {
            log.extend(self.play_to_the_end(history, round, clock).await);
        }
        log
    }
}

/// A body that is sent when all others are ready, with a signal at that time.
fn gated(body: String, together: Arc<Barrier>) -> (Body, oneshot::Receiver<()>) {
    let (release, released) = oneshot::channel();
    let parts = stream::once(async move {
        together.wait().await;
        // Only clients that give up listen.
        let _ = release.send(());
        Ok(Frame::data(Bytes::from(body)))
    });
    (StreamBody::new(parts).boxed_unsync(), released)
}

/// Waits as long as this client does before it gives up; the time depends on `number`.
async fn given_up(released: oneshot::Receiver<()>, number: usize) {
    if released.await.is_err() {
        // The connection broke first; the reply is the error.
        return std::future::pending().await;
    }
    for _ in 0..number * 40 {
        yield_now().await;
    }
}

/// The reply of the admin port.
pub(crate) fn get(admin: SocketAddr, path: &str) -> String {
    let mut stream = TcpStream::connect(admin).unwrap();
    write!(stream, "GET {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n").unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    text
}

/// Checks that the log keeps all invariants and has many concurrent requests.
pub(crate) fn assert_no_faults(history: &History, log: &[Entry]) {
    let faults = crate::checker::check(history, log);
    assert!(faults.is_empty(), "{} faults, the first: {:#?}", faults.len(), &faults[..faults.len().min(9)]);
    let most = crate::checker::most_at_a_time(log);
    assert!(most >= 300, "only {most} requests were in flight at one time");
    let lost = log.iter().filter(|entry| matches!(entry.reply, Reply::Lost)).count();
    assert!(lost > 0, "no client gave up");
}
