//! `reviser serve`, from its configuration to its end.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use prometheus_client::registry::Registry;

use super::active_policies::ActivePolicies;
use super::connected::{self, ElectionConfig};
use super::custom::{CustomMetrics, CustomPolicies};
use super::policies::LoadedPolicies;
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

/// Where allocations are stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LedgerChoice {
    /// In memory: lost when the process ends.
    Memory,
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

#[derive(Clone, Debug)]
pub struct ServeConfig {
    pub secure_address: SocketAddr,
    /// For probes and metrics.
    pub admin_address: SocketAddr,
    /// The directory of `tls.crt` and `tls.key`. Default: a self-signed certificate.
    pub certificate_directory: Option<PathBuf>,
    /// `None`: client certificates are not required.
    pub client_ca_file: Option<PathBuf>,
    /// `None`: the custom resources of the API server.
    pub loaded: Option<LoadedPolicies>,
    /// Default: the bindings with an API server, else memory.
    pub ledger: Option<LedgerChoice>,
    pub state: State,
    pub election: ElectionConfig,
    pub max_body_bytes: usize,
    pub memory_budget: usize,
    /// How long to keep serving, not ready, after SIGTERM.
    pub drain: Duration,
}

/// Where bindings, Works and clusters are read.
#[derive(Clone, Debug)]
pub enum State {
    Unknown,
    Files(StateFiles),
    Server(Access),
}

#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    #[error("failed to connect to the API server")]
    Connect(#[source] ConnectError),
    #[error("failed to serve: {0}")]
    Usage(&'static str),
    #[error("failed to open the ledger")]
    Ledger(#[source] OpenError),
    #[error("failed to make a self-signed certificate")]
    Certificate(#[source] CertsError),
    #[error("failed to serve")]
    Server(#[source] server::ServeError),
    #[error("failed to listen for signals")]
    Signals(#[source] std::io::Error),
}

/// Serves until SIGTERM or SIGINT.
pub async fn serve(config: ServeConfig) -> Result<(), ServeError> {
    let server = match &config.state {
        State::Server(access) => Some(connect(access).await?),
        State::Unknown | State::Files(_) => None,
    };
    let source = config.loaded.as_ref().and_then(|loaded| loaded.source.clone());
    let reads_custom_resources = config.loaded.is_none();
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
            service = state::with_files(service, &state);
            files = Some(state);
        }
        (_, Some(server)) => {
            let state = KubeState::new(server.clone());
            let shared = Arc::new(state.clone());
            service = service
                .with_state(shared.clone(), shared.clone())
                .with_templates(shared.clone())
                .with_clusters(shared);
            checks.push(connected::clusters_check(&state));
            watching = Some(state);
        }
        _ => {}
    }
    let service = Arc::new(service);
    let active = ActivePolicies::new(Arc::clone(&service));
    if let Some(set) = first {
        active.publish(set, Vec::new());
    }
    let mut registry = Registry::default();
    let custom = server.as_ref().filter(|_| reads_custom_resources).map(|server| {
        CustomPolicies::new(server.clone(), active.clone(), CustomMetrics::register(&mut registry))
    });
    checks.extend(custom.as_ref().map(CustomPolicies::check));
    // Without custom resources to compare with, the policy door checks each document alone.
    let stored = custom.as_ref().map(CustomPolicies::stored).unwrap_or_default();
    let certificate = if let Some(directory) = config.certificate_directory {
        CertificateSource::Directory(directory)
    } else {
        tracing::warn!(
            "no --cert-dir: serving a self-signed certificate made at start; create one for production with `reviser certs`"
        );
        CertificateSource::Fixed(Arc::new(self_signed().map_err(ServeError::Certificate)?))
    };
    let mut tls = TlsOptions::new(certificate);
    tls.client_ca_file = config.client_ca_file;
    let mut options = Options::new(config.secure_address, config.admin_address, tls);
    options.limits.max_body_bytes = config.max_body_bytes;
    options.limits.memory_budget = config.memory_budget;
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
    if let Some(source) = source {
        tokio::spawn(PolicyFiles::new(source, active.clone(), files.clone(), stale).follow());
    }
    let revisions = RevisionMetrics::register(&mut registry);
    let lifecycle = Lifecycle::default();
    let signals = lifecycle.follow_signals().map_err(ServeError::Signals)?;
    let elected = server.map(|server| {
        let metrics = ControllerMetrics::register(&mut registry);
        let options = connected::election_options(config.election, &server);
        connected::run_controller(server, active, options, metrics, lifecycle.clone())
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
        // Another replica takes over only after the lease is released or has expired.
        if let Err(error) = elected.await {
            tracing::error!(%error, "the controller panicked");
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

fn self_signed() -> Result<Pair, CertsError> {
    let issued = certs::self_signed(&SubjectNames::local(), SystemTime::now())?;
    let path = Path::new("self-signed");
    let (certificate, key) = (issued.certificate.as_bytes(), issued.key.as_bytes());
    Pair::from_pem(Pem { path, bytes: certificate }, Pem { path, bytes: key })
}

/// Logs what has been loaded.
fn policies(loaded: LoadedPolicies) -> crate::engine::PolicySet {
    let LoadedPolicies { policies, documents, built_in, source, warnings } = loaded;
    if built_in {
        tracing::warn!(
            "no --policy: serving the built-in example, ClusterRevisionPolicy/rollout-fort for Rollout.deploy.example.com"
        );
    } else {
        let transformations = policies.transformations.len();
        tracing::info!(transformations, documents, policies = policies.policies.len(), "policies loaded");
        if source.is_none() {
            tracing::warn!("policies from a pipe are not read again when they change");
        }
    }
    reload::log_warnings(&warnings);
    policies
}

async fn connect(access: &Access) -> Result<ApiServer, ServeError> {
    let server = ApiServer::new(access).await.map_err(ServeError::Connect)?;
    tracing::info!(address = server.address(), "reading bindings, Works and clusters from the API server");
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
            tracing::warn!(
                "--ledger memory: other replicas do not see the allocations, and they are lost when the process ends"
            );
            Arc::new(MemoryLedger::default())
        }
        (None, None) => {
            tracing::warn!(
                "no --ledger: allocations are kept in memory and chosen again after a restart; --ledger file:PATH keeps them"
            );
            Arc::new(MemoryLedger::default())
        }
    })
}
