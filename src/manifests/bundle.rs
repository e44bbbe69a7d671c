//! The certificate authorities that a caller of the webhook trusts.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rustls_pki_types::CertificateDer;

use crate::certs::{self, CertsError, Pem};

const PEM_LINE_BYTES: usize = 64;

/// A `caBundle`: PEM in base64.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CaBundle(String);

impl CaBundle {
    /// The certificates in `pem`, and nothing else from it: a private key in the same file must not get into
    /// the configuration. Fails if there is no certificate, or one that can't be parsed.
    pub fn from_pem(pem: Pem<'_>) -> Result<Self, CertsError> {
        let mut text = String::new();
        for certificate in certs::certificates(pem)? {
            check(&certificate, pem)?;
            write_pem(&certificate, &mut text);
        }
        Ok(Self(STANDARD.encode(text)))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// A caller skips a certificate that it can't parse, and would trust fewer authorities than the file seems to
/// hold.
fn check(certificate: &CertificateDer<'_>, pem: Pem<'_>) -> Result<(), CertsError> {
    let invalid = |source| CertsError::Certificate { path: pem.path.to_owned(), source };
    match x509_parser::parse_x509_certificate(certificate) {
        Ok(([], _)) => Ok(()),
        Ok((rest, _)) => Err(invalid(format!("{} bytes after its end", rest.len()).into())),
        Err(error) => Err(invalid(error.into())),
    }
}

fn write_pem(certificate: &CertificateDer<'_>, out: &mut String) {
    let body = STANDARD.encode(certificate);
    out.push_str("-----BEGIN CERTIFICATE-----\n");
    let mut rest = body.as_str();
    while !rest.is_empty() {
        let (line, after) = rest.split_at(rest.len().min(PEM_LINE_BYTES));
        out.push_str(line);
        out.push('\n');
        rest = after;
    }
    out.push_str("-----END CERTIFICATE-----\n");
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::time::SystemTime;

    use super::*;
    use crate::certs::Authority;

    fn bundle(text: &str) -> Result<String, CertsError> {
        let bundle = CaBundle::from_pem(Pem { path: Path::new("ca.crt"), bytes: text.as_bytes() });
        let decode = |base64: &str| String::from_utf8(STANDARD.decode(base64).unwrap()).unwrap();
        bundle.map(|bundle| decode(bundle.as_str()))
    }

    #[test]
    fn a_bundle_holds_only_the_certificates() {
        let (first, second) =
            (Authority::new(SystemTime::now()).unwrap(), Authority::new(SystemTime::now()).unwrap());
        let certificates = format!("{}{}", first.certificate_pem(), second.certificate_pem());
        assert_eq!(bundle(&certificates).unwrap(), certificates);
        let mixed = format!(
            "# one\n{}{}\n{}",
            first.certificate_pem(),
            first.key_pem().as_str(),
            second.certificate_pem()
        );
        assert_eq!(bundle(&mixed).unwrap(), certificates);
        let windows = certificates.replace('\n', "\r\n");
        assert_eq!(bundle(&windows).unwrap(), certificates);
    }

    #[test]
    fn invalid_certificates_are_refused() {
        let authority = Authority::new(SystemTime::now()).unwrap();
        assert!(matches!(bundle("caBundle: x\n"), Err(CertsError::NoCertificate { .. })));
        assert!(matches!(bundle(authority.key_pem().as_str()), Err(CertsError::NoCertificate { .. })));
        let cut = &authority.certificate_pem()[..300];
        assert!(matches!(bundle(cut), Err(CertsError::Pem { .. })), "{:?}", bundle(cut));
        let mut invalid = String::new();
        write_pem(&CertificateDer::from(vec![0x30, 0x03, 0x02, 0x01, 0x00]), &mut invalid);
        let both = format!("{}{invalid}", authority.certificate_pem());
        assert!(matches!(bundle(&both), Err(CertsError::Certificate { .. })));
    }
}
