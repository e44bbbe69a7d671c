//! Many clients at once, and what they write down.

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
use crate::https::{self, Body, Client, Protocol};
use crate::process::{PATIENCE, Server};
use crate::reply::placement;

/// Connections over which one request goes at a time, and those over which many go.
const SINGLE: usize = 40;
const SHARED: usize = 6;
/// In each round so many requests lose their reply: their client closes its connection before it.
const LOSING: usize = 8;

/// A directory with a certificate for servers, and those who trust it.
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

    /// A server with that certificate and the policy of these tests.
    pub(crate) fn server(&self, ledger: &str, more: &[&str]) -> Server {
        let path = |name: &str| self.directory.path().join(name).display().to_string();
        let [directory, policy] = [path(""), path("policy.yaml")];
        let arguments = ["--cert-dir", &directory, "--policy", &policy, "--ledger", ledger];
        Server::start(arguments.iter().chain(more))
    }

    /// The name of a ledger in a file of its own.
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

/// Clients of one server, which keep their connections.
pub(crate) struct Crowd {
    trust: Arc<Trust>,
    secure: SocketAddr,
    admin: SocketAddr,
    /// First those of HTTP/1.1.
    clients: Vec<Client>,
}

/// A clock that counts events, for all requests of a log.
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

    /// Sends all requests of a round, and gives what came of them.
    ///
    /// No body is sent before the heads of all requests are: so they are all under way at the same time, and what they
    /// ask for is all asked at once. `answered` is called at each reply with the number of replies in this round.
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
                let reply = match reply.map(|reply| placement(&reply.body, &uid, object)) {
                    None => Reply::Lost,
                    Some(Ok(placement)) => Reply::Placed(placement),
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
        all.unwrap_or_else(|_elapsed| panic!("round {round} never ended"))
    }

    /// Plays a round to its end, also that of the requests whose client has gone: none of them may be worked on any
    /// more when the next round begins, or states would overlap unnoticed.
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
            assert!(Instant::now() < deadline, "the server keeps connections that are closed");
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

/// A body that waits for all others before it is sent, and says then that it is.
fn gated(body: String, together: Arc<Barrier>) -> (Body, oneshot::Receiver<()>) {
    let (release, released) = oneshot::channel();
    let parts = stream::once(async move {
        together.wait().await;
        // Only those that lose their reply want to know.
        let _ = release.send(());
        Ok(Frame::data(Bytes::from(body)))
    });
    (StreamBody::new(parts).boxed_unsync(), released)
}

/// A client that has no patience: some have less of it than others.
async fn given_up(released: oneshot::Receiver<()>, number: usize) {
    if released.await.is_err() {
        // The connection broke first.
        return std::future::pending().await;
    }
    for _ in 0..number * 40 {
        yield_now().await;
    }
}

/// What the admin port says.
pub(crate) fn get(admin: SocketAddr, path: &str) -> String {
    let mut stream = TcpStream::connect(admin).unwrap();
    write!(stream, "GET {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n").unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    text
}

/// Checks that the log keeps all invariants, and that it is one of many requests at a time.
pub(crate) fn assert_well(history: &History, log: &[Entry]) {
    let faults = crate::checker::check(history, log);
    assert!(
        faults.is_empty(),
        "{} faults, the first of them {:#?}",
        faults.len(),
        &faults[..faults.len().min(9)]
    );
    let most = crate::checker::most_at_a_time(log);
    assert!(most >= 300, "only {most} requests were under way at a time");
    let lost = log.iter().filter(|entry| matches!(entry.reply, Reply::Lost)).count();
    assert!(lost > 0, "every client waited for its reply");
}
