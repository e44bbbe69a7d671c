//! Answers plain HTTP on the HTTPS port with an error in plain HTTP, which says more than a TLS alert.

use std::time::Duration;

use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
    time::timeout,
};

use super::status;

/// The first byte of a TLS connection: a record of type handshake.
pub(super) const TLS_HANDSHAKE: u8 = 0x16;

/// How many bytes of the request are read, and for how long.
const MAX_BYTES: u64 = 64 << 10;
const TIMEOUT: Duration = Duration::from_secs(1);

/// Whether a connection that begins with `byte` is one of HTTP: methods are upper-case words.
pub(super) fn is_http(byte: u8) -> bool {
    byte.is_ascii_uppercase()
}

/// Answers any request with the advice to use HTTPS.
pub(super) async fn refuse(mut stream: TcpStream) {
    let body = status::body(
        400,
        "BadRequest",
        "this is an HTTPS port, and the request came in plain HTTP; use a URL that begins with https://",
    );
    let head = format!(
        "HTTP/1.1 400 Bad Request\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
        body.len()
    );
    let answer = async {
        stream.write_all(&[head.as_bytes(), body.as_bytes()].concat()).await?;
        stream.shutdown().await?;
        // Closing with unread input would reset the connection and lose the answer.
        let mut rest = stream.take(MAX_BYTES);
        let mut buffer = [0; 4096];
        while rest.read(&mut buffer).await? > 0 {}
        std::io::Result::Ok(())
    };
    // An error means that the client has disconnected.
    let _ = timeout(TIMEOUT, answer).await;
}
