//! The floor: the least that an HTTPS server written with hyper and rustls can do.
//!
//! It reads the whole body and sends a fixed reply of the size of a usual one. It has no router, no log line,
//! no metric, no limit and no deadline, and chooses the protocol by ALPN alone. What it costs is the price of
//! TLS, HTTP and the sockets, which no server of this build can go below; the bars are multiples of it.

use std::hash::{DefaultHasher, Hasher as _};
use std::hint::black_box;
use std::io::Write as _;
use std::sync::Arc;

use anyhow::Context as _;
use bytes::Bytes;
use http::{HeaderValue, Request, Response, header};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use rustls::ServerConfig;
use rustls_pki_types::PrivatePkcs8KeyDer;
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;

use crate::load::Expect;

/// As long as a reply to `ReviseReplica` is: the envelope, a uid and a small patch in base64.
const REPLY: &str = concat!(
    r#"{"apiVersion":"config.karmada.io/v1alpha1","kind":"ResourceInterpreterContext","response":{"#,
    r#""uid":"00000000-0000-0000-0000-000000000000","successful":true,"patch":""#,
    "W3sib3AiOiJyZXBsYWNlIiwicGF0aCI6Ii9zcGVjL3JlcGxpY2FzIiwidmFsdWUiOjF9LHsib3AiOiJyZXBsYWNlIiwicGF0",
    r#"aCI6Ii9zcGVjL3BhdXNlZCIsInZhbHVlIjpmYWxzZX1d","patchType":"JSONPatch"}}"#,
);

/// What its replies are like.
pub(crate) const EXPECT: Expect = Expect { echo: false, holds: &[r#""patchType":"JSONPatch""#], lacks: None };

/// Serves until the process is killed. Its address is the one line on stdout.
///
/// `work` is how often each body is hashed before the reply: 0 for the floor, more for a server that is known
/// to be heavier, with which the method can be tried.
pub(crate) fn run(work: u32) -> anyhow::Result<()> {
    // As the server under test: one worker a core, unless the environment says otherwise.
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .context("failed to start the runtime of the floor")?;
    runtime.block_on(async {
        let acceptor = TlsAcceptor::from(Arc::new(tls_config()?));
        let listener = TcpListener::bind("127.0.0.1:0").await.context("failed to bind the floor")?;
        let address = listener.local_addr().context("failed to read the address of the floor")?;
        writeln!(std::io::stdout(), "{address}").context("failed to print the address of the floor")?;
        loop {
            let (stream, _) = listener.accept().await.context("failed to accept a connection")?;
            tokio::spawn(serve(acceptor.clone(), stream, work));
        }
    })
}

async fn serve(acceptor: TlsAcceptor, stream: TcpStream, work: u32) {
    // A connection that fails here is missed by the load generator, which ends the run.
    if stream.set_nodelay(true).is_err() {
        return;
    }
    let Ok(stream) = acceptor.accept(stream).await else { return };
    let http2 = stream.get_ref().1.alpn_protocol() == Some(b"h2");
    let stream = TokioIo::new(stream);
    let service = service_fn(move |request| reply(request, work));
    if http2 {
        drop(
            hyper::server::conn::http2::Builder::new(TokioExecutor::new())
                .serve_connection(stream, service)
                .await,
        );
    } else {
        drop(hyper::server::conn::http1::Builder::new().serve_connection(stream, service).await);
    }
}

async fn reply(request: Request<Incoming>, work: u32) -> hyper::Result<Response<Full<Bytes>>> {
    let body = request.into_body().collect().await?.to_bytes();
    for _ in 0..work {
        let mut hasher = DefaultHasher::new();
        hasher.write(black_box(&body));
        black_box(hasher.finish());
    }
    let mut response = Response::new(Full::new(Bytes::from_static(REPLY.as_bytes())));
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    Ok(response)
}

fn tls_config() -> anyhow::Result<ServerConfig> {
    let pair =
        rcgen::generate_simple_self_signed(["localhost".to_owned()]).context("failed to make a key pair")?;
    let key = PrivatePkcs8KeyDer::from(pair.signing_key.serialize_der());
    let mut config = ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .context("failed to choose the TLS versions")?
        .with_no_client_auth()
        .with_single_cert(vec![pair.cert.der().clone()], key.into())
        .context("failed to use the key pair")?;
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(config)
}
