use std::{
    fs,
    net::{IpAddr, Ipv4Addr},
    os::unix::fs::PermissionsExt as _,
    path::Path,
    sync::Arc,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use rustls::client::{WebPkiServerVerifier, danger::ServerCertVerifier as _};
use rustls_pki_types::{CertificateDer, UnixTime};
use x509_parser::{
    certificate::X509Certificate,
    extensions::{GeneralName, ParsedExtension},
    parse_x509_certificate,
};

use super::{
    Authority, CertsError, NewFile, Pair, Pem, Rfc3339, SubjectNames, certificates, read_pem, self_signed,
    write_files,
};

const DAY: Duration = Duration::from_hours(24);

fn now() -> SystemTime {
    UNIX_EPOCH + Duration::from_secs(1_900_000_000)
}

fn names() -> SubjectNames {
    SubjectNames {
        dns: vec!["reviser.reviser-system.svc".to_owned(), "*.example.com".to_owned()],
        ips: vec![IpAddr::V4(Ipv4Addr::new(10, 0, 0, 7))],
    }
}

fn pem<'a>(path: &'a str, text: &'a str) -> Pem<'a> {
    Pem { path: Path::new(path), bytes: text.as_bytes() }
}

fn der(text: &str) -> CertificateDer<'static> {
    certificates(pem("x.crt", text)).unwrap().remove(0)
}

/// Whether a client that trusts `root` accepts `certificate` for `name`.
fn trusts(root: &CertificateDer<'static>, certificate: &CertificateDer<'static>, name: &str) -> bool {
    let mut roots = rustls::RootCertStore::empty();
    roots.add(root.clone()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let verifier = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider).build().unwrap();
    let name = name.to_owned().try_into().unwrap();
    let at = UnixTime::since_unix_epoch(now().duration_since(UNIX_EPOCH).unwrap());
    verifier.verify_server_cert(certificate, &[], &name, &[], at).is_ok()
}

#[test]
fn an_authority_may_sign_and_nothing_else() {
    let authority = Authority::new(now()).unwrap();
    let certificate = der(authority.certificate_pem());
    let (_, parsed) = parse_x509_certificate(&certificate).unwrap();
    let constraints = parsed.basic_constraints().unwrap().unwrap().value;
    assert!(constraints.ca && constraints.path_len_constraint == Some(0));
    let usage = parsed.key_usage().unwrap().unwrap().value;
    assert!(usage.key_cert_sign() && usage.crl_sign() && !usage.digital_signature());
    let validity = parsed.validity();
    assert_eq!(validity.not_before.timestamp(), 1_900_000_000 - 300);
    assert_eq!(validity.not_after.timestamp(), 1_900_000_000 + 3650 * 86_400);
}

#[test]
fn a_server_certificate_is_signed_for_its_names_for_a_year() {
    let authority = Authority::new(now()).unwrap();
    let issued = authority.issue_server(&names(), now()).unwrap();
    let (signer, certificate) = (der(authority.certificate_pem()), der(&issued.certificate));
    for name in ["reviser.reviser-system.svc", "a.example.com", "10.0.0.7"] {
        assert!(trusts(&signer, &certificate, name), "{name}");
    }
    assert!(!trusts(&signer, &certificate, "10.0.0.8"));
    let (_, signer) = parse_x509_certificate(&signer).unwrap();
    let (_, parsed) = parse_x509_certificate(&certificate).unwrap();
    assert!(!parsed.is_ca());
    assert_eq!(parsed.validity().not_after.timestamp(), 1_900_000_000 + 365 * 86_400);
    let usage = parsed.key_usage().unwrap().unwrap().value;
    assert!(usage.digital_signature() && !usage.key_cert_sign());
    let extended = parsed.extended_key_usage().unwrap().unwrap().value;
    assert!(extended.server_auth && !extended.client_auth && !extended.any);
    let names = &parsed.subject_alternative_name().unwrap().unwrap().value.general_names;
    assert_eq!(
        names,
        &[
            GeneralName::DNSName("reviser.reviser-system.svc"),
            GeneralName::DNSName("*.example.com"),
            GeneralName::IPAddress(&[10, 0, 0, 7]),
        ]
    );
    let find = |of: &X509Certificate<'_>, subject: bool| {
        of.iter_extensions().find_map(|extension| match extension.parsed_extension() {
            ParsedExtension::SubjectKeyIdentifier(id) if subject => Some(id.0.to_vec()),
            ParsedExtension::AuthorityKeyIdentifier(id) if !subject => {
                id.key_identifier.as_ref().map(|id| id.0.to_vec())
            }
            _ => None,
        })
    };
    assert!(find(&parsed, true).is_some());
    assert_eq!(find(&parsed, false), find(&signer, true));
    let second = der(&authority.issue_server(&self::names(), now()).unwrap().certificate);
    let (_, second) = parse_x509_certificate(&second).unwrap();
    assert_ne!(parsed.raw_serial(), second.raw_serial());
}

