//! The only place that writes to stdout, and to stderr besides the log.

use std::io::{self, IsTerminal as _, Write as _};

use super::exit::CliError;

/// Writes a result to stdout.
pub(super) fn write(result: &[u8]) -> Result<(), CliError> {
    let mut stdout = io::stdout().lock();
    match stdout.write_all(result).and_then(|()| stdout.flush()) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Err(CliError::ReaderGone),
        Err(error) => Err(CliError::Failed(anyhow::Error::new(error).context("failed to write to stdout"))),
    }
}

/// Tells an error on stderr.
pub(super) fn error(message: &str) {
    note(&format!("error: {message}"));
}

/// Tells something on stderr.
pub(super) fn note(message: &str) {
    // With stderr gone there is nobody left to tell.
    let _ = writeln!(io::stderr().lock(), "{message}");
}

/// Whether a result may be coloured: stdout is a terminal, and `NO_COLOR` is not set.
pub(super) fn colour_on_stdout() -> bool {
    io::stdout().is_terminal() && colour_wanted()
}

/// The same for stderr.
pub(super) fn colour_on_stderr() -> bool {
    io::stderr().is_terminal() && colour_wanted()
}

fn colour_wanted() -> bool {
    std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}
