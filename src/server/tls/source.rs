//! The files that TLS is set up from.

use std::{fmt, path::Path, sync::Arc, time::SystemTime};

use rustls::{
    RootCertStore,
    crypto::ring,
    server::{WebPkiClientVerifier, danger::ClientCertVerifier},
};

use super::{CertificateSource, ServeError, TlsOptions};
use crate::certs::{CertsError, Pair, Pem, certificates, read_pem};

const CERTIFICATE_FILE: &str = "tls.crt";
const KEY_FILE: &str = "tls.key";

/// The content of the files.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Files {
    /// Certificate and key, if they are files.
    pair: Option<(Vec<u8>, Vec<u8>)>,
    pub(super) client_ca: Option<Vec<u8>>,
}

/// The parsed files.
pub(super) struct Loaded {
    pub(super) pair: Arc<Pair>,
    pub(super) verifier: Option<Arc<dyn ClientCertVerifier>>,
}

impl Files {
    /// Reads the files that `options` name.
    pub(super) fn read(options: &TlsOptions) -> Result<Self, CertsError> {
        let pair = match &options.certificate {
            CertificateSource::Directory(directory) => {
                Some((read_pem(&directory.join(CERTIFICATE_FILE))?, read_pem(&directory.join(KEY_FILE))?))
            }
            CertificateSource::Fixed(_) => None,
        };
        let client_ca = options.client_ca_file.as_deref().map(read_pem).transpose()?;
        Ok(Self { pair, client_ca })
    }

    /// Whether there is no file at all.
    pub(super) fn is_none(&self) -> bool {
        self.pair.is_none() && self.client_ca.is_none()
    }

    /// Makes sure that the content can be used at `now`.
    pub(super) fn load(&self, options: &TlsOptions, now: SystemTime) -> Result<Loaded, ServeError> {
        let pair = match (&options.certificate, &self.pair) {
            (CertificateSource::Directory(directory), Some((certificate, key))) => {
                let (certificate_path, key_path) =
                    (directory.join(CERTIFICATE_FILE), directory.join(KEY_FILE));
                let certificate = Pem { path: &certificate_path, bytes: certificate };
                Arc::new(Pair::from_pem(certificate, Pem { path: &key_path, bytes: key })?)
            }
            (CertificateSource::Fixed(pair), _) => Arc::clone(pair),
            (CertificateSource::Directory(_), None) => unreachable!("read from the same options"),
        };
        pair.check_valid(now)?;
        let verifier = match (&options.client_ca_file, &self.client_ca) {
            (Some(path), Some(bytes)) => Some(client_verifier(Pem { path, bytes })?),
            _ => None,
        };
        Ok(Loaded { pair, verifier })
    }
}

impl fmt::Debug for Files {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Files").finish_non_exhaustive()
    }
}

/// Asks clients for a certificate of one of the authorities in `pem`.
fn client_verifier(pem: Pem<'_>) -> Result<Arc<dyn ClientCertVerifier>, ServeError> {
    let refused = |path: &Path, source| CertsError::Certificate { path: path.to_owned(), source };
    let mut roots = RootCertStore::empty();
    for certificate in certificates(pem)? {
        roots.add(certificate).map_err(|error| refused(pem.path, error.into()))?;
    }
    let provider = Arc::new(ring::default_provider());
    let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider).build();
    Ok(verifier.map_err(|error| refused(pem.path, error.into()))?)
}
