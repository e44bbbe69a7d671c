//! The load generator: a closed loop of a bounded count over real TLS, which looks at every reply.
//!
//! It runs in the process of the bench, so its own CPU time is not counted. It must still be cheap, since it
//! shares the cores with the server: a body is one copy around a fresh uid, a check is two searches.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use bytes::Bytes;
use http::{Method, Request, StatusCode, header};
use http_body_util::{BodyExt as _, Full};
use hyper::client::conn::{http1, http2};
use hyper_util::rt::{TokioExecutor, TokioIo};
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature};
use rustls::{ClientConfig, DigitallySignedStruct, SignatureScheme};
use rustls_pki_types::{CertificateDer, ServerName, UnixTime};
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio_rustls::TlsConnector;

/// How the requests travel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Protocol {
    /// HTTP/1.1 with keep-alive, which is what the callers speak.
    Http1,
    /// HTTP/2, one request at a time a connection.
    Http2,
}

impl Protocol {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Http1 => "HTTP/1.1",
            Self::Http2 => "HTTP/2",
        }
    }

    fn alpn(self) -> &'static [u8] {
        match self {
            Self::Http1 => b"http/1.1",
            Self::Http2 => b"h2",
        }
    }
}

/// A request body, open at the place of the uid.
#[derive(Clone, Debug)]
pub(crate) struct Body {
    before: String,
    after: String,
}

impl Body {
    /// Splits `body` at `placeholder`, which must occur exactly once.
    pub(crate) fn new(body: &str, placeholder: &str) -> anyhow::Result<Self> {
        let (before, after) = body.split_once(placeholder).context("the body lacks the place of the uid")?;
        ensure!(!after.contains(placeholder), "the body holds the place of the uid twice");
        Ok(Self { before: before.to_owned(), after: after.to_owned() })
    }

    /// The body of one request.
    fn with(&self, uid: &str) -> Bytes {
        [self.before.as_str(), uid, self.after.as_str()].concat().into()
    }

    /// How long the body of one request is.
    pub(crate) fn len(&self) -> usize {
        self.with(&uid(0)).len()
    }
}

/// What a reply must be like, beyond a status of 200.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Expect {
    /// Whether it holds the uid of the request.
    pub(crate) echo: bool,
    pub(crate) holds: &'static [&'static str],
    /// What it does not hold.
    pub(crate) lacks: Option<&'static str>,
}

/// What is sent where.
#[derive(Clone, Debug)]
pub(crate) struct Load {
    /// The server.
    pub(crate) address: SocketAddr,
    /// HTTP/1.1 or HTTP/2.
    pub(crate) protocol: Protocol,
    /// The path of the request.
    pub(crate) path: &'static str,
    /// The body of the request.
    pub(crate) body: Body,
    /// What each reply must be like.
    pub(crate) expect: Expect,
    /// How many connections there are, each with one request at a time.
    pub(crate) connections: usize,
}

/// What one run of the load took, seen from the client.
#[derive(Clone, Debug, Default)]
pub(crate) struct Timing {
    /// From the first request to the last reply.
    pub(crate) elapsed: Duration,
    /// One entry a request.
    pub(crate) latencies: Vec<Duration>,
}

/// Open connections to one server. They stay open between the rounds, as a caller's would.
pub(crate) struct Client {
    load: Load,
    senders: Vec<Sender>,
}

enum Sender {
    Http1(http1::SendRequest<Full<Bytes>>),
    Http2(http2::SendRequest<Full<Bytes>>),
}

/// Uids are never used twice, over all clients.
static NEXT_UID: AtomicU64 = AtomicU64::new(0);

fn uid(number: u64) -> String {
    format!("00000000-0000-4000-8000-{number:012x}")
}

impl Client {
    /// Opens the connections.
    pub(crate) async fn connect(load: Load) -> anyhow::Result<Self> {
        let connector = TlsConnector::from(Arc::new(tls_config(load.protocol)?));
        let mut senders = Vec::with_capacity(load.connections);
        for _ in 0..load.connections {
            senders.push(connect(&load, &connector).await?);
        }
        Ok(Self { load, senders })
    }

    /// Sends `count` requests, spread evenly over the connections, and waits for all replies.
    pub(crate) async fn send(&mut self, count: usize) -> anyhow::Result<Timing> {
        let each = count.div_ceil(self.load.connections.max(1));
        let load = Arc::new(self.load.clone());
        let start = Instant::now();
        let mut tasks = JoinSet::new();
        for sender in self.senders.drain(..) {
            tasks.spawn(send_on(Arc::clone(&load), sender, each));
        }
        let mut timing = Timing::default();
        while let Some(task) = tasks.join_next().await {
            let (sender, latencies) = task.context("failed to run a connection")??;
            self.senders.push(sender);
            timing.latencies.extend(latencies);
        }
        timing.elapsed = start.elapsed();
        Ok(timing)
    }
}

