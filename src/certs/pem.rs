//! Reads certificates and keys from PEM.

use std::{
    fmt,
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use rustls::{Error as TlsError, InconsistentKeys, crypto::ring, sign::CertifiedKey};
use rustls_pki_types::{
    CertificateDer, PrivateKeyDer,
    pem::{self, PemObject},
};

use x509_parser::certificate::X509Certificate;

use super::CertsError;

/// PEM text with the path of its file, which error messages name.
#[derive(Clone, Copy)]
pub struct Pem<'a> {
    /// The path of the file.
    pub path: &'a Path,
    /// The text.
    pub bytes: &'a [u8],
}

impl fmt::Debug for Pem<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pem").field("path", &self.path).finish_non_exhaustive()
    }
}

/// Reads the file `path`. An empty file is an error.
pub fn read_pem(path: &Path) -> Result<Vec<u8>, CertsError> {
    let bytes = std::fs::read(path).map_err(|source| CertsError::Read { path: path.to_owned(), source })?;
    if bytes.iter().all(u8::is_ascii_whitespace) {
        return Err(CertsError::Empty { path: path.to_owned() });
    }
    Ok(bytes)
}

/// All certificates in `pem`, in order. Fails if there are none.
pub fn certificates(pem: Pem<'_>) -> Result<Vec<CertificateDer<'static>>, CertsError> {
    let found = CertificateDer::pem_slice_iter(pem.bytes)
        .collect::<Result<Vec<_>, _>>()
        .map_err(|source| CertsError::Pem { path: pem.path.to_owned(), source })?;
    if found.is_empty() {
        return Err(CertsError::NoCertificate { path: pem.path.to_owned() });
    }
    Ok(found)
}

fn private_key(pem: Pem<'_>) -> Result<PrivateKeyDer<'static>, CertsError> {
    PrivateKeyDer::from_pem_slice(pem.bytes).map_err(|source| match source {
        pem::Error::NoItemsFound => CertsError::NoKey { path: pem.path.to_owned() },
        source => CertsError::Pem { path: pem.path.to_owned(), source },
    })
}

/// A certificate chain, the leaf certificate first, and its private key.
pub struct Pair {
    pub(super) key: PrivateKeyDer<'static>,
    certified: Arc<CertifiedKey>,
    not_before: SystemTime,
    not_after: SystemTime,
    path: PathBuf,
}

impl Pair {
    /// Reads a chain and a key. Fails if the key does not belong to the certificate.
    pub fn from_pem(certificate: Pem<'_>, key: Pem<'_>) -> Result<Self, CertsError> {
        let chain = certificates(certificate)?;
        let der = private_key(key)?;
        let certificate_error =
            |source| CertsError::Certificate { path: certificate.path.to_owned(), source };
        let (not_before, not_after) = validity(&chain[0]).map_err(certificate_error)?;
        let certified = CertifiedKey::from_der(chain, der.clone_key(), &ring::default_provider());
        let certified = certified.map_err(|error| match error {
            TlsError::InconsistentKeys(InconsistentKeys::KeyMismatch) => {
                CertsError::Mismatch { certificate: certificate.path.to_owned(), key: key.path.to_owned() }
            }
            TlsError::InvalidCertificate(_) => certificate_error(error.into()),
            error => CertsError::Key { path: key.path.to_owned(), source: error.into() },
        })?;
        let (certified, path) = (Arc::new(certified), certificate.path.to_owned());
        Ok(Self { key: der, certified, not_before, not_after, path })
    }

    /// The chain and the key for rustls.
    pub fn certified_key(&self) -> &Arc<CertifiedKey> {
        &self.certified
    }

    /// When the leaf certificate expires.
    pub fn not_after(&self) -> SystemTime {
        self.not_after
    }

    /// Fails if the certificate is not yet valid or has expired at `now`. Clock skew is not tolerated,
    /// because clients do not tolerate it either.
    pub fn check_valid(&self, now: SystemTime) -> Result<(), CertsError> {
        let (path, not_before, not_after) = (|| self.path.clone(), self.not_before, self.not_after);
        if now < not_before {
            Err(CertsError::NotYetValid { path: path(), not_before })
        } else if now > not_after {
            Err(CertsError::Expired { path: path(), not_after })
        } else {
            Ok(())
        }
    }

    /// The leaf certificate.
    pub fn leaf(&self) -> &CertificateDer<'static> {
        &self.certified.cert[0]
    }
}

impl fmt::Debug for Pair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pair")
            .field("path", &self.path)
            .field("not_before", &self.not_before)
            .field("not_after", &self.not_after)
            .finish_non_exhaustive()
    }
}

type Boxed = Box<dyn std::error::Error + Send + Sync>;

/// Calls `read` with the parsed certificate.
pub(super) fn with_parsed<T>(
    certificate: &CertificateDer<'_>,
    read: impl FnOnce(&X509Certificate<'_>) -> T,
) -> Result<T, Boxed> {
    let (_rest, parsed) = x509_parser::parse_x509_certificate(certificate)?;
    Ok(read(&parsed))
}

/// The first and the last moment of validity. A time before 1970 becomes 1970.
fn validity(certificate: &CertificateDer<'_>) -> Result<(SystemTime, SystemTime), Boxed> {
    let time = |seconds| UNIX_EPOCH + Duration::from_secs(u64::try_from(seconds).unwrap_or(0));
    with_parsed(certificate, |parsed| {
        let validity = parsed.validity();
        (time(validity.not_before.timestamp()), time(validity.not_after.timestamp()))
    })
}
