//! Clients: TLS by rustls, HTTP by hyper, or bytes by hand.

use std::{net::SocketAddr, path::Path, sync::Arc};

use bytes::Bytes;
use http::{Method, Request, StatusCode, header};
use http_body_util::{BodyExt as _, Full};
use hyper::client::conn::{http1, http2};
use hyper_util::rt::{TokioExecutor, TokioIo};
use reviser::certs::{Authority, IssuedPair, Pem, certificates};
use rustls::{ClientConfig, RootCertStore, crypto::ring};
use rustls_pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject as _};
use tokio::{
    io::{AsyncRead, AsyncReadExt as _, AsyncWrite},
    net::TcpStream,
};
use tokio_rustls::{TlsConnector, client::TlsStream};

use super::{eventually, server::TestServer, soon};

/// How a client speaks HTTP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Protocol {
    /// HTTP/1.1, agreed on by ALPN.
    Http1,
    /// HTTP/2, agreed on by ALPN.
    Http2,
    /// HTTP/1.1, without ALPN.
    Http1Unasked,
    /// HTTP/2, without ALPN.
    Http2Unasked,
}

impl Protocol {
    fn alpn(self) -> Vec<Vec<u8>> {
        match self {
            Self::Http1 => vec![b"http/1.1".to_vec()],
            Self::Http2 => vec![b"h2".to_vec()],
            Self::Http1Unasked | Self::Http2Unasked => vec![],
        }
    }
}

fn roots(authority: &Authority) -> RootCertStore {
    let pem = Pem { path: Path::new("ca.crt"), bytes: authority.certificate_pem().as_bytes() };
    let mut roots = RootCertStore::empty();
    for certificate in certificates(pem).unwrap() {
        roots.add(certificate).unwrap();
    }
    roots
}

/// The configuration of a client that trusts `authority`, and has `own` certificate if any.
pub(crate) fn config(
    authority: &Authority,
    protocol: Protocol,
    own: Option<&IssuedPair>,
) -> Arc<ClientConfig> {
    let builder = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots(authority));
    let mut config = match own {
        None => builder.with_no_client_auth(),
        Some(own) => {
            let chain = CertificateDer::pem_slice_iter(own.certificate.as_bytes())
                .collect::<Result<Vec<_>, _>>()
                .unwrap();
            let key = PrivateKeyDer::from_pem_slice(own.key.as_bytes()).unwrap();
            builder.with_client_auth_cert(chain, key).unwrap()
        }
    };
    config.alpn_protocols = protocol.alpn();
    Arc::new(config)
}

/// A TLS connection to `address`.
pub(crate) async fn tls(
    address: SocketAddr,
    config: Arc<ClientConfig>,
) -> std::io::Result<TlsStream<TcpStream>> {
    let stream = TcpStream::connect(address).await?;
    stream.set_nodelay(true)?;
    TlsConnector::from(config).connect("localhost".try_into().map_err(std::io::Error::other)?, stream).await
}

/// What a server answered.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: http::HeaderMap,
    pub(crate) body: Bytes,
}

impl Answer {
    pub(crate) fn text(&self) -> &str {
        str::from_utf8(&self.body).unwrap()
    }

    pub(crate) fn header(&self, name: header::HeaderName) -> Option<&str> {
        self.headers.get(name).map(|value| value.to_str().unwrap())
    }

    /// Whether this is the last answer on its connection.
    pub(crate) fn closes(&self) -> bool {
        self.header(header::CONNECTION) == Some("close")
    }

    /// Checks that this says, as a `metav1.Status`, that there is no other answer, and gives its message.
    pub(crate) fn refusal(&self, status: StatusCode, reason: &str) -> String {
        assert_eq!(self.status, status, "{}", self.text());
        assert_eq!(self.header(header::CONTENT_TYPE), Some("application/json"));
        let body: k8s_openapi::apimachinery::pkg::apis::meta::v1::Status =
            serde_json::from_slice(&self.body).unwrap();
        assert_eq!(body.status.as_deref(), Some("Failure"));
        assert_eq!(body.reason.as_deref(), Some(reason));
        assert_eq!(body.code, Some(status.as_u16().into()));
        body.message.unwrap()
    }
}

