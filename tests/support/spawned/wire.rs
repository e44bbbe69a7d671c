//! Requests as Karmada's client writes them, byte by byte, and whatever comes back.

use std::io::{ErrorKind, Read, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use rustls::crypto::ring;
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};
use rustls_pki_types::CertificateDer;
use rustls_pki_types::pem::PemObject as _;
use tempfile::TempDir;

/// How long nothing may come before a test gives up.
const SILENCE: Duration = Duration::from_secs(30);

/// A certificate authority and a server certificate, made by `reviser certs`.
#[derive(Debug)]
pub(crate) struct Certificates {
    directory: TempDir,
}

impl Certificates {
    /// A new pair for this machine.
    pub(crate) fn issue() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let made = Command::new(env!("CARGO_BIN_EXE_reviser"))
            .args(["certs", "--dns", "localhost", "--ip", "127.0.0.1", "--out"])
            .arg(directory.path())
            .output()
            .unwrap();
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        Self { directory }
    }

    /// What goes to `--cert-dir`.
    pub(crate) fn directory(&self) -> &Path {
        self.directory.path()
    }

    /// A client that trusts only this authority. With an empty `alpn` it offers none, as Karmada's client
    /// does.
    pub(crate) fn client(&self, alpn: &[&[u8]]) -> Arc<ClientConfig> {
        let authority = CertificateDer::from_pem_file(self.directory().join("ca.crt")).unwrap();
        let mut roots = RootCertStore::empty();
        roots.add(authority).unwrap();
        let mut config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(roots)
            .with_no_client_auth();
        config.alpn_protocols = alpn.iter().map(|name| name.to_vec()).collect();
        Arc::new(config)
    }
}

/// A request with the headers that Karmada sends. `target` is the path with its query.
///
/// Source: the record of a real Karmada at commit f8fdd02, see `tests/data/captures/README.md`.
pub(crate) fn post(target: &str, body: &[u8]) -> Vec<u8> {
    let length = body.len();
    let head = format!(
        "POST {target} HTTP/1.1\r\nHost: localhost:8443\r\nUser-Agent: kube-apiserver-admission\r\n\
         Content-Length: {length}\r\nAccept: application/json, */*\r\nContent-Type: application/json\r\n\
         Accept-Encoding: gzip\r\n\r\n"
    );
    [head.as_bytes(), body].concat()
}

/// Sends `request` over a new TLS connection, and gives every byte that comes back before the connection
/// ends.
pub(crate) fn ask(server: SocketAddr, client: &Arc<ClientConfig>, request: &[u8]) -> Vec<u8> {
    let stream = TcpStream::connect(server).unwrap();
    stream.set_read_timeout(Some(SILENCE)).unwrap();
    stream.set_nodelay(true).unwrap();
    let connection = ClientConnection::new(Arc::clone(client), "localhost".try_into().unwrap()).unwrap();
    let mut stream = StreamOwned::new(connection, stream);
    stream.write_all(request).unwrap();
    let mut reply = Vec::new();
    read(&mut stream, &mut reply, is_whole);
    // A client that says goodbye before it has its answer gets none. What comes after the answer belongs to
    // it too: nothing should.
    stream.conn.send_close_notify();
    // The server may have closed the connection by itself.
    drop(stream.flush());
    read(&mut stream, &mut reply, |_| false);
    reply
}

/// Reads until `enough` holds or the peer closes.
fn read(stream: &mut impl Read, all: &mut Vec<u8>, enough: impl Fn(&[u8]) -> bool) {
    let mut piece = [0; 16 << 10];
    while !enough(all) {
        match stream.read(&mut piece) {
            Ok(0) => return,
            Ok(length) => all.extend_from_slice(&piece[..length]),
            Err(error) if matches!(error.kind(), ErrorKind::UnexpectedEof | ErrorKind::ConnectionReset) => {
                return;
            }
            Err(error) => panic!("{error}; so far: {}", String::from_utf8_lossy(all)),
        }
    }
}

/// Whether the body is as long as the head says. Whether that is all as it should be is for others to judge.
fn is_whole(reply: &[u8]) -> bool {
    let text = String::from_utf8_lossy(reply);
    let Some((head, body)) = text.split_once("\r\n\r\n") else { return false };
    let declared = head.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse::<usize>().ok())?
    });
    declared.is_some_and(|length| body.len() >= length)
}
