//! The binary: arguments in, exit code out.

use std::process::ExitCode;

fn main() -> ExitCode {
    reviser::cli::run(std::env::args_os())
}