async fn connect(load: &Load, connector: &TlsConnector) -> anyhow::Result<Sender> {
    let address = load.address;
    let stream =
        TcpStream::connect(address).await.with_context(|| format!("failed to connect to {address}"))?;
    stream.set_nodelay(true).context("failed to set TCP_NODELAY")?;
    let name = ServerName::try_from("localhost").context("failed to name the server")?;
    let stream = connector
        .connect(name, stream)
        .await
        .with_context(|| format!("failed to shake hands with {address}"))?;
    let chosen = stream.get_ref().1.alpn_protocol();
    ensure!(
        chosen == Some(load.protocol.alpn()),
        "the server at {address} chose another protocol than was offered"
    );
    let stream = TokioIo::new(stream);
    Ok(match load.protocol {
        Protocol::Http1 => {
            let (sender, connection) = http1::handshake(stream).await.context("failed to start HTTP/1.1")?;
            tokio::spawn(connection);
            Sender::Http1(sender)
        }
        Protocol::Http2 => {
            let started = http2::handshake(TokioExecutor::new(), stream).await;
            let (sender, connection) = started.context("failed to start HTTP/2")?;
            tokio::spawn(connection);
            Sender::Http2(sender)
        }
    })
}

async fn send_on(
    load: Arc<Load>,
    mut sender: Sender,
    count: usize,
) -> anyhow::Result<(Sender, Vec<Duration>)> {
    let mut latencies = Vec::with_capacity(count);
    for _ in 0..count {
        let uid = uid(NEXT_UID.fetch_add(1, Ordering::Relaxed));
        let request = request(&load, &uid)?;
        let start = Instant::now();
        let response = match &mut sender {
            Sender::Http1(sender) => {
                sender.ready().await.context("the server closed a connection")?;
                sender.send_request(request).await
            }
            Sender::Http2(sender) => {
                sender.ready().await.context("the server closed a connection")?;
                sender.send_request(request).await
            }
        };
        let response = response.context("failed to send a request")?;
        let status = response.status();
        let body = response.into_body().collect().await.context("failed to read a reply")?.to_bytes();
        latencies.push(start.elapsed());
        check(status, &body, &uid, load.expect)?;
    }
    Ok((sender, latencies))
}

fn request(load: &Load, uid: &str) -> anyhow::Result<Request<Full<Bytes>>> {
    // The headers that the callers send. HTTP/2 takes scheme and authority from the URI, HTTP/1.1 requires a
    // path.
    let uri = match load.protocol {
        Protocol::Http1 => format!("{}?timeout=10s", load.path),
        Protocol::Http2 => format!("https://{}{}?timeout=10s", load.address, load.path),
    };
    let mut request = Request::builder()
        .method(Method::POST)
        .uri(uri)
        .header(header::USER_AGENT, "kube-apiserver-admission")
        .header(header::ACCEPT, "application/json, */*")
        .header(header::CONTENT_TYPE, "application/json")
        .header(header::ACCEPT_ENCODING, "gzip");
    if load.protocol == Protocol::Http1 {
        request = request.header(header::HOST, load.address.to_string());
    }
    request.body(Full::new(load.body.with(uid))).context("failed to build a request")
}

/// A server that answers wrongly is not measured.
fn check(status: StatusCode, body: &[u8], uid: &str, expect: Expect) -> anyhow::Result<()> {
    let text = std::str::from_utf8(body).context("a reply is not text")?;
    ensure!(status == StatusCode::OK, "a reply has status {status}: {text}");
    for wanted in expect.holds {
        ensure!(text.contains(wanted), "a reply lacks {wanted}: {text}");
    }
    if let Some(unwanted) = expect.lacks {
        ensure!(!text.contains(unwanted), "a reply holds {unwanted}: {text}");
    }
    ensure!(!expect.echo || text.contains(uid), "a reply lacks the uid {uid}: {text}");
    Ok(())
}

fn tls_config(protocol: Protocol) -> anyhow::Result<ClientConfig> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .context("failed to choose the TLS versions")?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(AnyCertificate(provider)))
        .with_no_client_auth();
    config.alpn_protocols = vec![protocol.alpn().to_vec()];
    Ok(config)
}

/// Takes any certificate: both servers make theirs at start, and whom they are is known.
#[derive(Debug)]
struct AnyCertificate(Arc<CryptoProvider>);

impl ServerCertVerifier for AnyCertificate {
    fn verify_server_cert(
        &self,
        _end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls12_signature(message, cert, dss, &self.0.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(message, cert, dss, &self.0.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}
