//! The binary, run to its end.

use std::process::{Command, Stdio};

/// What a run left behind.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// Runs `reviser` with these arguments and none of its environment variables.
pub(crate) fn reviser<S: AsRef<std::ffi::OsStr>>(arguments: &[S]) -> Ran {
    reviser_with(&[], arguments)
}

/// The same, with these environment variables.
pub(crate) fn reviser_with<S: AsRef<std::ffi::OsStr>>(environment: &[(&str, &str)], arguments: &[S]) -> Ran {
    let mut command = Command::new(env!("CARGO_BIN_EXE_reviser"));
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("REVISER_") {
            command.env_remove(name);
        }
    }
    command.envs(environment.iter().copied()).args(arguments).stdin(Stdio::null());
    let output = command.output().unwrap();
    Ran {
        code: output.status.code(),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}