/// A connection over which requests can be sent.
#[derive(Debug)]
pub(crate) enum Client {
    Http1(http1::SendRequest<Full<Bytes>>),
    Http2(http2::SendRequest<Full<Bytes>>),
}

impl Client {
    /// A connection to the doors of `server`.
    pub(crate) async fn connect(server: &TestServer, protocol: Protocol) -> Self {
        let config = config(&server.authority, protocol, None);
        soon("a connection", Self::try_connect(server.secure, config, protocol)).await.unwrap()
    }

    pub(crate) async fn try_connect(
        address: SocketAddr,
        config: Arc<ClientConfig>,
        protocol: Protocol,
    ) -> std::io::Result<Self> {
        let stream = tls(address, config).await?;
        Self::over(stream, protocol).await.map_err(std::io::Error::other)
    }

    /// A connection to the admin port of `server`.
    pub(crate) async fn connect_admin(server: &TestServer) -> Self {
        let stream = TcpStream::connect(server.admin).await.unwrap();
        Self::over(stream, Protocol::Http1).await.unwrap()
    }

    async fn over<I>(stream: I, protocol: Protocol) -> hyper::Result<Self>
    where
        I: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let io = TokioIo::new(stream);
        Ok(match protocol {
            Protocol::Http1 | Protocol::Http1Unasked => {
                let (sender, connection) = http1::handshake(io).await?;
                tokio::spawn(connection);
                Self::Http1(sender)
            }
            Protocol::Http2 | Protocol::Http2Unasked => {
                let (sender, connection) = http2::handshake(TokioExecutor::new(), io).await?;
                tokio::spawn(connection);
                Self::Http2(sender)
            }
        })
    }

    /// Waits until a request can be sent. An error if the server has closed the connection.
    pub(crate) async fn ready(&mut self) -> hyper::Result<()> {
        match self {
            Self::Http1(sender) => sender.ready().await,
            Self::Http2(sender) => sender.ready().await,
        }
    }

    /// Waits until the server has closed the connection, or said that it will.
    pub(crate) async fn closed(&self) {
        eventually("the server closes a connection", || async {
            let closed = match self {
                Self::Http1(sender) => sender.is_closed(),
                Self::Http2(sender) => sender.is_closed(),
            };
            closed.then_some(())
        })
        .await;
    }

    pub(crate) async fn try_send(&mut self, request: Request<Full<Bytes>>) -> hyper::Result<Answer> {
        let response = match self {
            Self::Http1(sender) => sender.send_request(request).await?,
            Self::Http2(sender) => sender.send_request(request).await?,
        };
        let (head, body) = response.into_parts();
        let body = body.collect().await?.to_bytes();
        Ok(Answer { status: head.status, headers: head.headers, body })
    }

    pub(crate) async fn send(&mut self, request: Request<Full<Bytes>>) -> Answer {
        self.ready().await.unwrap();
        soon("an answer", self.try_send(request)).await.unwrap()
    }

    pub(crate) async fn get(&mut self, path: &str) -> Answer {
        let request = Request::get(url(path)).header(header::HOST, "localhost").body(Full::default());
        self.send(request.unwrap()).await
    }

    /// Posts JSON.
    pub(crate) async fn post(&mut self, path: &str, body: &'static str) -> Answer {
        self.send(post(path, body)).await
    }
}

fn url(path: &str) -> String {
    format!("https://localhost{path}")
}

/// A request that posts JSON.
pub(crate) fn post(path: &str, body: impl Into<Bytes>) -> Request<Full<Bytes>> {
    Request::builder()
        .method(Method::POST)
        .uri(url(path))
        .header(header::HOST, "localhost")
        .header(header::CONTENT_TYPE, "application/json")
        .body(Full::new(body.into()))
        .unwrap()
}

/// All that comes until the other side closes the connection, in order or not.
pub(crate) async fn read_to_end(stream: &mut (impl AsyncRead + Unpin)) -> String {
    let mut all = Vec::new();
    let mut piece = [0; 4096];
    let read = async {
        loop {
            match stream.read(&mut piece).await {
                Ok(0) | Err(_) => return,
                Ok(length) => all.extend_from_slice(&piece[..length]),
            }
        }
    };
    soon("the end of a connection", read).await;
    String::from_utf8(all).unwrap()
}
