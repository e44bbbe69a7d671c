//! A server of the test's own.

use std::{net::SocketAddr, path::Path, sync::Arc, time::SystemTime};

use prometheus_client::registry::Registry;
use reviser::{
    certs::{Authority, IssuedPair, Pair, Pem, SubjectNames},
    server::{
        CertificateSource, Check, Doors, Ending, Lifecycle, Metrics, Options, Parts, ServeError, Server,
        TlsOptions,
    },
};
use tokio::task::JoinHandle;

use super::{door::TestDoor, soon};

/// A server that runs, and what it takes to talk to it.
#[derive(Debug)]
pub(crate) struct TestServer {
    pub(crate) secure: SocketAddr,
    pub(crate) admin: SocketAddr,
    pub(crate) lifecycle: Lifecycle,
    pub(crate) door: TestDoor,
    pub(crate) authority: Arc<Authority>,
    running: JoinHandle<Result<Ending, ServeError>>,
}

impl TestServer {
    /// A server with the defaults.
    pub(crate) async fn start() -> Self {
        Self::start_with(|_options| {}).await
    }

    /// A server whose options `change` has changed.
    pub(crate) async fn start_with(change: impl FnOnce(&mut Options)) -> Self {
        let authority = Arc::new(new_authority());
        let pair = issue(&authority);
        Self::start_from(authority, CertificateSource::Fixed(Arc::new(read(&pair))), vec![], change).await
    }

    /// A server with a certificate of `authority`, taken from `source`.
    pub(crate) async fn start_from(
        authority: Arc<Authority>,
        source: CertificateSource,
        checks: Vec<Check>,
        change: impl FnOnce(&mut Options),
    ) -> Self {
        let any = SocketAddr::from(([127, 0, 0, 1], 0));
        let mut options = Options::new(any, any, TlsOptions::new(source));
        change(&mut options);
        let door = TestDoor::new();
        let doors = Doors::default().with("/interpret", "interpreter", door.clone()).with(
            "/mutate/podchaperons/{target}",
            "podchaperons",
            door.clone(),
        );
        let lifecycle = Lifecycle::default();
        let mut registry = Registry::default();
        let metrics = Metrics::register(&mut registry);
        let parts =
            Parts { doors, checks, metrics, registry: Arc::new(registry), lifecycle: lifecycle.clone() };
        let bound = Server::bind(options, parts).await.unwrap();
        Self {
            secure: bound.secure_address(),
            admin: bound.admin_address(),
            lifecycle,
            door,
            authority,
            running: tokio::spawn(bound.run()),
        }
    }

    /// Waits for the end of the server, which something else has to bring about.
    pub(crate) async fn ended(self) -> Ending {
        soon("the server ends", self.running).await.unwrap().unwrap()
    }
}

/// A new authority.
pub(crate) fn new_authority() -> Authority {
    Authority::new(SystemTime::now()).unwrap()
}

/// A certificate for this machine.
pub(crate) fn issue(authority: &Authority) -> IssuedPair {
    issue_at(authority, SystemTime::now())
}

/// As if it were issued at `now`.
pub(crate) fn issue_at(authority: &Authority, now: SystemTime) -> IssuedPair {
    authority.issue_server(&SubjectNames::local(), now).unwrap()
}

/// The same as the server reads it.
pub(crate) fn read(issued: &IssuedPair) -> Pair {
    Pair::from_pem(
        Pem { path: Path::new("tls.crt"), bytes: issued.certificate.as_bytes() },
        Pem { path: Path::new("tls.key"), bytes: issued.key.as_bytes() },
    )
    .unwrap()
}
