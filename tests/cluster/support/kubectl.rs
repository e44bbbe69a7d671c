//! Runs `kubectl`.

use std::io::Write as _;
use std::process::{Command, Stdio};

use super::left_out;
use super::plane::ControlPlane;

/// The output and success of a command.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) ok: bool,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// Runs `kubectl` as `user` with `input` on standard input. `None`, with a message, without kubectl.
pub(crate) fn kubectl(plane: &ControlPlane, user: &str, arguments: &[&str], input: &str) -> Option<Ran> {
    let mut command = Command::new("kubectl");
    command.arg("--kubeconfig").arg(plane.kubeconfig(user)).args(arguments);
    // The cache of API discovery.
    command.env("HOME", plane.directory()).env_remove("KUBECONFIG");
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = match command.spawn() {
        Ok(child) => child,
        Err(error) => {
            left_out(&format!("kubectl: {error}"));
            return None;
        }
    };
    // It may exit before it has read everything.
    drop(child.stdin.take().unwrap().write_all(input.as_bytes()));
    let output = child.wait_with_output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    Some(Ran { ok: output.status.success(), stdout: text(output.stdout), stderr: text(output.stderr) })
}
