//! A Kubernetes API server: reads, watches and writes of its objects, as text.
//!
//! The only place that knows the `kube` crate's client. It knows no more of an object than its metadata: what else is in it is
//! for those who ask, out of the text as the server sent it ([`Stored::text`]), so that no number or null is lost on the way.
//!
//! What holds:
//!
//! * which server that is has been said, by a kubeconfig file or by "in cluster"; it is never guessed;
//! * a call ends: it has a limit of its own ([`CALL_LIMIT`]), whatever the server does;
//! * "not there" is told only of an object of a kind that the server serves. A kind that it does not serve is an error
//!   ([`CallError::is_not_served`]), so that a missing definition is never taken for a missing object;
//! * names out of other objects are checked before they become part of a path;
//! * a watch recovers by itself, for ever, waiting longer each time, with jitter.

mod call;
mod discovery;
mod error;
mod kind;
mod stored;
mod watch;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Client, Config};

pub use call::Within;
pub use error::{CallError, ConnectError};
pub use kind::Kind;
pub use stored::Stored;
pub use watch::{Event, ObjectKey, StoredMetadata};

/// The longest that one call may take. Who waits for an admission review waits ten seconds.
pub const CALL_LIMIT: Duration = Duration::from_secs(8);

/// The longest that it may take to connect.
const CONNECT_LIMIT: Duration = Duration::from_secs(4);

/// How a server is found, and as whom it is talked to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Access {
    /// As the current context of this kubeconfig file says.
    Kubeconfig(PathBuf),
    /// The server of the cluster that this process is a pod of, as its service account.
    InCluster,
}

/// An API server. All clones are one.
#[derive(Clone)]
pub struct ApiServer {
    client: Client,
    address: String,
    pod_namespace: Option<String>,
    kinds: Arc<Mutex<BTreeMap<String, Kind>>>,
}

impl fmt::Debug for ApiServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ApiServer").field("address", &self.address).finish_non_exhaustive()
    }
}

impl ApiServer {
    /// A server that is found so. It is not asked anything yet. Needs a runtime around it.
    pub async fn new(access: &Access) -> Result<Self, ConnectError> {
        let mut config = match access {
            Access::Kubeconfig(path) => from_file(path).await?,
            Access::InCluster => Config::incluster().map_err(ConnectError::in_cluster)?,
        };
        config.connect_timeout = Some(CONNECT_LIMIT);
        // Watches are long silences; calls have their own limit.
        config.read_timeout = None;
        // What the environment says about proxies is meant for other programs.
        let address = config.cluster_url.to_string().trim_end_matches('/').to_owned();
        let pod_namespace = matches!(access, Access::InCluster).then(|| config.default_namespace.clone());
        let client = Client::try_from(config).map_err(ConnectError::client)?;
        Ok(Self { client, address, pod_namespace, kinds: Arc::default() })
    }

    /// Where it is, for the log.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// The namespace of the pod that this process is, where that is how the server was found.
    pub fn pod_namespace(&self) -> Option<&str> {
        self.pod_namespace.as_deref()
    }
}

async fn from_file(path: &Path) -> Result<Config, ConnectError> {
    let unusable = |source| ConnectError::kubeconfig(path, source);
    let kubeconfig = Kubeconfig::read_from(path).map_err(unusable)?;
    Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await.map_err(unusable)
}
