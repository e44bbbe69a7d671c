//! Certificates: issuing them, reading them from PEM, and writing them into a directory.
//!
//! * [`Authority`] is a certificate authority of our own, new or read back from `ca.crt` and `ca.key`; it
//!   issues server certificates. [`self_signed`] makes a pair that nobody vouches for.
//! * [`Pair`] is a certificate chain with the key that belongs to it; one that does not match can't be made.
//! * [`Rfc3339`] shows when a certificate is valid.
//! * [`write_files`] puts files into a directory, keys readable by their owner only.
//!
//! All keys are ECDSA P-256, made by ring. The time is an argument everywhere, so that validity can be
//! tested. This module knows neither the server nor the command line.

mod error;
mod issue;
mod pem;
mod time;
mod write;

#[cfg(test)]
mod tests;

pub use error::CertsError;
pub use issue::{Authority, IssuedPair, SubjectNames, self_signed};
pub use pem::{Pair, Pem, certificates, read_pem};
pub use time::Rfc3339;
pub use write::{NewFile, write_files};
