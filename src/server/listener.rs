//! Accepting connections.

use std::{io, sync::Arc, time::Duration};

use tokio::{
    net::{TcpListener, TcpStream},
    sync::{OwnedSemaphorePermit, Semaphore},
    time::sleep,
};
use tracing::{debug, warn};

use super::{Lifecycle, Phase};

/// How long to wait after an error that is not the fault of one connection, such as no more file descriptors:
/// it would only be repeated at once. Doubled each time, up to [`MAX_BACKOFF`].
const MIN_BACKOFF: Duration = Duration::from_millis(10);
const MAX_BACKOFF: Duration = Duration::from_secs(1);

/// How many connections are still accepted when no more should be: those that may have been in the queue by
/// then. Without a bound, a crowd that keeps coming would keep this going.
const MAX_LATE: u32 = 1024;

/// A bound port, and how many connections it may have at a time. Each connection holds a permit, so all
/// permits are back when the last connection is closed.
#[derive(Debug)]
pub(super) struct Listener {
    listener: TcpListener,
    permits: Arc<Semaphore>,
}

impl Listener {
    pub(super) fn new(listener: TcpListener, permits: Arc<Semaphore>) -> Self {
        Self { listener, permits }
    }

    /// Hands each connection to `serve`, in a task of its own, until `lifecycle` is at `last`.
    pub(super) async fn run<F>(
        self,
        lifecycle: Lifecycle,
        last: Phase,
        serve: impl Fn(TcpStream, OwnedSemaphorePermit) -> F,
    ) where
        F: Future<Output = ()> + Send + 'static,
    {
        let mut backoff = MIN_BACKOFF;
        let mut late = 0;
        let mut over = std::pin::pin!(lifecycle.reached(last));
        while late < MAX_LATE {
            // Accepting comes first: a connection that is already in the queue when this ends is still
            // served, its client has no way to know. Both arms can be dropped while they wait.
            let accepted = tokio::select! {
                biased;
                accepted = self.accept() => accepted,
                () = &mut over => return,
            };
            late += u32::from(lifecycle.phase() >= last);
            match accepted {
                Ok((stream, permit)) => {
                    backoff = MIN_BACKOFF;
                    tokio::spawn(serve(stream, permit));
                }
                Err(error) if is_of_one_connection(&error) => debug!(%error, "failed to accept a connection"),
                Err(error) => {
                    warn!(%error, "failed to accept connections");
                    sleep(backoff).await;
                    backoff = (backoff * 2).min(MAX_BACKOFF);
                }
            }
        }
    }

    async fn accept(&self) -> io::Result<(TcpStream, OwnedSemaphorePermit)> {
        let permit = Arc::clone(&self.permits).acquire_owned().await.map_err(io::Error::other)?;
        let (stream, _peer) = self.listener.accept().await?;
        // Answers are written in one piece: waiting for more to send only adds delay.
        stream.set_nodelay(true)?;
        Ok((stream, permit))
    }
}

/// Whether the next connection may well be fine.
fn is_of_one_connection(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset, InvalidInput};
    matches!(error.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset | InvalidInput)
}
