//! Errors of connections and calls to an API server.

use std::path::{Path, PathBuf};

use kube::config::{InClusterError, KubeconfigError};

/// Why no client could be created.
#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    /// The kubeconfig file is missing or invalid.
    #[error("failed to use the kubeconfig {}", path.display())]
    Kubeconfig {
        path: PathBuf,
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The environment or the service account of the pod is missing or invalid.
    #[error("failed to find the API server of the cluster that this is a pod of (--in-cluster)")]
    InCluster(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// The certificates or the address are invalid.
    #[error("failed to make a client of the API server")]
    Client(#[source] Box<dyn std::error::Error + Send + Sync>),
}

impl ConnectError {
    pub(super) fn kubeconfig(path: &Path, source: KubeconfigError) -> Self {
        Self::Kubeconfig { path: path.to_owned(), source: Box::new(source) }
    }

    pub(super) fn in_cluster(source: InClusterError) -> Self {
        Self::InCluster(Box::new(source))
    }

    pub(super) fn client(source: kube::Error) -> Self {
        Self::Client(Box::new(source))
    }
}

/// Why a call failed.
#[derive(Debug, thiserror::Error)]
#[error("failed to {action}: {cause}")]
pub struct CallError {
    /// The attempted action, with the object.
    action: String,
    cause: Cause,
}

#[derive(Debug, thiserror::Error)]
enum Cause {
    #[error("{message} ({code} {reason})")]
    Refused { code: u16, reason: String, message: String },
    #[error("the API server does not serve {0}; are its custom resource definitions installed?")]
    NotServed(String),
    #[error("{0}")]
    Unreachable(String),
    #[error("the API server has not answered for {0} s")]
    Late(u64),
    #[error("the API server answered something else than expected: {0}")]
    Unreadable(String),
    #[error("{0:?} is no name that an object can have")]
    Name(String),
}

impl CallError {
    /// The object was changed by another writer, or already exists.
    pub fn is_conflict(&self) -> bool {
        matches!(self.cause, Cause::Refused { code: 409, .. })
    }

    /// The server does not serve the kind.
    pub fn is_not_served(&self) -> bool {
        matches!(self.cause, Cause::NotServed(_))
    }

    /// The object does not exist.
    pub fn is_not_found(&self) -> bool {
        matches!(self.cause, Cause::Refused { code: 404, .. })
    }

    /// The server rejected the request, and a retry without other changes will fail too.
    pub fn is_refusal(&self) -> bool {
        match &self.cause {
            Cause::Refused { code, .. } => (400..500).contains(code) && !matches!(code, 408 | 409 | 429),
            Cause::Name(_) => true,
            _ => false,
        }
    }

    /// The server denied access (401 or 403).
    pub fn is_forbidden(&self) -> bool {
        matches!(self.cause, Cause::Refused { code: 401 | 403, .. })
    }

    pub(super) fn late(action: String) -> Self {
        Self { action, cause: Cause::Late(super::CALL_LIMIT.as_secs()) }
    }

    pub(super) fn not_served(action: String, what: &str) -> Self {
        Self { action, cause: Cause::NotServed(what.to_owned()) }
    }

    pub(super) fn unreadable(action: String, problem: &impl ToString) -> Self {
        Self { action, cause: Cause::Unreadable(problem.to_string()) }
    }

    pub(super) fn name(action: String, name: &str) -> Self {
        Self { action, cause: Cause::Name(name.to_owned()) }
    }

    pub(super) fn of(action: String, resource: &str, error: &kube::Error) -> Self {
        Self { action, cause: cause(resource, error) }
    }
}

fn cause(resource: &str, error: &kube::Error) -> Cause {
    match error {
        kube::Error::Api(status) => {
            // For a missing object the server's answer names the object. For an unknown path it is a bare
            // 404.
            let names_it = status.details.as_ref().is_some_and(|details| !details.name.is_empty());
            if status.code == 404 && !names_it {
                return Cause::NotServed(resource.to_owned());
            }
            Cause::Refused {
                code: status.code,
                reason: status.reason.clone(),
                message: status.message.clone(),
            }
        }
        kube::Error::SerdeError(error) => Cause::Unreadable(error.to_string()),
        other => Cause::Unreachable(describe(other)),
    }
}

/// An error in one line, with the server's message if there is one.
pub(super) fn describe(error: &kube::Error) -> String {
    match error {
        kube::Error::Api(status) => format!("{} ({} {})", status.message, status.code, status.reason),
        other => chain(other),
    }
}

/// An error and its sources. A source whose text is already part of the message is left out.
fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(error) = source {
        let more = error.to_string();
        if !text.contains(&more) {
            text.push_str(": ");
            text.push_str(&more);
        }
        source = error.source();
    }
    text
}