#[test]
fn a_server_certificate_does_not_outlive_its_authority() {
    let authority = Authority::new(now()).unwrap();
    let late = now() + 3600 * DAY;
    let issued = authority.issue_server(&names(), late).unwrap();
    let pair = Pair::from_pem(pem("tls.crt", &issued.certificate), pem("tls.key", &issued.key)).unwrap();
    assert_eq!(pair.not_after(), authority.not_after());
}

#[test]
fn an_authority_that_is_read_back_issues_under_the_same_identity() {
    let first = Authority::new(now()).unwrap();
    let key = first.key_pem();
    let second =
        Authority::from_pem(pem("ca.crt", first.certificate_pem()), pem("ca.key", &key), now() + DAY)
            .unwrap();
    assert_eq!(second.certificate_pem(), first.certificate_pem());
    assert_eq!(second.not_after(), first.not_after());
    let issued = second.issue_server(&names(), now()).unwrap();
    assert!(trusts(&der(first.certificate_pem()), &der(&issued.certificate), "a.example.com"));
}

#[test]
fn what_is_no_authority_or_is_not_valid_issues_nothing() {
    let authority = Authority::new(now()).unwrap();
    let issued = authority.issue_server(&names(), now()).unwrap();
    let error = Authority::from_pem(pem("ca.crt", &issued.certificate), pem("ca.key", &issued.key), now())
        .unwrap_err();
    assert!(matches!(error, CertsError::NotAnAuthority { .. }), "{error}");
    let key = authority.key_pem();
    let read_at = |time| {
        Authority::from_pem(pem("ca.crt", authority.certificate_pem()), pem("ca.key", &key), time)
            .unwrap_err()
            .to_string()
    };
    assert_eq!(
        read_at(now() + 3651 * DAY),
        "failed to use \"ca.crt\": the certificate expired at 2040-03-14T17:46:40Z"
    );
    assert_eq!(
        read_at(now() - DAY),
        "failed to use \"ca.crt\": the certificate is not valid before 2030-03-17T17:41:40Z"
    );
}

#[test]
fn a_certificate_is_valid_from_its_first_to_its_last_second() {
    let issued = self_signed(&names(), now()).unwrap();
    let pair = Pair::from_pem(pem("tls.crt", &issued.certificate), pem("tls.key", &issued.key)).unwrap();
    let (first, last) = (now() - Duration::from_mins(5), now() + 365 * DAY);
    let moment = Duration::from_millis(1);
    for time in [first, now(), last] {
        pair.check_valid(time).unwrap();
    }
    let early = pair.check_valid(first - moment).unwrap_err();
    assert!(matches!(early, CertsError::NotYetValid { not_before, .. } if not_before == first), "{early}");
    let late = pair.check_valid(last + moment).unwrap_err();
    assert!(matches!(late, CertsError::Expired { not_after, .. } if not_after == last), "{late}");
}

#[test]
fn times_are_shown_as_rfc_3339_has_them() {
    for (seconds, shown) in [
        (0, "1970-01-01T00:00:00Z"),
        (951_782_400, "2000-02-29T00:00:00Z"),
        (1_900_000_000, "2030-03-17T17:46:40Z"),
        (253_402_300_799, "9999-12-31T23:59:59Z"),
        (253_402_300_800, "9999-12-31T23:59:59Z"),
    ] {
        assert_eq!(Rfc3339(UNIX_EPOCH + Duration::from_secs(seconds)).to_string(), shown);
    }
    assert_eq!(Rfc3339(UNIX_EPOCH - DAY).to_string(), "1970-01-01T00:00:00Z");
}

#[test]
fn names_that_are_none_are_refused() {
    for name in ["", "a b", "*", "a..b", "ü.example.com", "x*.example.com"] {
        let wanted = SubjectNames { dns: vec![name.to_owned()], ips: vec![] };
        let error = self_signed(&wanted, now()).unwrap_err();
        assert_eq!(error.to_string(), format!("failed to use {name:?} as a DNS name"));
    }
    assert!(matches!(self_signed(&SubjectNames::default(), now()), Err(CertsError::NoNames)));
}

