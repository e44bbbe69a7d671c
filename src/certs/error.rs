//! Why a certificate can't be read, issued or written.

use std::{io, path::PathBuf, time::SystemTime};

use super::Rfc3339;

/// Why a certificate can't be read, issued or written. Errors about a file name that file.
#[derive(Debug, thiserror::Error)]
pub enum CertsError {
    /// A file can't be read.
    #[error("failed to read {path:?}")]
    Read {
        /// The file.
        path: PathBuf,
        /// The I/O error.
        #[source]
        source: io::Error,
    },
    /// A file is empty.
    #[error("failed to use {path:?}: the file is empty")]
    Empty {
        /// The file.
        path: PathBuf,
    },
    /// A file is not valid PEM.
    #[error("failed to parse {path:?} as PEM")]
    Pem {
        /// The file.
        path: PathBuf,
        /// The error of the parser.
        #[source]
        source: rustls_pki_types::pem::Error,
    },
    /// A PEM file has no certificate.
    #[error("failed to find a certificate in {path:?}")]
    NoCertificate {
        /// The file.
        path: PathBuf,
    },
    /// A PEM file has no private key.
    #[error("failed to find a private key in {path:?}")]
    NoKey {
        /// The file.
        path: PathBuf,
    },
    /// The content of a PEM certificate is invalid.
    #[error("failed to parse the certificate in {path:?}")]
    Certificate {
        /// The file.
        path: PathBuf,
        /// The error of the parser.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// A private key is invalid or of an unsupported type.
    #[error("failed to use the private key in {path:?}")]
    Key {
        /// The file.
        path: PathBuf,
        /// The error of the crypto library.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The key does not belong to the certificate.
    #[error("failed to pair {certificate:?} with {key:?}: the key does not belong to the certificate")]
    Mismatch {
        /// The file with the certificate.
        certificate: PathBuf,
        /// The file with the key.
        key: PathBuf,
    },
    /// A certificate is not valid yet.
    #[error("failed to use {path:?}: the certificate is not valid before {}", Rfc3339(*.not_before))]
    NotYetValid {
        /// The file.
        path: PathBuf,
        /// The first moment of its validity.
        not_before: SystemTime,
    },
    /// A certificate has expired.
    #[error("failed to use {path:?}: the certificate expired at {}", Rfc3339(*.not_after))]
    Expired {
        /// The file.
        path: PathBuf,
        /// The last moment of its validity.
        not_after: SystemTime,
    },
    /// A certificate that should sign others is not a CA certificate.
    #[error("failed to issue with {path:?}: it is not the certificate of an authority")]
    NotAnAuthority {
        /// The file.
        path: PathBuf,
    },
    /// A name is not valid in a certificate.
    #[error("failed to use {name:?} as a DNS name")]
    Name {
        /// The name.
        name: String,
    },
    /// A certificate needs at least one name.
    #[error("failed to issue a certificate: neither a DNS name nor an IP address is given")]
    NoNames,
    /// Making or signing a certificate failed.
    #[error("failed to issue a certificate")]
    Issue(#[source] rcgen::Error),
    /// A file exists and must not be overwritten.
    #[error("failed to create {path:?}: it exists already")]
    Exists {
        /// The file.
        path: PathBuf,
    },
    /// A file or directory can't be written.
    #[error("failed to write {path:?}")]
    Write {
        /// The file or directory.
        path: PathBuf,
        /// The I/O error.
        #[source]
        source: io::Error,
    },
}
