//! A client of a Kubernetes API server: reads, watches and writes objects as text.
//!
//! Only this module uses the client of the `kube` crate. It reads no more of an object than its metadata.
//! Callers parse the rest from the text that the server sent ([`Stored::text`]), so that numbers and nulls
//! are preserved.
//!
//! Invariants:
//!
//! * the server is given explicitly, by a kubeconfig file or as "in cluster", and never guessed;
//! * each call has a timeout ([`CALL_LIMIT`]);
//! * an object is reported as missing only if the server serves its kind. Otherwise the result is an error
//!   ([`CallError::is_not_served`]), so that a missing CRD is not taken for a missing object;
//! * names from other objects are validated before they become part of a path;
//! * a watch retries forever, with exponential backoff and jitter.

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

/// The timeout of one call. An admission review times out after ten seconds.
pub const CALL_LIMIT: Duration = Duration::from_secs(8);

/// The timeout of a connection attempt.
const CONNECT_LIMIT: Duration = Duration::from_secs(4);

/// How to find the server, and the identity to use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Access {
    /// The current context of this kubeconfig file.
    Kubeconfig(PathBuf),
    /// The cluster of this pod, with the pod's service account.
    InCluster,
}

/// A client of an API server. Clones share connections and caches.
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
    /// Creates a client. Sends no request. Must be called in a Tokio runtime.
    pub async fn new(access: &Access) -> Result<Self, ConnectError> {
        let mut config = match access {
            Access::Kubeconfig(path) => from_file(path).await?,
            Access::InCluster => Config::incluster().map_err(ConnectError::in_cluster)?,
        };
        config.connect_timeout = Some(CONNECT_LIMIT);
        // A watch may be silent for long. Calls have their own timeout.
        config.read_timeout = None;
        let address = config.cluster_url.to_string().trim_end_matches('/').to_owned();
        let pod_namespace = matches!(access, Access::InCluster).then(|| config.default_namespace.clone());
        let client = Client::try_from(config).map_err(ConnectError::client)?;
        Ok(Self { client, address, pod_namespace, kinds: Arc::default() })
    }

    /// The URL, for logs.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// The namespace of this pod, if the server was found by [`Access::InCluster`].
    pub fn pod_namespace(&self) -> Option<&str> {
        self.pod_namespace.as_deref()
    }
}

async fn from_file(path: &Path) -> Result<Config, ConnectError> {
    let unusable = |source| ConnectError::kubeconfig(path, source);
    let kubeconfig = Kubeconfig::read_from(path).map_err(unusable)?;
    Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await.map_err(unusable)
}
