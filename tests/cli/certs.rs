//! `reviser certs`.

use std::os::unix::fs::PermissionsExt as _;

use base64::Engine as _;
use rustix::process::Signal;

use crate::files::{Directory, assert_done};
use crate::https::{Client, Protocol, config};
use crate::process::Server;

const FILES: [&str; 4] = ["ca.crt", "ca.key", "tls.crt", "tls.key"];

#[test]
fn four_files_are_written_and_the_ca_bundle_is_the_result() {
    let directory = Directory::new();
    let done = directory.run(&["certs", "--out", "new/certs", "--dns", "reviser.reviser.svc"]);
    assert_eq!(done.stderr, "wrote ca.crt, ca.key, tls.crt, tls.key to new/certs\n");
    let read = |name: &str| std::fs::read_to_string(directory.path().join("new/certs").join(name)).unwrap();
    let bundle = base64::engine::general_purpose::STANDARD.encode(read("ca.crt"));
    assert_eq!((done.code, done.stdout), (Some(0), format!("caBundle: {bundle}\n")));
    for (name, mode) in FILES.into_iter().zip([0o644, 0o600, 0o644, 0o600]) {
        let metadata = std::fs::metadata(directory.path().join("new/certs").join(name)).unwrap();
        assert_eq!(metadata.permissions().mode() & 0o777, mode, "{name}");
    }
    assert_eq!(std::fs::read_dir(directory.path().join("new/certs")).unwrap().count(), FILES.len());
}

#[test]
fn what_is_there_is_not_overwritten() {
    let directory = Directory::new();
    let certificates = directory.certificates("certs");
    std::fs::remove_file(certificates.join("tls.crt")).unwrap();
    let before = FILES.map(|name| std::fs::read(certificates.join(name)).ok());
    let text = "error: certs already has ca.crt, ca.key, tls.key; --force replaces the server certificate and keeps an \
                existing authority\n";
    assert_done(&directory.run(&["certs", "--out", "certs", "--dns", "x"]), 2, "", text);
    assert!(before == FILES.map(|name| std::fs::read(certificates.join(name)).ok()));
}

/// Whether a client that trusts `authority` can set up TLS to a server with the pair in `certificates`.
fn accepts(directory: &Directory, certificates: &str, authority: &[u8]) -> bool {
    let server = Server::start(["--cert-dir", &directory.at(certificates), "--drain-seconds", "0"]);
    let config = config(authority, Protocol::Http2, None);
    let connected = tokio::runtime::Runtime::new()
        .unwrap()
        .block_on(async { Client::connect(server.secure, "localhost", config).await.is_ok() });
    assert_eq!(server.end(Signal::TERM).code, Some(0));
    connected
}

#[test]
fn force_makes_a_new_certificate_that_those_accept_who_trust_the_authority() {
    let directory = Directory::new();
    let certificates = directory.certificates("certs");
    let before = FILES.map(|name| std::fs::read(certificates.join(name)).unwrap());
    assert!(accepts(&directory, "certs", &before[0]));

    let forced = directory.run(&["certs", "--out", "certs", "--dns", "localhost", "--force"]);
    let bundle = base64::engine::general_purpose::STANDARD.encode(&before[0]);
    assert_eq!((forced.code, forced.stdout), (Some(0), format!("caBundle: {bundle}\n")));
    let after = FILES.map(|name| std::fs::read(certificates.join(name)).unwrap());
    let same: Vec<bool> = before.iter().zip(&after).map(|(before, after)| before == after).collect();
    assert_eq!(same, [true, true, false, false]);
    assert!(accepts(&directory, "certs", &before[0]));

    let other = directory.certificates("other");
    assert!(!accepts(&directory, "certs", &std::fs::read(other.join("ca.crt")).unwrap()));
}

#[test]
fn half_an_authority_is_not_replaced_by_a_new_one() {
    let directory = Directory::new();
    let certificates = directory.certificates("certs");
    let kept = std::fs::read(certificates.join("ca.crt")).unwrap();
    std::fs::remove_file(certificates.join("ca.key")).unwrap();
    let text = "error: certs has ca.crt but no ca.key; restore ca.key, or move ca.crt away to create a new authority\n";
    assert_done(&directory.run(&["certs", "--out", "certs", "--dns", "x", "--force"]), 2, "", text);
    assert!(std::fs::read(certificates.join("ca.crt")).unwrap() == kept);

    std::fs::write(certificates.join("ca.key"), "garbage").unwrap();
    let text = "error: failed to find a private key in \"certs/ca.key\"\n";
    assert_done(&directory.run(&["certs", "--out", "certs", "--dns", "x", "--force"]), 2, "", text);
    std::fs::remove_file(certificates.join("ca.key")).unwrap();
    std::fs::remove_file(certificates.join("ca.crt")).unwrap();
    assert_eq!(directory.run(&["certs", "--out", "certs", "--dns", "x", "--force"]).code, Some(0));
}

#[test]
fn names_that_can_not_be_are_refused_and_nothing_is_written() {
    let directory = Directory::new();
    for name in ["a b", "a..b", "", "-a", "a.b-", "ä", "a/b"] {
        let done = directory.run(&["certs", "--out", "certs", &format!("--dns={name}")]);
        let text = format!("error: failed to use {name:?} as a DNS name");
        assert_eq!((done.code, done.stdout.as_str()), (Some(2), ""), "{name:?}");
        assert!(done.stderr.starts_with(&text), "{}", done.stderr);
    }
    let done = directory.run(&["certs", "--out", "certs", "--ip", "10.0.0"]);
    let text = "error: invalid value '10.0.0' for '--ip <IP>...': use an IP address, for instance 10.0.0.1; names \
                are not looked up\n\nFor more information, try '--help'.\n";
    assert_done(&done, 2, "", text);
    let done = directory.run(&["certs", "--out", "certs"]);
    assert_eq!(done.code, Some(2));
    assert!(done.stderr.contains("--dns <NAME>"), "{}", done.stderr);
    assert!(!directory.path().join("certs").exists());
}

#[test]
fn a_place_that_can_not_be_written_is_named() {
    let directory = Directory::new();
    directory.file("file", "");
    let done = directory.run(&["certs", "--out", "file/certs", "--dns", "x"]);
    let text = "error: failed to write \"file/certs\"\n  caused by: Not a directory (os error 20)\n";
    assert_done(&done, 2, "", text);
}
