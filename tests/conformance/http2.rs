//! The same over HTTP/2, which a client on the loopback address may offer, and every API server does.

use bytes::Bytes;
use http::{Request, header};
use http_body_util::{BodyExt as _, Full};
use hyper::client::conn::http2::{self, SendRequest};
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

use crate::Site;
use crate::karmada::{Asked, Verdict, verify};
use crate::reply::Reply;

/// One connection.
pub(crate) struct Connection(SendRequest<Full<Bytes>>);

impl Connection {
    pub(crate) async fn to(site: &Site) -> Self {
        let stream = TcpStream::connect(site.server.secure).await.unwrap();
        let connector = TlsConnector::from(site.certificates.client(&[b"h2"]));
        let stream = connector.connect("localhost".try_into().unwrap(), stream).await.unwrap();
        assert_eq!(stream.get_ref().1.alpn_protocol(), Some(b"h2".as_slice()));
        let (sender, connection) =
            http2::handshake(TokioExecutor::new(), TokioIo::new(stream)).await.unwrap();
        tokio::spawn(connection);
        Self(sender)
    }

    /// The reply to this body.
    pub(crate) async fn send(&mut self, path: &str, body: &[u8]) -> Reply {
        let request = Request::post(format!("https://localhost{path}?timeout=10s"))
            .header(header::CONTENT_TYPE, "application/json")
            .body(Full::new(Bytes::copy_from_slice(body)))
            .unwrap();
        let (head, reply) = self.0.send_request(request).await.unwrap().into_parts();
        Reply {
            status: head.status.as_u16(),
            headers: head
                .headers
                .iter()
                .map(|(name, value)| (name.to_string(), value.to_str().unwrap().to_owned()))
                .collect(),
            body: reply.collect().await.unwrap().to_bytes().to_vec(),
        }
    }
}

#[tokio::test]
async fn a_reply_keeps_to_the_same_rules_over_http2() {
    let body = include_bytes!("../data/captures/revise-replica-cluster-z-w31.json");
    let site = Site::start();
    let mut connection = Connection::to(&site).await;
    for _ in 0..2 {
        let reply = connection.send("/interpret", body).await;
        let verdict = verify(&Asked::of(body), &reply).unwrap_or_else(|broken| panic!("{broken}"));
        let patch = r#"[{"op":"replace","path":"/spec/replicas","value":1}]"#;
        assert_eq!(verdict, Verdict::Revised(patch.to_owned()));
    }
}
