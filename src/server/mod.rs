//! The HTTP server around the doors: listeners, TLS, limits, health, metrics, and an orderly end.
//!
//! The *secure* listener speaks HTTPS, HTTP/1.1 and HTTP/2, and serves the [`Door`]s, `/livez` and `/readyz`.
//! The *admin* listener speaks plain HTTP and serves `/livez`, `/readyz` and `/metrics`. The composition root
//! supplies the doors, the readiness checks and the other metrics. This module depends on no policy and no
//! state.
//!
//! [`Server::bind`] loads the certificate and binds both ports, so that errors appear before anything is
//! served. [`Bound::run`] serves until the [`Lifecycle`] ends it.
//!
//! Invariants:
//! * every answer that is not a success has a `metav1.Status` body, because callers show its message;
//! * each request is counted once, also one whose client went away;
//! * a request that has reached the server is answered, whatever phase the [`Lifecycle`] is in, until the
//!   time for that is over;
//! * no client can hold a connection forever.

mod body;
mod budget;
mod connection;
mod door;
mod error;
mod health;
mod listener;
mod metrics;
mod plaintext;
mod reply;
mod router;
mod shutdown;
mod status;
mod timeout;
mod tls;
mod watchdog;

use std::{net::SocketAddr, sync::Arc, time::Duration};

use prometheus_client::registry::Registry;
use tokio::{net::TcpListener, sync::Semaphore, task::JoinSet, time::timeout};
use tracing::{info, warn};

pub use door::{Call, Door, DoorReply, Doors};
pub use error::ServeError;
pub use health::Check;
pub use metrics::Metrics;
pub use shutdown::{Lifecycle, Phase};
pub use tls::{CertificateSource, TlsOptions};

use health::Health;
use listener::Listener;
use router::Site;
use tls::Tls;

/// How long requests get to finish once no new connections are accepted.
const DEFAULT_FINISH: Duration = Duration::from_secs(10);

/// The admin port has few callers.
const MAX_ADMIN_CONNECTIONS: usize = 64;

/// The options of a server. [`Options::new`] has the defaults.
#[derive(Clone, Debug)]
pub struct Options {
    /// Where to serve HTTPS. Port 0 takes any that is free.
    pub secure_address: SocketAddr,
    /// Where to serve plain HTTP for probes and metrics.
    pub admin_address: SocketAddr,
    pub tls: TlsOptions,
    pub limits: Limits,
    /// How long the server [drains](Lifecycle::drain), not ready but serving: the time that callers need to
    /// notice.
    pub drain: Duration,
    /// How long requests then get to finish.
    pub finish: Duration,
}

impl Options {
    /// The default port for HTTPS.
    pub const DEFAULT_SECURE_PORT: u16 = 8443;
    /// The default address for probes and metrics.
    pub const DEFAULT_ADMIN_ADDRESS: &str = "127.0.0.1:8080";
    /// How long to drain by default.
    pub const DEFAULT_DRAIN: Duration = Duration::from_secs(5);

    /// The defaults, at these addresses and with this certificate.
    pub fn new(secure_address: SocketAddr, admin_address: SocketAddr, tls: TlsOptions) -> Self {
        Self {
            secure_address,
            admin_address,
            tls,
            limits: Limits::default(),
            drain: Self::DEFAULT_DRAIN,
            finish: DEFAULT_FINISH,
        }
    }
}

/// What clients may use.
#[derive(Clone, Debug)]
pub struct Limits {
    /// The longest request body.
    pub max_body_bytes: usize,
    /// The bytes of memory for all requests in flight: their bodies, and an estimate of the values made of
    /// them.
    pub memory_budget: usize,
    /// How long a request body may take to arrive.
    pub body_timeout: Duration,
    /// How long a TLS handshake may take.
    pub handshake_timeout: Duration,
    /// How long the head of a request may take, from its first byte.
    pub header_timeout: Duration,
    /// How long a connection may be idle. Long, because a request on a connection that is just being closed
    /// costs its caller a retry.
    pub idle_timeout: Duration,
    /// How many connections may be open at a time. More wait to be accepted.
    pub max_connections: usize,
}

impl Limits {
    /// The longest request body by default.
    pub const DEFAULT_MAX_BODY_BYTES: usize = 8 << 20;
    /// The memory for requests in flight by default.
    pub const DEFAULT_MEMORY_BUDGET: usize = 96 << 20;
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            max_body_bytes: Self::DEFAULT_MAX_BODY_BYTES,
            memory_budget: Self::DEFAULT_MEMORY_BUDGET,
            body_timeout: Duration::from_secs(30),
            handshake_timeout: Duration::from_secs(10),
            header_timeout: Duration::from_secs(10),
            idle_timeout: Duration::from_mins(3),
            max_connections: 4096,
        }
    }
}

/// The parts that the composition root supplies.
#[derive(Debug)]
pub struct Parts {
    /// What to serve on the secure port.
    pub doors: Doors,
    /// What has to hold for the server to be ready, besides a valid certificate and not being drained.
    pub checks: Vec<Check>,
    /// The server's own metrics, registered in `registry`.
    pub metrics: Metrics,
    /// All metrics, for `/metrics`.
    pub registry: Arc<Registry>,
    /// What starts the end.
    pub lifecycle: Lifecycle,
}

