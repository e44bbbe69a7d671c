//! The same over HTTP/2, which a client on the loopback address may offer.

use bytes::Bytes;
use http::{Request, header};
use http_body_util::{BodyExt as _, Full};
use hyper::client::conn::http2;
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

use crate::Site;
use crate::karmada::{Asked, Verdict, verify};
use crate::reply::Reply;

#[tokio::test]
async fn a_reply_keeps_to_the_same_rules_over_http2() {
    let body = include_bytes!("../data/captures/revise-replica-cluster-z-w31.json");
    let site = Site::start();
    let stream = TcpStream::connect(site.server.secure).await.unwrap();
    let connector = TlsConnector::from(site.certificates.client(&[b"h2"]));
    let stream = connector.connect("localhost".try_into().unwrap(), stream).await.unwrap();
    assert_eq!(stream.get_ref().1.alpn_protocol(), Some(b"h2".as_slice()));
    let (mut sender, connection) =
        http2::handshake(TokioExecutor::new(), TokioIo::new(stream)).await.unwrap();
    tokio::spawn(connection);
    for _ in 0..2 {
        let request = Request::post("https://localhost/interpret?timeout=10s")
            .header(header::CONTENT_TYPE, "application/json")
            .body(Full::new(Bytes::from_static(body)))
            .unwrap();
        let (head, reply) = sender.send_request(request).await.unwrap().into_parts();
        let reply = Reply {
            status: head.status.as_u16(),
            headers: head
                .headers
                .iter()
                .map(|(name, value)| (name.to_string(), value.to_str().unwrap().to_owned()))
                .collect(),
            body: reply.collect().await.unwrap().to_bytes().to_vec(),
        };
        let verdict = verify(&Asked::of(body), &reply).unwrap_or_else(|broken| panic!("{broken}"));
        let patch = r#"[{"op":"replace","path":"/spec/replicas","value":1}]"#;
        assert_eq!(verdict, Verdict::Revised(patch.to_owned()));
    }
}
