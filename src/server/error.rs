//! Why the server can't serve.

use std::{io, net::SocketAddr};

use crate::certs::CertsError;

/// Why the server can't start, or had to end.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// A port can't be bound: in use, or not ours to bind.
    #[error("failed to bind {address}")]
    Bind {
        /// What was asked for.
        address: SocketAddr,
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// A certificate, a key or the client authorities can't be used.
    #[error("failed to load certificates")]
    Certificate(#[from] CertsError),
    /// The TLS library refuses what it was given.
    #[error("failed to set up TLS")]
    Tls(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// A part of the server ended that should not have.
    #[error("failed to go on serving: a task of the server ended")]
    Task,
}
