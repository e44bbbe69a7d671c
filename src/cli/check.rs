//! `reviser check`.

use super::args::CheckArgs;
use super::exit::CliError;
use super::output;
use crate::app;

pub(super) fn run(arguments: &CheckArgs) -> Result<(), CliError> {
    match app::load(&arguments.policies) {
        Ok(loaded) => {
            output::note(&format!("no findings in {}", counted(loaded.documents, "document")));
            Ok(())
        }
        Err(findings) => {
            output::write(format!("{}\n", findings.join("\n")).as_bytes())?;
            Err(CliError::Refused(counted(findings.len(), "finding")))
        }
    }
}

fn counted(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}
