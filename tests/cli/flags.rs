//! What each flag of `serve` does, when it is given as a variable of the environment.

use std::net::{SocketAddr, TcpListener};

use http::StatusCode;
use rcgen::{CertificateParams, ExtendedKeyUsagePurpose, Issuer, KeyPair};
use rustix::process::Signal;
use serde_json::Value;

use crate::files::{Directory, policy};
use crate::https::{self, Client, Protocol, Reply, config};
use crate::process::{Server, reviser};

/// A server that gets everything from its environment.
fn server(environment: &[(&str, &str)]) -> Server {
    let mut command = reviser(["serve"]);
    command.env("REVISER_BIND_ADDRESS", "127.0.0.1").env("REVISER_SECURE_PORT", "0");
    command.env("REVISER_ADMIN_BIND_ADDRESS", "127.0.0.1:0").env("REVISER_DRAIN_SECONDS", "0");
    Server::start_from({
        command.envs(environment.iter().copied());
        command
    })
}

/// Posts `body` over a connection of its own. Nothing if the server does not let the client in.
fn post(address: SocketAddr, authority: &[u8], own: Option<&[String; 2]>, body: &str) -> Option<Reply> {
    let own = own.map(|[certificate, key]| (certificate.as_bytes(), key.as_bytes()));
    let config = config(authority, Protocol::Http1, own);
    tokio::runtime::Runtime::new().unwrap().block_on(async {
        // In TLS 1.3 a client may learn only with its first answer that it is refused.
        let client = Client::connect(address, "localhost", config).await.ok()?;
        client.send(https::post("/interpret", https::full(body.to_owned()))).await.ok()
    })
}

/// A certificate and key for a client, of an authority in PEM.
fn issue_client(authority: &str, key: &str) -> [String; 2] {
    let issuer = Issuer::from_ca_cert_pem(authority, KeyPair::from_pem(key).unwrap()).unwrap();
    let mut params = CertificateParams::default();
    params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
    let key = KeyPair::generate().unwrap();
    [params.signed_by(&key, &issuer).unwrap().pem(), key.serialize_pem()]
}

#[test]
fn the_addresses_are_those_that_are_given() {
    let given = [("REVISER_BIND_ADDRESS", "127.0.0.2"), ("REVISER_ADMIN_BIND_ADDRESS", "127.0.0.3:0")];
    let server = server(&given);
    assert_eq!(
        (server.secure.ip().to_string(), server.admin.ip().to_string()),
        ("127.0.0.2".into(), "127.0.0.3".into())
    );
    drop(server);

    // A free port may be taken before the server binds it; a bound port stays bound.
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let environment = [
        ("REVISER_BIND_ADDRESS", "127.0.0.1"),
        ("REVISER_ADMIN_BIND_ADDRESS", "127.0.0.1:0"),
        ("REVISER_SECURE_PORT", port.as_str()),
    ];
    let done = Directory::new().run_with(&["serve"], &environment, "");
    assert_eq!(done.code, Some(2));
    assert!(done.stderr.contains(&format!("failed to bind 127.0.0.1:{port}\n")), "{}", done.stderr);
}

#[test]
fn a_flag_wins_over_the_variable() {
    let mut command =
        reviser(["serve", "--bind-address", "127.0.0.2", "--secure-port", "0", "--log-format", "json"]);
    command.args(["--admin-bind-address", "127.0.0.1:0", "--drain-seconds", "0"]);
    command.envs([
        ("REVISER_BIND_ADDRESS", "127.0.0.1"),
        ("REVISER_SECURE_PORT", "1"),
        ("REVISER_LOG_FORMAT", "text"),
    ]);
    let server = Server::start_from(command);
    assert_eq!(server.secure.ip().to_string(), "127.0.0.2");
    assert!(server.process.says(|line| line.contains("serving")).starts_with('{'));
}

