//! Writes to stdout, and to stderr what is not part of the log.

use std::io::{self, IsTerminal as _, Write as _};

use super::exit::CliError;

pub(super) fn write(result: &[u8]) -> Result<(), CliError> {
    let mut stdout = io::stdout().lock();
    match stdout.write_all(result).and_then(|()| stdout.flush()) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Err(CliError::ReaderGone),
        Err(error) => Err(CliError::Failed(anyhow::Error::new(error).context("failed to write to stdout"))),
    }
}

pub(super) fn error(message: &str) {
    note(&format!("error: {message}"));
}

pub(super) fn note(message: &str) {
    // An error here could only be reported to stderr.
    let _ = writeln!(io::stderr().lock(), "{message}");
}

/// Whether stdout is a terminal and `NO_COLOR` is not set.
pub(super) fn colour_on_stdout() -> bool {
    io::stdout().is_terminal() && is_colour_allowed()
}

pub(super) fn colour_on_stderr() -> bool {
    io::stderr().is_terminal() && is_colour_allowed()
}

fn is_colour_allowed() -> bool {
    std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}
