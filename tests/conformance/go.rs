//! What the callers' own client makes of the replies: the program in `go/` is built and run, where there is
//! Go.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A `go` in the folder of the program, without what a machine may have configured for other projects.
fn go(arguments: &[&str]) -> std::io::Result<Output> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/conformance/go");
    Command::new("go").args(arguments).current_dir(folder).env("GOWORK", "off").env_remove("GOFLAGS").output()
}

#[expect(clippy::print_stdout, reason = "the test runner shows what a test prints")]
fn show(text: &str) {
    println!("{text}");
}

/// The program, or why it can't be had here. That it does not compile is a failure.
fn built() -> Result<PathBuf, String> {
    // Fetches the modules that are not there yet, and this Go's successor if the modules need one.
    let modules =
        go(&["list", "-mod=readonly", "-deps", "."]).map_err(|error| format!("go can't be run, {error}"))?;
    if !modules.status.success() {
        return Err(String::from_utf8_lossy(&modules.stderr).into_owned());
    }
    let program = concat!(env!("CARGO_TARGET_TMPDIR"), "/conformance-client");
    let arguments = ["build", "-mod=readonly", "-buildvcs=false", "-o", program, "."];
    let built = go(&arguments).map_err(|error| error.to_string())?;
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    Ok(PathBuf::from(program))
}

#[test]
fn the_client_of_the_callers_takes_what_it_should_and_loses_nothing() {
    let program = match built() {
        Ok(program) => program,
        Err(why) => return show(&format!("the conformance with the callers' own client is left out: {why}")),
    };
    let done = Command::new(program)
        .args(["-reviser", env!("CARGO_BIN_EXE_reviser"), "-repository", env!("CARGO_MANIFEST_DIR")])
        .output()
        .unwrap();
    let table = String::from_utf8_lossy(&done.stdout);
    assert!(done.status.success(), "{table}\n{}", String::from_utf8_lossy(&done.stderr));
    show(&table);
}
