//! `kubectl`, for what a person at the API server sees.

use std::io::Write as _;
use std::process::{Command, Stdio};

use super::left_out;
use super::plane::ControlPlane;

/// What a command printed, and whether it went well.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) ok: bool,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// Runs `kubectl` as `user`; `input` is what it reads on standard input. `None` where there is no kubectl, which is said.
pub(crate) fn kubectl(plane: &ControlPlane, user: &str, arguments: &[&str], input: &str) -> Option<Ran> {
    let mut command = Command::new("kubectl");
    command.arg("--kubeconfig").arg(plane.kubeconfig(user)).args(arguments);
    // It keeps what it has discovered there.
    command.env("HOME", plane.directory()).env_remove("KUBECONFIG");
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = match command.spawn() {
        Ok(child) => child,
        Err(error) => {
            left_out(&format!("kubectl: {error}"));
            return None;
        }
    };
    // It need not read all of it.
    drop(child.stdin.take().unwrap().write_all(input.as_bytes()));
    let output = child.wait_with_output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    Some(Ran { ok: output.status.success(), stdout: text(output.stdout), stderr: text(output.stderr) })
}
