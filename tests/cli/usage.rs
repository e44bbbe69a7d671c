//! Flags that are not there, and values that can't be.

use crate::files::{Directory, assert_done};

/// Every flag of `serve` that takes something else than any text: a value that it refuses, and what it says
/// then.
const REFUSED: [(&str, &str, &str); 19] = [
    ("--bind-address <IP>", "localhost", "use an IP address, for instance 10.0.0.1; names are not looked up"),
    (
        "--bind-address <IP>",
        "0.0.0.0:8443",
        "use an IP address, for instance 10.0.0.1; names are not looked up",
    ),
    ("--secure-port <PORT>", "65536", "use a port, from 0 to 65535"),
    ("--secure-port <PORT>", "-1", "use a port, from 0 to 65535"),
    ("--secure-port <PORT>", "https", "use a port, from 0 to 65535"),
    ("--admin-bind-address <IP:PORT>", "127.0.0.1", "use IP:PORT, for instance 127.0.0.1:8080 or [::1]:8080"),
    ("--admin-bind-address <IP:PORT>", ":8080", "use IP:PORT, for instance 127.0.0.1:8080 or [::1]:8080"),
    ("--ledger <LEDGER>", "file:", "use `memory`, `file:PATH` or `kubernetes`"),
    ("--ledger <LEDGER>", "/var/ledger", "use `memory`, `file:PATH` or `kubernetes`"),
    ("--ledger <LEDGER>", "memory:", "use `memory`, `file:PATH` or `kubernetes`"),
    ("--log-format <FORMAT>", "yaml", "failed to parse \"yaml\" as a log format: it is text or json"),
    (
        "--log-level <LEVEL>",
        "loud",
        "\"loud\" is not a level; use off, error, warn, info, debug or trace, or loud=debug for a target",
    ),
    ("--memory-budget <BYTES>", "0", "use a number of bytes, at least 1"),
    ("--max-body-bytes <BYTES>", "0", "use a number of bytes, at least 1"),
    ("--max-body-bytes <BYTES>", "-1", "use a number of bytes, at least 1"),
    ("--max-body-bytes <BYTES>", "8MiB", "use a number of bytes, at least 1"),
    ("--drain-seconds <SECONDS>", "-1", "use a whole number of seconds, 0 or more"),
    ("--drain-seconds <SECONDS>", "1.5", "use a whole number of seconds, 0 or more"),
    ("--drain-seconds <SECONDS>", "5s", "use a whole number of seconds, 0 or more"),
];

#[test]
fn a_value_that_a_flag_can_not_have_is_refused_with_what_it_can() {
    let directory = Directory::new();
    for (flag, value, advice) in REFUSED {
        let text = format!(
            "error: invalid value '{value}' for '{flag}': {advice}\n\nFor more information, try '--help'.\n"
        );
        let name = flag.split(' ').next().unwrap();
        assert_done(&directory.run(&["serve", name, value]), 2, "", &text);
        // From the environment just so.
        let variable = format!("REVISER_{}", name[2..].replace('-', "_").to_uppercase());
        assert_done(&directory.run_with(&["serve"], &[(&variable, value)], ""), 2, "", &text);
    }
}

#[test]
fn what_does_not_go_together_is_refused() {
    let directory = Directory::new();
    for (arguments, advice) in [
        (&["--kubeconfig", "a", "--in-cluster"][..], "cannot be used with '--in-cluster'"),
        (&["--kubeconfig", "a", "--state", "b"], "cannot be used with '--state"),
        (&["--in-cluster", "--state", "b"], "cannot be used with '--state"),
        (&["--ledger", "kubernetes"], "--ledger kubernetes needs --kubeconfig or --in-cluster"),
        (&["--leader-elect-renew-deadline", "20s"], "--leader-elect-renew-deadline"),
        (&["--leader-elect-retry-period", "0s"], "use a duration, such as 15s, 1m or 1m30s"),
        (&["--kubeconfig", "there-is-none"], "there-is-none"),
        (&["--in-cluster"], "--in-cluster"),
    ] {
        let free = ["serve", "--secure-port", "0", "--admin-bind-address", "127.0.0.1:0"];
        let done = directory.run(&[&free, arguments].concat());
        assert_eq!(done.code, Some(2), "{arguments:?}: {}", done.stderr);
        assert!(done.stderr.contains(advice), "{arguments:?}: {}", done.stderr);
    }
}

#[test]
fn a_level_of_a_target_is_refused_if_there_is_none_such() {
    let done = Directory::new().run(&["serve", "--log-level", "reviser=loud"]);
    assert_eq!((done.code, done.stdout.as_str()), (Some(2), ""));
    assert!(done.stderr.contains("expected one of \"off\", \"error\", \"warn\""), "{}", done.stderr);
}

#[test]
fn a_flag_or_command_that_is_not_there_is_named() {
    let directory = Directory::new();
    for (arguments, first) in [
        (vec!["serve", "--no-such-flag"], "error: unexpected argument '--no-such-flag' found\n"),
        (vec!["serve", "something"], "error: unexpected argument 'something' found\n"),
        (vec!["serve", "--cert-dirs", "x"], "error: unexpected argument '--cert-dirs' found\n"),
        (vec!["serv"], "error: unrecognized subcommand 'serv'\n"),
        (vec!["preview", "-x"], "error: unexpected argument '-x' found\n"),
    ] {
        let done = directory.run(&arguments);
        assert_eq!((done.code, done.stdout.as_str()), (Some(2), ""), "{arguments:?}");
        assert!(done.stderr.starts_with(first), "{}", done.stderr);
    }
}
