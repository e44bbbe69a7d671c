//! A server from its configuration to its end.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use prometheus_client::registry::Registry;

use super::connected::{self, Election};
use super::custom::{CustomMetrics, CustomPolicies};
use super::in_force::InForce;
use super::policies::Loaded;
use super::reload::{self, PolicyFiles};
use super::state;
use crate::apiserver::{Access, ApiServer, ConnectError};
use crate::certs::{self, CertsError, Pair, Pem, SubjectNames};
use crate::controller::ControllerMetrics;
use crate::doors::{Interpreter, PodChaperons, Pods, Policies, RevisionMetrics, StoredPolicies, Works};
use crate::server::{self, CertificateSource, Doors, Lifecycle, Metrics, Options, Parts, Server, TlsOptions};
use crate::service::Service;
use crate::state::Ledger;
use crate::state::file::{FileLedger, OpenError};
use crate::state::files::StateFiles;
use crate::state::kube::{KubeLedger, KubeState};
use crate::state::memory::MemoryLedger;

/// Where allocations are remembered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LedgerChoice {
    /// In memory: gone with the process.
    Memory,
    /// In a file.
    File(PathBuf),
    /// On the bindings of the API server.
    Kubernetes,
}

impl FromStr for LedgerChoice {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.split_once(':') {
            None if text == "memory" => Ok(Self::Memory),
            None if text == "kubernetes" => Ok(Self::Kubernetes),
            Some(("file", path)) if !path.is_empty() => Ok(Self::File(path.into())),
            _ => Err("use `memory`, `file:PATH` or `kubernetes`".to_owned()),
        }
    }
}

/// What to serve, and how.
#[derive(Clone, Debug)]
pub struct ServeConfig {
    /// Where to serve HTTPS.
    pub secure_address: SocketAddr,
    /// Where to serve probes and metrics.
    pub admin_address: SocketAddr,
    /// The directory of `tls.crt` and `tls.key`; without it a pair is made.
    pub certificate_directory: Option<PathBuf>,
    /// Whose certificates clients have to show; without it, none.
    pub client_ca_file: Option<PathBuf>,
    /// The policies; `None` for the custom resources of the API server.
    pub loaded: Option<Loaded>,
    /// Where allocations are remembered; `None` if nobody said.
    pub ledger: Option<LedgerChoice>,
    /// Where bindings, Works and clusters are read.
    pub state: State,
    /// How one of several replicas is elected, with an API server.
    pub election: Election,
    /// The longest request body.
    pub max_body_bytes: usize,
    /// How long to serve on, not ready, after SIGTERM.
    pub drain: Duration,
}

/// Where bindings, Works and clusters are read.
#[derive(Clone, Debug)]
pub enum State {
    /// Nowhere.
    Unknown,
    /// In files.
    Files(StateFiles),
    /// On an API server.
    Server(Access),
}

