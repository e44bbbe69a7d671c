//! `reviser serve`: how it starts, why it does not, and how it ends.

use std::net::TcpListener;

use rustix::process::Signal;

use crate::files::{BROKEN, Directory, broken_policies, policy};
use crate::process::Server;

/// Runs a server that does not start, and gives its exit code, what it put on stdout, and its error without
/// the log before it.
fn fails(directory: &Directory, arguments: &[&str]) -> (Option<i32>, String, String) {
    let ports =
        ["serve", "--bind-address", "127.0.0.1", "--secure-port", "0", "--admin-bind-address", "127.0.0.1:0"];
    // Of two flags clap refuses the second, so the ports are left out where they are what the test is about.
    let ports = if arguments.iter().any(|argument| argument.contains("port") || argument.contains("admin")) {
        &["serve", "--bind-address", "127.0.0.1"][..]
    } else {
        &ports
    };
    let done = directory.run(&[ports, arguments].concat());
    let error = done.stderr.find("error: ").map(|start| done.stderr[start..].to_owned());
    (done.code, done.stdout, error.unwrap_or(done.stderr))
}

#[track_caller]
fn assert_fails(directory: &Directory, arguments: &[&str], code: i32, error: &str) {
    assert_eq!(fails(directory, arguments), (Some(code), String::new(), error.to_owned()));
}

#[test]
fn a_port_in_use_is_named() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap();
    let error = format!(
        "error: failed to serve\n  caused by: failed to bind {address}\n  caused by: Address already in use (os error 98)\n"
    );
    let port = address.port().to_string();
    let directory = Directory::new();
    assert_fails(&directory, &["--secure-port", &port, "--admin-bind-address", "127.0.0.1:0"], 2, &error);
    assert_fails(
        &directory,
        &["--secure-port", "0", "--admin-bind-address", &address.to_string()],
        2,
        &error,
    );
}

#[test]
fn certificates_that_can_not_be_used_are_named() {
    let directory = Directory::new();
    let (one, other) = (directory.certificates("one"), directory.certificates("other"));
    let error =
        |cause: &str| format!("error: failed to serve\n  caused by: failed to load certificates\n{cause}");
    let missing = "  caused by: No such file or directory (os error 2)\n";

    let cause = format!("  caused by: failed to read \"missing/tls.crt\"\n{missing}");
    assert_fails(&directory, &["--cert-dir", "missing"], 2, &error(&cause));
    let cause = format!("  caused by: failed to read \"missing.crt\"\n{missing}");
    assert_fails(&directory, &["--client-ca-file", "missing.crt"], 2, &error(&cause));

    std::fs::copy(other.join("tls.key"), one.join("tls.key")).unwrap();
    let cause = "  caused by: failed to pair \"one/tls.crt\" with \"one/tls.key\": the key does not belong to the \
                 certificate\n";
    assert_fails(&directory, &["--cert-dir", "one"], 2, &error(cause));
    std::fs::write(one.join("tls.crt"), "").unwrap();
    let cause = "  caused by: failed to use \"one/tls.crt\": the file is empty\n";
    assert_fails(&directory, &["--cert-dir", "one"], 2, &error(cause));
    std::fs::write(one.join("tls.crt"), "garbage").unwrap();
    let cause = "  caused by: failed to find a certificate in \"one/tls.crt\"\n";
    assert_fails(&directory, &["--cert-dir", "one"], 2, &error(cause));
}

#[test]
fn broken_policies_are_refused_with_every_finding() {
    let directory = Directory::new();
    broken_policies(&directory);
    let path = directory.path().display().to_string();
    let error = format!("error: the policies are refused:\n{}\n", BROKEN.join("\n"));
    assert_fails(&directory, &["--policy", &path], 1, &error);
}

#[test]
fn a_file_that_is_not_a_ledger_of_this_version_is_refused_and_left_alone() {
    let directory = Directory::new();
    let refused = |damage: &str| {
        format!(
            "error: failed to open the ledger\n  caused by: failed to read the ledger \"ledger\": {damage}; \
             it is left unchanged: restore it from a backup, or move it away to start with an empty ledger; \
             the workloads' allocations are then chosen anew, unless Works or pins say where they are\n"
        )
    };
    let foreign = "it is not a ledger of reviser, but another program's file";
    let text =
        "it has the text format of earlier builds (\"reviser-ledger v1\"), which this version does not read";
    for (content, damage) in [
        ("garbage\n", foreign),
        ("garbage", foreign),
        ("apiVersion: v1\nkind: List\nitems: []\n", foreign),
        ("reviser-ledger v1\n", text),
        ("reviser-ledger v1\n00000000 {}\n", text),
    ] {
        directory.file("ledger", content);
        // The program says where a file really is, so the path is given whole.
        assert_fails(
            &directory,
            &["--ledger", &format!("file:{}", directory.at("ledger"))],
            2,
            &refused(damage),
        );
        assert_eq!(std::fs::read_to_string(directory.path().join("ledger")).unwrap(), content);
    }
}

