//! Clients over real connections: TLS by rustls, HTTP by hyper.

use std::{io, net::SocketAddr, sync::Arc};

use bytes::Bytes;
use http::{HeaderMap, Request, Response, StatusCode, header};
use http_body_util::{BodyExt as _, Full, combinators::UnsyncBoxBody};
use hyper::{
    body::Incoming,
    client::conn::{http1, http2},
};
use hyper_util::rt::{TokioExecutor, TokioIo};
use rustls::{ClientConfig, RootCertStore, crypto::ring};
use rustls_pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject as _};
use tokio::{net::TcpStream, sync::Mutex, task::AbortHandle};
use tokio_rustls::TlsConnector;

pub(crate) type Body = UnsyncBoxBody<Bytes, std::convert::Infallible>;

/// How a client speaks HTTP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Protocol {
    Http1,
    Http2,
}

/// A client configuration that trusts the authority in this PEM; `own` is its certificate and key.
pub(crate) fn config(authority: &[u8], protocol: Protocol, own: Option<(&[u8], &[u8])>) -> Arc<ClientConfig> {
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_slice_iter(authority) {
        roots.add(certificate.unwrap()).unwrap();
    }
    let builder = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots);
    let mut config = match own {
        None => builder.with_no_client_auth(),
        Some((chain, key)) => {
            let chain = CertificateDer::pem_slice_iter(chain).collect::<Result<Vec<_>, _>>().unwrap();
            builder.with_client_auth_cert(chain, PrivateKeyDer::from_pem_slice(key).unwrap()).unwrap()
        }
    };
    config.alpn_protocols = vec![match protocol {
        Protocol::Http1 => b"http/1.1".to_vec(),
        Protocol::Http2 => b"h2".to_vec(),
    }];
    Arc::new(config)
}

/// The reply of a server.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

/// A client connection, closed with its last copy.
#[derive(Clone, Debug)]
pub(crate) struct Client {
    sender: Sender,
    _connection: Arc<Connection>,
}

#[derive(Clone, Debug)]
enum Sender {
    /// One request at a time.
    Http1(Arc<Mutex<http1::SendRequest<Body>>>),
    Http2(http2::SendRequest<Body>),
}

/// The task that drives the connection, aborted on drop.
#[derive(Debug)]
struct Connection(AbortHandle);

impl Drop for Connection {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl Client {
    /// Connects to `address` and verifies its certificate for `name`.
    pub(crate) async fn connect(
        address: SocketAddr,
        name: &str,
        config: Arc<ClientConfig>,
    ) -> io::Result<Self> {
        let http2 = config.alpn_protocols == [b"h2".to_vec()];
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        let name = name.to_owned().try_into().map_err(io::Error::other)?;
        let io = TokioIo::new(TlsConnector::from(config).connect(name, stream).await?);
        let (sender, task) = if http2 {
            let handshake = http2::handshake(TokioExecutor::new(), io).await;
            let (sender, connection) = handshake.map_err(io::Error::other)?;
            (Sender::Http2(sender), tokio::spawn(connection).abort_handle())
        } else {
            let (sender, connection) = http1::handshake(io).await.map_err(io::Error::other)?;
            (Sender::Http1(Arc::new(Mutex::new(sender))), tokio::spawn(connection).abort_handle())
        };
        Ok(Self { sender, _connection: Arc::new(Connection(task)) })
    }

    /// Sends a request once the connection is ready, and returns the reply.
    pub(crate) async fn send(&self, request: Request<Body>) -> hyper::Result<Reply> {
        match &self.sender {
            Sender::Http1(sender) => {
                let mut sender = sender.lock().await;
                sender.ready().await?;
                whole(sender.send_request(request).await?).await
            }
            Sender::Http2(sender) => {
                let mut sender = sender.clone();
                sender.ready().await?;
                whole(sender.send_request(request).await?).await
            }
        }
    }
}

async fn whole(response: Response<Incoming>) -> hyper::Result<Reply> {
    let (head, body) = response.into_parts();
    Ok(Reply { status: head.status, headers: head.headers, body: body.collect().await?.to_bytes() })
}

/// A request that posts JSON.
pub(crate) fn post(path: &str, body: Body) -> Request<Body> {
    let builder = Request::post(format!("https://localhost{path}")).header(header::HOST, "localhost");
    builder.header(header::CONTENT_TYPE, "application/json").body(body).unwrap()
}

/// A complete body.
pub(crate) fn full(body: impl Into<Bytes>) -> Body {
    Full::new(body.into()).boxed_unsync()
}