#[test]
fn the_certificate_is_that_of_the_directory_and_clients_need_one_of_the_authority() {
    let directory = Directory::new();
    let [own, strangers] = ["own", "strangers"].map(|name| {
        let certificates = directory.certificates(name);
        ["ca.crt", "ca.key"].map(|file| std::fs::read_to_string(certificates.join(file)).unwrap())
    });
    let certificates = directory.at("own");
    let authority = own[0].as_bytes();
    let status = |server: &Server, own: Option<&[String; 2]>| {
        post(server.secure, authority, own, "{}").map(|reply| reply.status)
    };
    let open = server(&[("REVISER_CERT_DIR", &certificates)]);
    assert_eq!(status(&open, None), Some(StatusCode::BAD_REQUEST), "it got in, and asked nonsense");

    let clients = directory.at("own/ca.crt");
    let closed = server(&[("REVISER_CERT_DIR", &certificates), ("REVISER_CLIENT_CA_FILE", &clients)]);
    assert_eq!(status(&closed, None), None);
    assert_eq!(status(&closed, Some(&issue_client(&strangers[0], &strangers[1]))), None);
    assert_eq!(status(&closed, Some(&issue_client(&own[0], &own[1]))), Some(StatusCode::BAD_REQUEST));
}

#[test]
fn the_policies_are_those_that_are_named() {
    let directory = Directory::new();
    let (one, two) = (policy("one", "first"), policy("two", "second"));
    let paths = [directory.file("one.yaml", &one), directory.file("two.yaml", &two)].join(",");
    let server = server(&[("REVISER_POLICY", &paths)]);
    let line = server.process.says(|line| line.contains("policies loaded"));
    assert!(line.ends_with("documents=2 policies=2"), "{line}");
}

#[test]
fn the_state_is_in_the_files_that_are_named() {
    let directory = Directory::new();
    let cluster = |name: &str| {
        format!("apiVersion: cluster.karmada.io/v1alpha1\nkind: Cluster\nmetadata: {{name: {name}}}\n")
    };
    let paths = [directory.file("one", &cluster("x")), directory.file("two", &cluster("z"))].join(",");
    let server = server(&[("REVISER_STATE", &paths)]);
    let line = server.process.says(|line| line.contains("state loaded"));
    assert!(line.ends_with("bindings=0 works=0 clusters=2 targets=0"), "{line}");
}

#[test]
fn the_ledger_is_the_file_that_is_named() {
    let directory = Directory::new();
    let ledger = directory.at("ledger");
    let server = server(&[("REVISER_LEDGER", &format!("file:{ledger}"))]);
    assert!(std::fs::read(&ledger).unwrap().starts_with(b"redb"));
    assert!(!server.end(Signal::TERM).stderr.contains("no --ledger"));
}

#[test]
fn the_log_has_the_format_and_the_level_that_are_given() {
    let json = server(&[("REVISER_LOG_FORMAT", "json")]).end(Signal::TERM);
    assert!(json.stderr.lines().count() > 4);
    for line in json.stderr.lines() {
        let line: Value = serde_json::from_str(line).unwrap();
        assert!(
            line["level"].is_string() && line["message"].is_string() && line["timestamp"].is_string(),
            "{line}"
        );
    }
    let quiet = server(&[("REVISER_LOG_LEVEL", "error,reviser::server=info")]).end(Signal::TERM);
    assert!(quiet.stderr.contains("serving") && !quiet.stderr.contains("WARN"), "{}", quiet.stderr);
}

#[test]
fn a_body_may_be_as_long_as_is_given() {
    let directory = Directory::new();
    let authority = std::fs::read(directory.certificates("certs").join("ca.crt")).unwrap();
    let certificates = directory.at("certs");
    let server = server(&[("REVISER_MAX_BODY_BYTES", "100"), ("REVISER_CERT_DIR", &certificates)]);
    let status = |length: usize| post(server.secure, &authority, None, &" ".repeat(length)).unwrap().status;
    assert_eq!((status(100), status(101)), (StatusCode::BAD_REQUEST, StatusCode::PAYLOAD_TOO_LARGE));
}

#[test]
fn the_drain_takes_as_long_as_is_given() {
    let server = server(&[("REVISER_DRAIN_SECONDS", "3600")]);
    server.process.signal(Signal::TERM);
    server.process.says(|line| line.contains("draining") && line.contains("seconds=3600"));
    // The second one does not wait.
    assert_eq!(server.end(Signal::TERM).code, Some(0));
}
