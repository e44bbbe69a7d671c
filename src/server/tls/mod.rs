//! TLS: the certificate, its source, and its replacement while the server runs.
//!
//! Certificates are files that others replace: the kubelet swaps a symbolic link two levels up, a script
//! overwrites them. So their *content* is compared at intervals, without notifications of the file system. A
//! pair that does not parse, does not match or is not valid now never replaces a valid one.

mod resolver;
mod source;

use std::{
    path::PathBuf,
    sync::Arc,
    time::{Duration, SystemTime},
};

use arc_swap::ArcSwap;
use rustls::{
    ServerConfig,
    crypto::ring,
    server::{WebPkiClientVerifier, danger::ClientCertVerifier},
};
use tokio_rustls::TlsAcceptor;
use tracing::{info, warn};

use super::{Metrics, ServeError};
use crate::certs::{Pair, Rfc3339};
use crate::domain::ErrorChain;
use resolver::Resolver;
use source::{Files, Loaded};

/// The protocols that are offered, the preferred one first.
const ALPN: [&[u8]; 2] = [b"h2", b"http/1.1"];

/// Where the certificate of the server comes from.
#[derive(Clone, Debug)]
pub enum CertificateSource {
    /// `tls.crt` and `tls.key` in a directory, read again when they change.
    Directory(PathBuf),
    /// A pair that never changes.
    Fixed(Arc<Pair>),
}

/// The certificate, and the clients that are accepted.
#[derive(Clone, Debug)]
pub struct TlsOptions {
    /// The certificate of the server.
    pub certificate: CertificateSource,
    /// The authorities of client certificates; `None` if clients need none. Read again when it changes.
    pub client_ca_file: Option<PathBuf>,
    /// How often the files are checked for changes.
    pub poll_interval: Duration,
}

impl TlsOptions {
    pub const DEFAULT_POLL_INTERVAL: Duration = Duration::from_secs(10);

    /// The defaults, without client certificates.
    pub fn new(certificate: CertificateSource) -> Self {
        Self { certificate, client_ca_file: None, poll_interval: Self::DEFAULT_POLL_INTERVAL }
    }
}

/// The current TLS configuration.
#[derive(Debug)]
pub(super) struct Tls {
    options: TlsOptions,
    /// Replaced when the client authorities change, with its session cache: a client of a removed authority
    /// must not resume a session.
    config: ArcSwap<ServerConfig>,
    resolver: Arc<Resolver>,
    /// What was read at the start, as the watch needs to know it.
    first: Files,
    metrics: Metrics,
}

impl Tls {
    /// Reads what `options` name.
    pub(super) fn load(options: TlsOptions, metrics: &Metrics) -> Result<Self, ServeError> {
        let first = Files::read(&options)?;
        let Loaded { pair, verifier } = first.load(&options, SystemTime::now())?;
        metrics.set_certificate_not_after(pair.not_after());
        let resolver = Arc::new(Resolver::new(pair));
        let config = ArcSwap::from_pointee(configure(&resolver, verifier)?);
        Ok(Self { options, config, resolver, first, metrics: metrics.clone() })
    }

    /// What the next connection is set up with.
    pub(super) fn acceptor(&self) -> TlsAcceptor {
        TlsAcceptor::from(self.config.load_full())
    }

    /// An error if the certificate in use is not valid now.
    pub(super) fn check_valid(&self) -> Result<(), String> {
        self.resolver.pair().check_valid(SystemTime::now()).map_err(|error| error.to_string())
    }

    /// Looks at the files at intervals, for ever, and takes them over when they have changed.
    pub(super) async fn watch(self: Arc<Self>) {
        let mut seen = self.first.clone();
        if seen.is_none() {
            return std::future::pending().await;
        }
        let mut last_problem = None;
        let mut ticks = tokio::time::interval(self.options.poll_interval.max(Duration::from_millis(1)));
        ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            ticks.tick().await;
            // A file system that hangs must not hold up requests.
            let options = self.options.clone();
            let problem = match tokio::task::spawn_blocking(move || Files::read(&options)).await {
                Ok(Ok(files)) if files == seen => continue,
                Ok(Ok(files)) => {
                    let taken = self.replace(&seen, &files);
                    seen = files;
                    taken.err()
                }
                Ok(Err(error)) => Some(error.into()),
                Err(_panicked) => continue,
            };
            // Once for each problem, not at each look.
            let problem = problem.map(|error: ServeError| ErrorChain(&error).to_string());
            if let Some(problem) = &problem
                && Some(problem) != last_problem.as_ref()
            {
                warn!(error = problem, "failed to take over a new certificate, the old one stays in use");
            }
            last_problem = problem;
        }
    }

    /// Takes over `new`, as a whole or not at all.
    fn replace(&self, old: &Files, new: &Files) -> Result<(), ServeError> {
        let Loaded { pair, verifier } = new.load(&self.options, SystemTime::now())?;
        if new.client_ca != old.client_ca {
            self.config.store(Arc::new(configure(&self.resolver, verifier)?));
        }
        let not_after = pair.not_after();
        self.resolver.replace(pair);
        self.metrics.set_certificate_not_after(not_after);
        info!(not_after = %Rfc3339(not_after), "took over a new certificate");
        Ok(())
    }
}

fn configure(
    resolver: &Arc<Resolver>,
    verifier: Option<Arc<dyn ClientCertVerifier>>,
) -> Result<ServerConfig, ServeError> {
    let tls = |error: rustls::Error| ServeError::Tls(error.into());
    let builder = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_protocol_versions(&[&rustls::version::TLS13, &rustls::version::TLS12])
        .map_err(tls)?
        .with_client_cert_verifier(verifier.unwrap_or_else(WebPkiClientVerifier::no_client_auth));
    let mut config = builder.with_cert_resolver(Arc::clone(resolver) as _);
    config.alpn_protocols = ALPN.map(<[u8]>::to_vec).to_vec();
    config.ticketer = ring::Ticketer::new().map_err(tls)?;
    Ok(config)
}
