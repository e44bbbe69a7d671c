//! The command line. Results go to stdout, everything else to stderr.
//!
//! Exit codes: 0 success; 1 findings or refused input; 2 usage or internal error.

mod args;
mod certs;
mod check;
mod exit;
mod manifests;
mod output;
mod preview;
mod serve;
mod trial;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::FromArgMatches as _;

use args::{Arguments, Command};
use exit::CliError;

/// Runs a command. The first of `arguments` is the name of the program.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let parsed = args::command().try_get_matches_from(arguments);
    let arguments = match parsed.and_then(|matches| Arguments::from_arg_matches(&matches)) {
        Ok(arguments) => arguments,
        Err(error) => return exit::usage(&error),
    };
    let done = match arguments.command {
        Command::Serve(arguments) => serve::run(arguments),
        Command::Preview(arguments) => preview::run(&arguments),
        Command::Check(arguments) => check::run(&arguments),
        Command::Certs(arguments) => certs::run(&arguments),
        Command::Manifests(arguments) => manifests::run(&arguments),
        Command::Completion { shell } => completion(shell),
    };
    exit::code(done)
}

fn completion(shell: clap_complete::Shell) -> Result<(), CliError> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut args::command(), "reviser", &mut script);
    output::write(&script)
}
