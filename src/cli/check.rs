//! `reviser check`.

use super::args::CheckArgs;
use super::exit::CliError;
use super::{output, trial};
use crate::app::{self, CheckInput, Checked};

pub(super) fn run(arguments: &CheckArgs) -> Result<(), CliError> {
    let input = CheckInput {
        policies: &arguments.policies,
        objects: &arguments.trial.filenames,
        original: arguments.trial.original.as_deref(),
        schedule: trial::schedule(&arguments.trial)?,
        known: trial::known_clusters(&arguments.trial)?,
        definitions: &arguments.definitions,
    };
    let Checked { findings, refused, documents, notes } = app::check(&input);
    for note in notes {
        output::note(&note);
    }
    if findings.is_empty() {
        output::note(&format!("no findings in {}", counted(documents, "document")));
        return Ok(());
    }
    output::write(format!("{}\n", findings.join("\n")).as_bytes())?;
    let all = counted(findings.len(), "finding");
    Err(CliError::Refused(match refused {
        0 => format!("{all}; serve accepts the documents"),
        refused if refused == findings.len() => all,
        refused => format!("{all}; serve refuses the documents for {refused} of them"),
    }))
}

fn counted(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}
