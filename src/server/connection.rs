//! One connection, from its first byte to its last.

use std::{convert::Infallible, future::poll_fn, io, pin::pin, sync::Arc};

use http::{HeaderValue, Request, Version, header};
use hyper::{body::Incoming, service::service_fn};
use hyper_util::rt::TokioIo;
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::TcpStream,
    sync::OwnedSemaphorePermit,
    time::timeout,
};
use tokio_rustls::server::TlsStream;
use tracing::{debug, info};

use super::{
    Phase, plaintext,
    router::Site,
    tls::Tls,
    watchdog::{Activity, Exchange, Verdict, Watchdog, Watched},
};

/// Serves a connection to the admin port.
pub(super) async fn serve_plain(stream: TcpStream, permit: OwnedSemaphorePermit, site: Arc<Site>) {
    serve(stream, &permit, site).await;
    drop(permit);
}

/// Serves a connection to the secure port.
pub(super) async fn serve_secure(
    stream: TcpStream,
    permit: OwnedSemaphorePermit,
    tls: Arc<Tls>,
    site: Arc<Site>,
) {
    let open = site.metrics().connection();
    let handshake = timeout(site.limits().handshake_timeout, handshake(stream, &tls)).await;
    match handshake.unwrap_or_else(|_elapsed| Begin::Failed(io::ErrorKind::TimedOut.into())) {
        Begin::Secure(stream) => serve(*stream, &permit, site).await,
        Begin::Plain(stream) => {
            site.metrics().count_handshake_failure();
            info!("refused plain HTTP on the secure port");
            plaintext::refuse(stream).await;
        }
        Begin::Failed(error) => {
            site.metrics().count_handshake_failure();
            info!(%error, "failed to set up TLS");
        }
        Begin::Nothing => debug!("a connection ended before its first byte"),
    }
    drop((open, permit));
}

/// How a connection to the secure port begins.
enum Begin {
    Secure(Box<TlsStream<TcpStream>>),
    Plain(TcpStream),
    Failed(io::Error),
    /// Closed without a byte, as load balancers do to probe the port.
    Nothing,
}

async fn handshake(stream: TcpStream, tls: &Tls) -> Begin {
    let mut first = [0];
    match stream.peek(&mut first).await {
        Ok(0) | Err(_) => return Begin::Nothing,
        Ok(_) if first[0] != plaintext::TLS_HANDSHAKE && plaintext::is_http(first[0]) => {
            return Begin::Plain(stream);
        }
        Ok(_) => {}
    }
    match tls.acceptor().accept(stream).await {
        Ok(stream) => Begin::Secure(Box::new(stream)),
        Err(error) => Begin::Failed(error),
    }
}

/// Serves HTTP, whatever version the client speaks, until the connection ends.
async fn serve<I>(io: I, permit: &OwnedSemaphorePermit, site: Arc<Site>)
where
    I: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let activity = Arc::new(Activity::new());
    let mut watchdog = Watchdog::new(Arc::clone(&activity), Arc::clone(permit.semaphore()), site.limits());
    let mut phases = site.lifecycle().subscribe();
    let io = Watched::new(TokioIo::new(io), Arc::clone(&activity));
    let service = service_fn({
        let site = Arc::clone(&site);
        move |request: Request<Incoming>| {
            let http2 = request.version() == Version::HTTP_2;
            let exchange = Exchange::begin(&activity, http2);
            let site = Arc::clone(&site);
            async move {
                let mut response = site.answer(request, exchange.arrival).await;
                // HTTP/2 has no such header; its clients get a GOAWAY.
                if !http2 && site.lifecycle().phase() > Phase::Serving {
                    response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
                }
                drop(exchange);
                Ok::<_, Infallible>(response)
            }
        }
    });
    let mut connection = pin!(site.http().serve_connection(io, service));
    watchdog.enter(*phases.borrow_and_update());
    loop {
        // The connection is polled first, so that received input is handled before the connection counts as
        // idle. All arms are cancellation safe.
        tokio::select! {
            biased;
            ended = connection.as_mut() => {
                if let Err(error) = ended {
                    debug!(%error, "a connection broke");
                }
                return;
            }
            verdict = poll_fn(|cx| watchdog.poll(cx)) => match verdict {
                Verdict::Retire => connection.as_mut().graceful_shutdown(),
                Verdict::Cut => return,
            },
            Ok(()) = phases.changed() => match *phases.borrow_and_update() {
                Phase::Ended => return,
                phase => watchdog.enter(phase),
            },
        }
    }
}
