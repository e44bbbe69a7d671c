//! Issues certificates: a certificate authority, server certificates that it signs, and self-signed
//! certificates.

use std::{
    fmt,
    net::{IpAddr, Ipv4Addr, Ipv6Addr},
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use rcgen::{
    BasicConstraints, CertificateParams, DistinguishedName, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer,
    KeyPair, KeyUsagePurpose, PKCS_ECDSA_P256_SHA256, SanType, date_time_ymd,
};
use rustls_pki_types::{CertificateDer, DnsName};

use super::{CertsError, Pair, Pem, pem::with_parsed};

/// How long an authority is valid.
const AUTHORITY_VALIDITY: Duration = Duration::from_hours(24 * 365 * 10);

/// How long a server certificate is valid, unless its authority expires earlier.
const SERVER_VALIDITY: Duration = Duration::from_hours(24 * 365);

/// Certificates are backdated a little, because the clocks of clients differ.
const BACKDATED: Duration = Duration::from_mins(5);

/// The subject alternative names of a certificate.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SubjectNames {
    /// DNS names; the first label may be `*`.
    pub dns: Vec<String>,
    /// IP addresses.
    pub ips: Vec<IpAddr>,
}

impl SubjectNames {
    /// The names under which this machine reaches itself: `localhost`, the loopback addresses, and its host
    /// name if it is known and valid in a certificate.
    pub fn local() -> Self {
        let mut dns = vec!["localhost".to_owned()];
        let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
        let host = host.trim().to_ascii_lowercase();
        if host != "localhost" && DnsName::try_from(host.as_str()).is_ok() {
            dns.push(host);
        }
        Self { dns, ips: vec![Ipv4Addr::LOCALHOST.into(), Ipv6Addr::LOCALHOST.into()] }
    }

    fn to_san(&self) -> Result<Vec<SanType>, CertsError> {
        let dns = self.dns.iter().map(|name| {
            let refused = || CertsError::Name { name: name.clone() };
            DnsName::try_from(name.strip_prefix("*.").unwrap_or(name)).map_err(|_invalid| refused())?;
            Ok(SanType::DnsName(name.as_str().try_into().map_err(|_not_ascii| refused())?))
        });
        let names: Vec<_> =
            dns.chain(self.ips.iter().map(|ip| Ok(SanType::IpAddress(*ip)))).collect::<Result<_, _>>()?;
        if names.is_empty() { Err(CertsError::NoNames) } else { Ok(names) }
    }
}

/// A certificate and its key, both as PEM.
#[derive(Clone)]
pub struct IssuedPair {
    /// The certificate.
    pub certificate: String,
    /// The private key, PKCS #8.
    pub key: String,
}

impl fmt::Debug for IssuedPair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("IssuedPair").field("certificate", &self.certificate).finish_non_exhaustive()
    }
}

/// A certificate authority.
#[derive(Debug)]
pub struct Authority {
    certificate: String,
    not_after: SystemTime,
    issuer: Issuer<'static, KeyPair>,
}

impl Authority {
    /// A new authority, valid for ten years.
    pub fn new(now: SystemTime) -> Result<Self, CertsError> {
        let key = new_key()?;
        let not_after = now + AUTHORITY_VALIDITY;
        let mut params = parameters("reviser CA", now, not_after);
        params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
        let certificate = params.self_signed(&key).map_err(CertsError::Issue)?.pem();
        Ok(Self { certificate, not_after, issuer: Issuer::new(params, key) })
    }

    /// Reads an authority from its certificate and key. Fails if the certificate is not valid at `now` or is
    /// not a CA certificate.
    pub fn from_pem(certificate: Pem<'_>, key: Pem<'_>, now: SystemTime) -> Result<Self, CertsError> {
        let pair = Pair::from_pem(certificate, key)?;
        pair.check_valid(now)?;
        let leaf = pair.leaf();
        if !may_sign(leaf) {
            return Err(CertsError::NotAnAuthority { path: certificate.path.to_owned() });
        }
        let signing_key = KeyPair::try_from(pair.key.secret_der())
            .map_err(|source| CertsError::Key { path: key.path.to_owned(), source: source.into() })?;
        let issuer = Issuer::from_ca_cert_der(leaf, signing_key).map_err(CertsError::Issue)?;
        Ok(Self {
            certificate: String::from_utf8_lossy(certificate.bytes).into_owned(),
            not_after: pair.not_after(),
            issuer,
        })
    }

    /// The certificate as PEM. For an authority that was read from PEM, this is the unchanged text.
    pub fn certificate_pem(&self) -> &str {
        &self.certificate
    }

    /// The private key, as PEM.
    pub fn key_pem(&self) -> String {
        self.issuer.key().serialize_pem()
    }

    /// When the certificate of the authority expires.
    pub fn not_after(&self) -> SystemTime {
        self.not_after
    }

    /// Issues a server certificate for `names` with a new key. It is valid for a year, but not longer than
    /// the authority.
    pub fn issue_server(&self, names: &SubjectNames, now: SystemTime) -> Result<IssuedPair, CertsError> {
        let params = server_parameters(names, now, self.not_after.min(now + SERVER_VALIDITY))?;
        let key = new_key()?;
        let certificate = params.signed_by(&key, &self.issuer).map_err(CertsError::Issue)?;
        Ok(IssuedPair { certificate: certificate.pem(), key: key.serialize_pem() })
    }
}

/// Issues a self-signed server certificate for `names`, valid for a year.
pub fn self_signed(names: &SubjectNames, now: SystemTime) -> Result<IssuedPair, CertsError> {
    let params = server_parameters(names, now, now + SERVER_VALIDITY)?;
    let key = new_key()?;
    let certificate = params.self_signed(&key).map_err(CertsError::Issue)?;
    Ok(IssuedPair { certificate: certificate.pem(), key: key.serialize_pem() })
}

fn new_key() -> Result<KeyPair, CertsError> {
    KeyPair::generate_for(&PKCS_ECDSA_P256_SHA256).map_err(CertsError::Issue)
}

fn server_parameters(
    names: &SubjectNames,
    now: SystemTime,
    not_after: SystemTime,
) -> Result<CertificateParams, CertsError> {
    let mut params = parameters("reviser", now, not_after);
    params.subject_alt_names = names.to_san()?;
    params.is_ca = IsCa::ExplicitNoCa;
    params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
    params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
    params.use_authority_key_identifier_extension = true;
    Ok(params)
}

/// The parameters that all certificates share. The serial number is left to rcgen, which derives it from the
/// digest of the new key.
fn parameters(common_name: &str, now: SystemTime, not_after: SystemTime) -> CertificateParams {
    let mut params = CertificateParams::default();
    params.distinguished_name = DistinguishedName::new();
    params.distinguished_name.push(DnType::CommonName, common_name);
    let from_epoch = |time: SystemTime| {
        let seconds = time.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
        date_time_ymd(1970, 1, 1) + Duration::from_secs(seconds)
    };
    params.not_before = from_epoch(now.checked_sub(BACKDATED).unwrap_or(now));
    params.not_after = from_epoch(not_after);
    params
}

/// Whether a certificate is a CA certificate that may sign others.
fn may_sign(certificate: &CertificateDer<'_>) -> bool {
    with_parsed(certificate, |parsed| {
        let signs = parsed.key_usage().ok().flatten().is_none_or(|usage| usage.value.key_cert_sign());
        parsed.is_ca() && signs
    })
    .unwrap_or(false)
}