#[test]
fn a_ledger_that_can_not_be_written_is_named() {
    let directory = Directory::new();
    directory.file("file", "");
    std::fs::create_dir(directory.path().join("folder")).unwrap();
    for (path, cause) in [
        (
            "file/ledger",
            "failed to find the ledger \"file/ledger\"\n  caused by: Not a directory (os error 20)",
        ),
        (
            "missing/ledger",
            "failed to find the directory of the ledger, \"missing\"\n  caused by: No such file or directory (os error 2)",
        ),
        ("folder", "failed to open the ledger \"folder\": it is not a regular file"),
        (
            "/proc/ledger",
            "failed to create the ledger \"/proc/ledger\"\n  caused by: No such file or directory (os error 2)",
        ),
    ] {
        let error = format!("error: failed to open the ledger\n  caused by: {cause}\n");
        assert_fails(&directory, &["--ledger", &format!("file:{path}")], 2, &error);
    }
}

#[test]
fn a_ledger_that_another_process_has_open_is_refused() {
    let directory = Directory::new();
    let ledger = format!("file:{}", directory.at("ledger"));
    let holder = Server::start(["--ledger", &ledger, "--drain-seconds", "0"]);
    let content = std::fs::read(directory.path().join("ledger")).unwrap();
    let error = "error: failed to open the ledger\n  caused by: failed to lock the ledger \"ledger\": another process has it \
                 open; a ledger has one user at a time\n";
    assert_fails(&directory, &["--ledger", &ledger], 2, error);
    assert_eq!(std::fs::read(directory.path().join("ledger")).unwrap(), content);
    assert_eq!(holder.end(Signal::TERM).code, Some(0));
    assert_eq!(Server::start(["--ledger", &ledger, "--drain-seconds", "0"]).end(Signal::TERM).code, Some(0));
}

#[test]
fn it_ends_well_when_it_is_told_to() {
    for signal in [Signal::TERM, Signal::HUP, Signal::INT] {
        let done = Server::start(["--drain-seconds", "0"]).end(signal);
        assert_eq!((done.code, done.stdout.as_str()), (Some(0), ""), "{signal:?}");
        assert!(done.stderr.ends_with("ended, every request answered\n"), "{}", done.stderr);
    }
    // A person at a terminal does not wait for anybody to notice.
    let done = Server::start(["--drain-seconds", "3600"]).end(Signal::INT);
    assert_eq!(done.code, Some(0));
    let impatient = Server::start(["--drain-seconds", "3600"]);
    impatient.process.signal(Signal::TERM);
    impatient.process.says(|line| line.contains("draining") && line.contains("seconds=3600"));
    assert_eq!(impatient.end(Signal::TERM).code, Some(0));
}

/// The messages of a server that starts and is ended again.
fn messages(arguments: &[&str]) -> Vec<String> {
    let server = Server::start([&["--drain-seconds", "0", "--log-format", "json"], arguments].concat());
    let done = server.end(Signal::TERM);
    let parsed = done.stderr.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
    parsed
        .map(|line| format!("{} {}", line["level"].as_str().unwrap(), line["message"].as_str().unwrap()))
        .collect()
}

#[test]
fn whatever_it_had_to_choose_by_itself_is_said_in_a_warning() {
    let end = ["INFO serving", "INFO asked to end", "INFO draining: not ready, but serving"];
    let end =
        [&end[..], &["INFO stopped accepting, finishing requests", "INFO ended, every request answered"]]
            .concat();
    let chosen = [
        "WARN no --policy: serving the built-in example, ClusterRevisionPolicy/rollout-fort for Rollout.deploy.example.com",
        "WARN no --ledger: allocations are kept in memory and chosen again after a restart; --ledger file:PATH keeps them",
        "WARN no --cert-dir: serving a self-signed certificate made at start; create one for production with `reviser certs`",
    ];
    assert_eq!(messages(&[]), [&chosen[..], &end].concat());

    let directory = Directory::new();
    directory.certificates("certs");
    let policy = directory.file("policy.yaml", &policy("mine", "fort"));
    let arguments = ["--ledger", "memory", "--policy", &policy, "--cert-dir", &directory.at("certs")];
    assert_eq!(messages(&arguments), [&["INFO policies loaded"][..], &end].concat());
}
