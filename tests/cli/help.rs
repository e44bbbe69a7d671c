//! `--help` and `--version`.

use crate::files::{Directory, assert_done};

#[test]
fn the_version_is_that_of_the_package() {
    for flag in ["--version", "-V"] {
        let version = concat!("reviser ", env!("CARGO_PKG_VERSION"), "\n");
        assert_done(&Directory::new().run(&[flag]), 0, version, "");
    }
}

#[test]
fn help_is_a_result_and_names_every_command_and_the_exit_codes() {
    let done = Directory::new().run(&["--help"]);
    assert_eq!((done.code, done.stderr.as_str()), (Some(0), ""));
    for part in ["serve ", "preview ", "check ", "certs ", "completion ", "Exit codes: 0 success; 1 findings"]
    {
        assert!(done.stdout.contains(part), "{part}\n{}", done.stdout);
    }
    assert!(done.stdout.is_ascii(), "no colour, no art");
}

#[test]
fn every_flag_is_in_the_help_with_its_variable_and_its_default() {
    let help = |command: &str| {
        let done = Directory::new().run(&[command, "--help"]);
        assert_eq!((done.code, done.stderr.as_str()), (Some(0), ""), "{command}");
        done.stdout
    };
    // Names so long as some of these have their text on the next line.
    let serve = help("serve").replace("\n          ", " ");
    for (flag, default) in [
        ("--bind-address", "0.0.0.0"),
        ("--secure-port", "8443"),
        ("--cert-dir", ""),
        ("--client-ca-file", ""),
        ("--policy", ""),
        ("--kubeconfig", ""),
        ("--in-cluster", ""),
        ("--state", ""),
        ("--ledger", ""),
        ("--leader-elect-resource-namespace", ""),
        ("--leader-elect-lease-duration", "15s"),
        ("--leader-elect-renew-deadline", "10s"),
        ("--leader-elect-retry-period", "2s"),
        ("--admin-bind-address", "127.0.0.1:8080"),
        ("--log-format", "text"),
        ("--log-level", "info"),
        ("--max-body-bytes", "8388608"),
        ("--memory-budget", "100663296"),
        ("--drain-seconds", "5"),
    ] {
        let variable = format!("REVISER_{}=", flag[2..].replace('-', "_").to_uppercase());
        let line = serve.lines().find(|line| line.contains(&format!("{flag} ")) && line.contains(&variable));
        let line = line.unwrap_or_else(|| panic!("{flag} or {variable} is not in the help:\n{serve}"));
        assert!(default.is_empty() || line.contains(&format!("[default: {default}]")), "{line}");
    }
    let is_flag = |line: &&str| {
        let line = line.trim_start();
        line.starts_with("--") || line.starts_with('-') && line[2..].starts_with(", --")
    };
    let flags = |text: &str| text.lines().filter(is_flag).count();
    assert_eq!(flags(&serve), 20, "the table above is to have all flags:\n{serve}");
    for (command, all) in [
        (
            "preview",
            vec![
                "--filename",
                "--original",
                "--policy",
                "--clusters",
                "--cluster ",
                "--allocation",
                "--cluster-labels",
                "--state",
                "--output",
            ],
        ),
        (
            "check",
            vec![
                "--policy",
                "--filename",
                "--original",
                "--clusters",
                "--cluster-labels",
                "--state",
                "--crd",
            ],
        ),
        ("certs", vec!["--out", "--dns", "--ip", "--force"]),
    ] {
        let text = help(command);
        for flag in all {
            assert!(text.contains(flag), "{flag}\n{text}");
        }
    }
}

#[test]
fn without_a_command_the_help_is_an_error() {
    let done = Directory::new().run(&[]);
    assert_eq!((done.code, done.stdout.as_str()), (Some(2), ""));
    assert!(done.stderr.contains("Usage: reviser <COMMAND>"), "{}", done.stderr);
}
