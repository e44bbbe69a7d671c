//! Why a certificate can't be read, issued or written.

use std::{io, path::PathBuf, time::SystemTime};

use super::Rfc3339;

/// Why a certificate can't be read, issued or written. Whatever came from a file names that file.
#[derive(Debug, thiserror::Error)]
pub enum CertsError {
    /// A file can't be read.
    #[error("failed to read {path:?}")]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// A file has nothing in it.
    #[error("failed to use {path:?}: the file is empty")]
    Empty {
        /// The file.
        path: PathBuf,
    },
    /// What should be PEM is not.
    #[error("failed to parse {path:?} as PEM")]
    Pem {
        /// The file.
        path: PathBuf,
        /// Where the parser gave up.
        #[source]
        source: rustls_pki_types::pem::Error,
    },
    /// There is PEM, but no certificate in it.
    #[error("failed to find a certificate in {path:?}")]
    NoCertificate {
        /// The file.
        path: PathBuf,
    },
    /// There is PEM, but no private key in it.
    #[error("failed to find a private key in {path:?}")]
    NoKey {
        /// The file.
        path: PathBuf,
    },
    /// A certificate is not one, under its PEM armour.
    #[error("failed to parse the certificate in {path:?}")]
    Certificate {
        /// The file.
        path: PathBuf,
        /// What the parser said.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// A key is of a kind that can't be used, or broken.
    #[error("failed to use the private key in {path:?}")]
    Key {
        /// The file.
        path: PathBuf,
        /// What the cryptography said.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// Key and certificate are not of the same pair.
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
    /// A certificate is not valid any more.
    #[error("failed to use {path:?}: the certificate expired at {}", Rfc3339(*.not_after))]
    Expired {
        /// The file.
        path: PathBuf,
        /// The last moment of its validity.
        not_after: SystemTime,
    },
    /// A certificate that should sign others may not.
    #[error("failed to issue with {path:?}: it is not the certificate of an authority")]
    NotAnAuthority {
        /// The file.
        path: PathBuf,
    },
    /// A name can't stand in a certificate.
    #[error("failed to use {name:?} as a DNS name")]
    Name {
        /// The name.
        name: String,
    },
    /// A certificate for nobody is of no use.
    #[error("failed to issue a certificate: neither a DNS name nor an IP address is given")]
    NoNames,
    /// Making or signing a certificate failed.
    #[error("failed to issue a certificate")]
    Issue(#[source] rcgen::Error),
    /// A file is there already, and may not be overwritten.
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
        /// What the system said.
        #[source]
        source: io::Error,
    },
}