/// Starts a server; see [`bind`](Self::bind).
#[derive(Debug)]
pub struct Server;

impl Server {
    /// Loads the certificate and binds both ports. Connections queue up from now on.
    pub async fn bind(options: Options, parts: Parts) -> Result<Bound, ServeError> {
        let Parts { doors, mut checks, metrics, registry, lifecycle } = parts;
        let tls = Arc::new(Tls::load(options.tls.clone(), &metrics)?);
        let secure = bind(options.secure_address).await?;
        let admin = bind(options.admin_address).await?;

        checks.push(Check::new("certificate", {
            let tls = Arc::clone(&tls);
            move || tls.check_valid()
        }));
        checks.push(lifecycle.check());
        let health = Arc::new(Health::new(checks));
        let limits = Arc::new(options.limits.clone());
        let site = |doors, registry| {
            let (health, limits) = (Arc::clone(&health), Arc::clone(&limits));
            Arc::new(Site::new(doors, health, registry, limits, metrics.clone(), lifecycle.clone()))
        };
        Ok(Bound {
            secure_site: site(doors, None),
            admin_site: site(Doors::default(), Some(registry)),
            secure,
            admin,
            tls,
            lifecycle,
            options,
        })
    }
}

async fn bind(address: SocketAddr) -> Result<(TcpListener, SocketAddr), ServeError> {
    let failed = |source| ServeError::Bind { address, source };
    let listener = TcpListener::bind(address).await.map_err(failed)?;
    let actual = listener.local_addr().map_err(failed)?;
    Ok((listener, actual))
}

/// A server with both its ports bound.
pub struct Bound {
    secure: (TcpListener, SocketAddr),
    admin: (TcpListener, SocketAddr),
    secure_site: Arc<Site>,
    admin_site: Arc<Site>,
    tls: Arc<Tls>,
    lifecycle: Lifecycle,
    options: Options,
}

impl Bound {
    /// Where HTTPS is served.
    pub fn secure_address(&self) -> SocketAddr {
        self.secure.1
    }

    /// Where probes and metrics are served.
    pub fn admin_address(&self) -> SocketAddr {
        self.admin.1
    }

    /// Serves until the [`Lifecycle`] ends it, and says how that went.
    ///
    /// Must be run to its end: when it is dropped, ports are closed at once and requests are lost.
    pub async fn run(self) -> Result<Ending, ServeError> {
        let Self { secure, admin, secure_site, admin_site, tls, lifecycle, options } = self;
        let capacity = options.limits.max_connections.clamp(1, Semaphore::MAX_PERMITS);
        let permits = Arc::new(Semaphore::new(capacity));
        info!(secure_address = %secure.1, admin_address = %admin.1, "serving");

        let mut tasks = JoinSet::new();
        tasks.spawn(Arc::clone(&tls).watch());
        let listener = Listener::new(admin.0, Arc::new(Semaphore::new(MAX_ADMIN_CONNECTIONS)));
        tasks.spawn(listener.run(lifecycle.clone(), Phase::Ended, move |stream, permit| {
            connection::serve_plain(stream, permit, Arc::clone(&admin_site))
        }));
        let listener = Listener::new(secure.0, Arc::clone(&permits));
        let (accepting, accepted_all) = tokio::sync::oneshot::channel::<()>();
        tasks.spawn({
            let run = listener.run(lifecycle.clone(), Phase::Stopping, move |stream, permit| {
                connection::serve_secure(stream, permit, Arc::clone(&tls), Arc::clone(&secure_site))
            });
            async move {
                let _accepting = accepting;
                run.await;
            }
        });

        tokio::select! {
            biased;
            () = lifecycle.reached(Phase::Draining) => {}
            // The tasks end only after that phase.
            _ = tasks.join_next() => return Err(ServeError::Task),
        }
        if lifecycle.phase() == Phase::Draining {
            info!(seconds = options.drain.as_secs_f64(), "draining: not ready, but serving");
            let _ = timeout(options.drain, lifecycle.reached(Phase::Stopping)).await;
            lifecycle.finish();
        }
        // The channel is closed when the listener has ended.
        let _ = accepted_all.await;
        info!("stopped accepting, finishing requests");
        let all = permits.acquire_many(u32::try_from(capacity).unwrap_or(u32::MAX));
        tokio::select! {
            biased;
            _ = all => {}
            () = tokio::time::sleep(options.finish) => {}
            () = lifecycle.reached(Phase::Ended) => {}
        }
        let cut = capacity - permits.available_permits().min(capacity);
        lifecycle.abort();
        if cut > 0 {
            warn!(connections = cut, "ended with connections still open");
        } else {
            info!("ended, every request answered");
        }
        Ok(Ending { cut })
    }
}

impl std::fmt::Debug for Bound {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Bound")
            .field("secure", &self.secure.1)
            .field("admin", &self.admin.1)
            .finish_non_exhaustive()
    }
}

/// How a server ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ending {
    /// How many connections were still open, and were cut. None in an orderly end.
    pub cut: usize,
}
