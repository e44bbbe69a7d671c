//! How a command ends.

use std::process::ExitCode;

use super::output;

#[derive(Debug)]
pub(super) enum CliError {
    /// The input is refused or has findings: exit code 1.
    Refused(String),
    /// Exit code 2.
    Usage(String),
    /// Exit code 2.
    Failed(anyhow::Error),
    /// The reader of stdout has closed it, as `head` does: exit code 0.
    ReaderGone,
}

impl CliError {
    pub(super) fn usage(message: impl Into<String>) -> Self {
        Self::Usage(message.into())
    }

    pub(super) fn refused_policies(findings: impl AsRef<[String]>) -> Self {
        Self::Refused(format!("the policies are refused:\n{}", findings.as_ref().join("\n")))
    }

    pub(super) fn refused_state(findings: impl AsRef<[String]>) -> Self {
        Self::Refused(format!("the state files are refused:\n{}", findings.as_ref().join("\n")))
    }

    pub(super) fn failed(error: impl Into<anyhow::Error>) -> Self {
        Self::Failed(error.into())
    }
}

/// Prints the error to stderr.
pub(super) fn code(done: Result<(), CliError>) -> ExitCode {
    match done {
        Ok(()) | Err(CliError::ReaderGone) => ExitCode::SUCCESS,
        Err(CliError::Refused(message)) => {
            if !message.is_empty() {
                output::error(&message);
            }
            ExitCode::from(1)
        }
        Err(CliError::Usage(message)) => {
            output::error(&message);
            ExitCode::from(2)
        }
        Err(CliError::Failed(error)) => {
            output::error(&error.to_string());
            for cause in error.chain().skip(1) {
                output::note(&format!("  caused by: {cause}"));
            }
            ExitCode::from(2)
        }
    }
}

/// Help and version are results, anything else that clap reports is a usage error.
pub(super) fn usage(error: &clap::Error) -> ExitCode {
    let text = if output::colour_on_stderr() {
        error.render().ansi().to_string()
    } else {
        error.render().to_string()
    };
    if error.use_stderr() {
        output::note(text.trim_end());
        return ExitCode::from(2);
    }
    code(output::write(text.as_bytes()))
}
