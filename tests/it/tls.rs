//! Who may connect, and to what.

use std::{
    fs,
    path::Path,
    sync::Arc,
    time::{Duration, SystemTime},
};

use http::StatusCode;
use prometheus_client::registry::Registry;
use rcgen::{CertificateParams, ExtendedKeyUsagePurpose, Issuer, KeyPair};
use reviser::{
    certs::{Authority, CertsError, IssuedPair},
    server::{CertificateSource, Doors, Lifecycle, Metrics, Options, Parts, ServeError, Server, TlsOptions},
};

use crate::support::{
    client::{Client, Protocol, config, post},
    eventually,
    server::{TestServer, issue, issue_at, new_authority, read},
};

/// A certificate for a client.
fn issue_client(authority: &Authority) -> IssuedPair {
    let signing = KeyPair::from_pem(&authority.key_pem()).unwrap();
    let issuer = Issuer::from_ca_cert_pem(authority.certificate_pem(), signing).unwrap();
    let mut params = CertificateParams::new(["api-server".to_owned()]).unwrap();
    params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
    let key = KeyPair::generate().unwrap();
    let certificate = params.signed_by(&key, &issuer).unwrap();
    IssuedPair { certificate: certificate.pem(), key: key.serialize_pem() }
}

/// Whether a client with `own` certificate gets an answer.
async fn is_welcome(server: &TestServer, own: Option<&IssuedPair>) -> bool {
    let config = config(&server.authority, Protocol::Http1, own);
    // In TLS 1.3 a client learns that it was refused only with its first answer.
    let Ok(mut client) = Client::try_connect(server.secure, config, Protocol::Http1).await else {
        return false;
    };
    client.ready().await.is_ok() && client.try_send(post("/interpret", "{}")).await.is_ok()
}

#[tokio::test]
async fn a_client_that_does_not_know_the_authority_does_not_connect() {
    let server = TestServer::start().await;
    let untrusted = config(&new_authority(), Protocol::Http1, None);
    assert!(Client::try_connect(server.secure, untrusted, Protocol::Http1).await.is_err());
    let mut client = Client::connect(&server, Protocol::Http1).await;
    assert_eq!(client.post("/interpret", "{}").await.status, StatusCode::OK);
}

#[tokio::test]
async fn only_clients_of_the_current_authority_are_let_in() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("client-ca.crt");
    let (first, second) = (new_authority(), new_authority());
    fs::write(&file, first.certificate_pem()).unwrap();
    let server = TestServer::start_with(|options| {
        options.tls.client_ca_file = Some(file.clone());
        options.tls.poll_interval = std::time::Duration::from_millis(5);
    })
    .await;
    let (of_first, of_second) = (issue_client(&first), issue_client(&second));
    assert!(!is_welcome(&server, None).await);
    assert!(!is_welcome(&server, Some(&of_second)).await);
    assert!(is_welcome(&server, Some(&of_first)).await);

    fs::write(&file, second.certificate_pem()).unwrap();
    eventually("the new authority counts", || async {
        is_welcome(&server, Some(&of_second)).await.then_some(())
    })
    .await;
    assert!(!is_welcome(&server, Some(&of_first)).await);
}

/// Why a server with these options does not start.
async fn refusal(options: Options) -> ServeError {
    let mut registry = Registry::default();
    let metrics = Metrics::register(&mut registry);
    let parts = Parts {
        doors: Doors::default(),
        checks: vec![],
        metrics,
        registry: Arc::new(registry),
        lifecycle: Lifecycle::default(),
    };
    Server::bind(options, parts).await.unwrap_err()
}

fn options(directory: &Path) -> Options {
    let any = ([127, 0, 0, 1], 0).into();
    Options::new(any, any, TlsOptions::new(CertificateSource::Directory(directory.to_owned())))
}

#[tokio::test]
async fn a_server_does_not_start_with_a_certificate_that_can_not_work() {
    let directory = tempfile::tempdir().unwrap();
    let (certificate, key) = (directory.path().join("tls.crt"), directory.path().join("tls.key"));
    let authority = new_authority();
    let (one, other) = (issue(&authority), issue(&authority));

    let error = refusal(options(directory.path())).await;
    assert!(matches!(error, ServeError::Certificate(CertsError::Read { path, .. }) if path == certificate));
    fs::write(&certificate, &one.certificate).unwrap();
    fs::write(&key, &other.key).unwrap();
    let error = refusal(options(directory.path())).await;
    assert!(matches!(error, ServeError::Certificate(CertsError::Mismatch { .. })), "{error:?}");

    let now = SystemTime::now();
    let later = issue_at(&authority, now + Duration::from_hours(1));
    let expired = issue_at(&authority, now - Duration::from_hours(24 * 366));
    for (pair, message) in [(later, "is not valid before 2"), (expired, "expired at 2")] {
        fs::write(&certificate, &pair.certificate).unwrap();
        fs::write(&key, &pair.key).unwrap();
        let error = refusal(options(directory.path())).await;
        let ServeError::Certificate(error) = error else { panic!("{error:?}") };
        let expected = format!("failed to use {certificate:?}: the certificate {message}");
        assert!(error.to_string().starts_with(&expected), "{error}");
    }
}

#[tokio::test]
async fn a_port_in_use_is_an_error_that_names_it() {
    let taken = TestServer::start().await;
    let pair = CertificateSource::Fixed(Arc::new(read(&issue(&taken.authority))));
    let any = ([127, 0, 0, 1], 0).into();
    let error = refusal(Options::new(taken.secure, any, TlsOptions::new(pair))).await;
    assert_eq!(error.to_string(), format!("failed to bind {}", taken.secure));
}