#[test]
fn a_self_signed_pair_covers_this_machine() {
    let issued = self_signed(&SubjectNames::local(), now()).unwrap();
    let certificate = der(&issued.certificate);
    let (_, parsed) = parse_x509_certificate(&certificate).unwrap();
    let names = &parsed.subject_alternative_name().unwrap().unwrap().value.general_names;
    assert!(names.contains(&GeneralName::DNSName("localhost")));
    assert!(names.contains(&GeneralName::IPAddress(&[127, 0, 0, 1])));
    let mut loopback = [0; 16];
    loopback[15] = 1;
    assert!(names.contains(&GeneralName::IPAddress(&loopback)));
}

#[test]
fn each_way_to_be_no_pair_says_which_file_is_wrong() {
    let one = self_signed(&names(), now()).unwrap();
    let other = self_signed(&names(), now()).unwrap();
    let broken = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
    let open = "-----BEGIN CERTIFICATE-----\nAAAA\n";
    let cases = [
        (
            one.certificate.as_str(),
            other.key.as_str(),
            "failed to pair \"a.crt\" with \"a.key\": the key does not belong to the certificate",
        ),
        (one.key.as_str(), one.key.as_str(), "failed to find a certificate in \"a.crt\""),
        (one.certificate.as_str(), one.certificate.as_str(), "failed to find a private key in \"a.key\""),
        (broken, one.key.as_str(), "failed to parse the certificate in \"a.crt\""),
        (open, one.key.as_str(), "failed to parse \"a.crt\" as PEM"),
    ];
    for (certificate, key, message) in cases {
        let error = Pair::from_pem(pem("a.crt", certificate), pem("a.key", key)).unwrap_err();
        assert_eq!(error.to_string(), message);
    }
}

#[test]
fn a_chain_is_kept_as_a_whole() {
    let authority = Authority::new(now()).unwrap();
    let issued = authority.issue_server(&names(), now()).unwrap();
    let chain = format!("{}{}", issued.certificate, authority.certificate_pem());
    let pair = Pair::from_pem(pem("tls.crt", &chain), pem("tls.key", &issued.key)).unwrap();
    assert_eq!(pair.certified_key().cert.len(), 2);
}

#[test]
fn missing_and_empty_files_are_named() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("tls.crt");
    let error = read_pem(&path).unwrap_err();
    assert_eq!(error.to_string(), format!("failed to read {path:?}"));
    fs::write(&path, "\n").unwrap();
    let error = read_pem(&path).unwrap_err();
    assert_eq!(error.to_string(), format!("failed to use {path:?}: the file is empty"));
}

#[test]
fn keys_are_written_for_their_owner_only_and_nothing_is_overwritten_unasked() {
    let directory = tempfile::tempdir().unwrap();
    let target = directory.path().join("new");
    let files = [
        NewFile { name: "tls.crt", contents: b"certificate", secret: false },
        NewFile { name: "tls.key", contents: b"key", secret: true },
    ];
    write_files(&target, &files, false).unwrap();
    let mode = |name: &str| fs::metadata(target.join(name)).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode("tls.key"), 0o600);
    assert_eq!(fs::read(target.join("tls.crt")).unwrap(), b"certificate");

    fs::remove_file(target.join("tls.crt")).unwrap();
    let error = write_files(&target, &files, false).unwrap_err();
    assert_eq!(
        error.to_string(),
        format!("failed to create {:?}: it exists already", target.join("tls.key"))
    );
    assert!(!target.join("tls.crt").exists());

    fs::set_permissions(target.join("tls.key"), fs::Permissions::from_mode(0o644)).unwrap();
    write_files(&target, &files, true).unwrap();
    assert_eq!(mode("tls.key"), 0o600);
    let mut left: Vec<_> = fs::read_dir(&target).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    left.sort();
    assert_eq!(left, ["tls.crt", "tls.key"]);
}

#[test]
fn a_write_that_fails_leaves_nothing_behind() {
    let directory = tempfile::tempdir().unwrap();
    fs::create_dir(directory.path().join("tls.key")).unwrap();
    let files = [
        NewFile { name: "tls.crt", contents: b"certificate", secret: false },
        NewFile { name: "tls.key", contents: b"key", secret: true },
    ];
    let error = write_files(directory.path(), &files, true).unwrap_err();
    assert_eq!(error.to_string(), format!("failed to write {:?}", directory.path().join("tls.key")));
    let hidden = fs::read_dir(directory.path())
        .unwrap()
        .filter(|entry| entry.as_ref().unwrap().file_name().to_string_lossy().starts_with('.'))
        .count();
    assert_eq!(hidden, 0);
}