/// Why a server did not start, or did not end as it should.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// Nobody can tell which API server is meant, or as whom to talk to it.
    #[error("failed to connect to the API server")]
    Connect(#[source] ConnectError),
    /// What is asked for does not go together.
    #[error("failed to serve: {0}")]
    Usage(&'static str),
    /// The ledger can't be used.
    #[error("failed to open the ledger")]
    Ledger(#[source] OpenError),
    /// No certificate could be made.
    #[error("failed to make a self-signed certificate")]
    Certificate(#[source] CertsError),
    /// The server.
    #[error("failed to serve")]
    Server(#[source] server::ServeError),
    /// Signals can't be received.
    #[error("failed to listen for signals")]
    Signals(#[source] std::io::Error),
}

/// Serves until the process is told to end.
pub async fn serve(config: ServeConfig) -> Result<(), ServeError> {
    let server = match &config.state {
        State::Server(access) => Some(connect(access).await?),
        State::Unknown | State::Files(_) => None,
    };
    let seen = config.loaded.as_ref().and_then(|loaded| loaded.seen.clone());
    let reads_custom = config.loaded.is_none();
    let first = config.loaded.map(policies).map(Arc::new);
    let ledger = open(config.ledger, server.as_ref())?;
    let mut service = match &first {
        Some(policies) => Service::new(Arc::clone(policies), ledger),
        None => Service::without_policies(ledger),
    };
    let mut checks = Vec::new();
    let mut files = None;
    let mut watching = None;
    match (config.state, &server) {
        (State::Files(state), _) => {
            let shared = Arc::new(state.clone());
            service = service.with_state(shared.clone(), shared.clone()).with_clusters(shared);
            files = Some(state);
        }
        (_, Some(server)) => {
            let state = KubeState::new(server.clone());
            let shared = Arc::new(state.clone());
            service = service
                .with_state(shared.clone(), shared.clone())
                .with_templates(shared.clone())
                .with_clusters(shared);
            checks.push(connected::clusters(&state));
            watching = Some(state);
        }
        _ => {}
    }
    let service = Arc::new(service);
    let in_force = InForce::new(Arc::clone(&service));
    if let Some(set) = first {
        in_force.tell(set, Vec::new());
    }
    let mut registry = Registry::default();
    let custom = server.as_ref().filter(|_| reads_custom).map(|server| {
        CustomPolicies::new(server.clone(), in_force.clone(), CustomMetrics::register(&mut registry))
    });
    checks.extend(custom.as_ref().map(CustomPolicies::check));
    // Where nobody knows what an API server holds, each document is looked at by itself.
    let stored = custom.as_ref().map(CustomPolicies::stored).unwrap_or_default();
    let certificate = if let Some(directory) = config.certificate_directory {
        CertificateSource::Directory(directory)
    } else {
        tracing::warn!(
            "no --cert-dir: serving a self-signed certificate made just now; `reviser certs` makes a pair for real use"
        );
        CertificateSource::Fixed(Arc::new(self_signed().map_err(ServeError::Certificate)?))
    };
    let mut tls = TlsOptions::new(certificate);
    tls.client_ca_file = config.client_ca_file;
    let mut options = Options::new(config.secure_address, config.admin_address, tls);
    options.limits.max_body_bytes = config.max_body_bytes;
    options.drain = config.drain;

    let metrics = Metrics::register(&mut registry);
    if let Some(files) = files.clone() {
        state::register(&files, &mut registry);
        tokio::spawn(state::follow(files));
    }
    if let Some(state) = watching {
        tokio::spawn(state.follow());
    }
    if let Some(custom) = custom {
        tokio::spawn(custom.follow());
    }
    let stale = reload::register(&mut registry);
    if let Some(seen) = seen {
        tokio::spawn(PolicyFiles::new(seen, in_force.clone(), files.clone(), stale).follow());
    }
    let revisions = RevisionMetrics::register(&mut registry);
    let lifecycle = Lifecycle::default();
    let signals = lifecycle.follow_signals().map_err(ServeError::Signals)?;
    let elected = server.map(|server| {
        let metrics = ControllerMetrics::register(&mut registry);
        let options = connected::election(config.election, &server);
        connected::stand(server, in_force, options, metrics, lifecycle.clone())
    });
    let parts = Parts {
        doors: doors(service, stored, &revisions),
        checks,
        metrics,
        registry: Arc::new(registry),
        lifecycle,
    };
    let bound = Server::bind(options, parts).await.map_err(ServeError::Server)?;
    tokio::spawn(signals);
    let elected = elected.map(tokio::spawn);
    bound.run().await.map_err(ServeError::Server)?;
    if let Some(elected) = elected {
        // Nobody else takes over before the lease is given up or has run out.
        if let Err(error) = elected.await {
            tracing::error!(%error, "the elected replica ended by a fault of ours");
        }
    }
    Ok(())
}

fn doors(service: Arc<Service>, stored: StoredPolicies, revisions: &RevisionMetrics) -> Doors {
    Doors::default()
        .with(Interpreter::PATH, Interpreter::NAME, Interpreter::new(Arc::clone(&service), revisions.clone()))
        .with(Works::PATH, Works::NAME, Works::new(Arc::clone(&service), revisions.clone()))
        .with(PodChaperons::PATH, PodChaperons::NAME, PodChaperons::new(service, revisions.clone()))
        .with(Pods::PATH, Pods::NAME, Pods::new(revisions.clone()))
        .with(Policies::PATH, Policies::NAME, Policies::new(stored, revisions.clone()))
}

/// A pair for this start of the process, which nobody vouches for.
fn self_signed() -> Result<Pair, CertsError> {
    let issued = certs::self_signed(&SubjectNames::local(), SystemTime::now())?;
    let path = Path::new("self-signed");
    let (certificate, key) = (issued.certificate.as_bytes(), issued.key.as_bytes());
    Pair::from_pem(Pem { path, bytes: certificate }, Pem { path, bytes: key })
}

fn policies(loaded: Loaded) -> crate::engine::PolicySet {
    let Loaded { policies, documents, built_in, seen, warnings } = loaded;
    if built_in {
        tracing::warn!(
            "no --policy: serving the built-in example, ClusterRevisionPolicy/rollout-fort for Rollout.deploy.example.com"
        );
    } else {
        let transformations = policies.transformations.len();
        tracing::info!(transformations, documents, policies = policies.policies.len(), "policies loaded");
        if seen.is_none() {
            tracing::warn!("policies that come from a pipe can't be read again when they change");
        }
    }
    reload::warn(&warnings);
    policies
}

async fn connect(access: &Access) -> Result<ApiServer, ServeError> {
    let server = ApiServer::new(access).await.map_err(ServeError::Connect)?;
    tracing::info!(address = server.address(), "bindings, Works and clusters are read from this API server");
    Ok(server)
}

fn open(choice: Option<LedgerChoice>, server: Option<&ApiServer>) -> Result<Arc<dyn Ledger>, ServeError> {
    Ok(match (choice, server) {
        (Some(LedgerChoice::File(path)), _) => Arc::new(FileLedger::open(path).map_err(ServeError::Ledger)?),
        (Some(LedgerChoice::Kubernetes) | None, Some(server)) => Arc::new(KubeLedger::new(server.clone())),
        (Some(LedgerChoice::Kubernetes), None) => {
            return Err(ServeError::Usage("--ledger kubernetes needs --kubeconfig or --in-cluster"));
        }
        (Some(LedgerChoice::Memory), None) => Arc::new(MemoryLedger::default()),
        (Some(LedgerChoice::Memory), Some(_)) => {
            tracing::warn!("--ledger memory: allocations are this process's own, and gone with it");
            Arc::new(MemoryLedger::default())
        }
        (None, None) => {
            tracing::warn!(
                "no --ledger: allocations are kept in memory, and chosen anew after a restart; --ledger file:PATH keeps them"
            );
            Arc::new(MemoryLedger::default())
        }
    })
}
