//! Certificates that are replaced while the server runs.

use std::{
    fs,
    os::unix::fs::symlink,
    path::Path,
    sync::Arc,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use http::StatusCode;
use reviser::{
    certs::{Authority, IssuedPair},
    server::CertificateSource,
};
use rustls_pki_types::CertificateDer;

use crate::support::{
    client::{Client, Protocol, config, tls},
    eventually,
    server::{TestServer, issue, issue_at, new_authority, read},
};

/// Puts a pair into `directory` as a mounted Secret does: files are links into `..data`, which is a link to
/// a directory that is new each time, and is swapped in one step.
fn mount(directory: &Path, version: &str, certificate: &str, key: &str) {
    let target = directory.join(format!("..{version}"));
    fs::create_dir(&target).unwrap();
    fs::write(target.join("tls.crt"), certificate).unwrap();
    fs::write(target.join("tls.key"), key).unwrap();
    let (new, data) = (directory.join("..data_tmp"), directory.join("..data"));
    symlink(format!("..{version}"), &new).unwrap();
    fs::rename(&new, &data).unwrap();
    for name in ["tls.crt", "tls.key"] {
        if directory.join(name).symlink_metadata().is_err() {
            symlink(format!("..data/{name}"), directory.join(name)).unwrap();
        }
    }
}

async fn start(authority: Authority, directory: &Path) -> TestServer {
    let source = CertificateSource::Directory(directory.to_owned());
    TestServer::start_from(Arc::new(authority), source, vec![], |options| {
        options.tls.poll_interval = Duration::from_millis(5);
    })
    .await
}

/// The certificate that a new connection gets.
async fn shown(server: &TestServer) -> CertificateDer<'static> {
    let stream = tls(server.secure, config(&server.authority, Protocol::Http1, None)).await.unwrap();
    stream.get_ref().1.peer_certificates().unwrap()[0].clone().into_owned()
}

fn leaf(pair: &IssuedPair) -> CertificateDer<'static> {
    read(pair).leaf().clone()
}

async fn becomes(server: &TestServer, pair: &IssuedPair) {
    let wanted = leaf(pair);
    eventually("the new certificate is shown", || async { (shown(server).await == wanted).then_some(()) })
        .await;
}

#[tokio::test]
async fn a_secret_that_is_swapped_is_taken_over_and_open_connections_live_on() {
    let directory = tempfile::tempdir().unwrap();
    let authority = new_authority();
    let (first, second) = (issue(&authority), issue(&authority));
    mount(directory.path(), "1", &first.certificate, &first.key);
    let server = start(authority, directory.path()).await;
    assert_eq!(shown(&server).await, leaf(&first));
    let mut client = Client::connect(&server, Protocol::Http1).await;

    mount(directory.path(), "2", &second.certificate, &second.key);
    becomes(&server, &second).await;
    assert_eq!(client.post("/interpret", "{}").await.status, StatusCode::OK);

    let seconds = read(&second).not_after().duration_since(UNIX_EPOCH).unwrap().as_secs();
    let text = Client::connect_admin(&server).await.get("/metrics").await.text().to_owned();
    assert!(text.contains(&format!("reviser_tls_certificate_not_after_seconds {seconds}\n")), "{text}");
}

#[tokio::test]
async fn what_is_no_pair_never_replaces_one_and_does_not_stop_the_next() {
    let directory = tempfile::tempdir().unwrap();
    let authority = new_authority();
    let (first, second, third) = (issue(&authority), issue(&authority), issue(&authority));
    let later = issue_at(&authority, SystemTime::now() + Duration::from_hours(1));
    let expired = issue_at(&authority, SystemTime::now() - Duration::from_hours(24 * 366));
    mount(directory.path(), "1", &first.certificate, &first.key);
    let server = start(authority, directory.path()).await;
    for (version, certificate, key) in [
        ("2", second.certificate.as_str(), third.key.as_str()),
        ("3", "", second.key.as_str()),
        ("4", second.certificate.as_str(), "-----BEGIN"),
        ("5", later.certificate.as_str(), later.key.as_str()),
        ("6", expired.certificate.as_str(), expired.key.as_str()),
    ] {
        mount(directory.path(), version, certificate, key);
        // Several looks at the files happen meanwhile.
        let until = std::time::Instant::now() + Duration::from_millis(40);
        while std::time::Instant::now() < until {
            assert_eq!(shown(&server).await, leaf(&first), "{version}");
        }
    }
    mount(directory.path(), "7", &third.certificate, &third.key);
    becomes(&server, &third).await;
}
