//! Plain HTTP where HTTPS is served: said so in words, as a bare TLS alert helps nobody.

use std::time::Duration;

use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
    time::timeout,
};

use super::status;

/// What every TLS connection begins with: a record of type handshake.
pub(super) const TLS_HANDSHAKE: u8 = 0x16;

/// How much of what the client says is taken in, and for how long, before it is cut off.
const MAX_BYTES: u64 = 64 << 10;
const TIMEOUT: Duration = Duration::from_secs(1);

/// Whether a connection that begins with `byte` is one of HTTP: methods are upper-case words.
pub(super) fn is_http(byte: u8) -> bool {
    byte.is_ascii_uppercase()
}

/// Answers whatever the client wants with what it should do instead.
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
        // Closing with something unread would take the answer back. What comes is not looked at.
        let mut rest = stream.take(MAX_BYTES);
        let mut buffer = [0; 4096];
        while rest.read(&mut buffer).await? > 0 {}
        std::io::Result::Ok(())
    };
    // The client may be gone by now, which is as good.
    let _ = timeout(TIMEOUT, answer).await;
}
