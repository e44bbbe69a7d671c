//! The second way: `reviser preview` with the object alone.

use std::io::Write as _;
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::case::Case;
use crate::library::Input;
use crate::line::refused;

/// The output of `preview`. A refusal has a message but no code there, so the code is taken from `expected`.
pub(crate) fn line(case: &Case, input: &Input, expected: &str) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_reviser"));
    command.args([
        "preview",
        "-f",
        "-",
        "-o",
        "patch",
        "--cluster",
        &input.cluster,
        "--clusters",
        &input.clusters,
    ]);
    for allocation in &input.allocations {
        command.args(["--allocation", allocation]);
    }
    if let Some(policy) = case.policy() {
        command.arg("-p").arg(policy);
    }
    let pipes = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut process = pipes.spawn().unwrap();
    process.stdin.take().unwrap().write_all(input.object.as_bytes()).unwrap();
    let done = process.wait_with_output().unwrap();
    let (stdout, stderr) = (String::from_utf8(done.stdout).unwrap(), String::from_utf8(done.stderr).unwrap());
    match (done.status.code(), stderr.lines().find_map(|line| line.strip_prefix("error: "))) {
        (Some(0), None) => stdout,
        (Some(1), Some(message)) if stdout.is_empty() => {
            let expected: Value = serde_json::from_str(expected).unwrap();
            refused(expected["code"].as_i64().unwrap_or_default(), message)
        }
        (code, _) => format!("exit code {code:?}, {stdout:?}, {stderr:?}"),
    }
}
