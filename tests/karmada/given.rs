//! Where Karmada is: its programs, and the source that they were built from.

use std::path::PathBuf;

use crate::support::left_out;

/// The folder of Karmada's programs.
const BINARIES: &str = "REVISER_KARMADA";
/// The checkout of its source, for the definitions of its kinds and its webhook configurations.
const SOURCE: &str = "REVISER_KARMADA_SOURCE";

const PROGRAMS: [&str; 4] =
    ["karmada-aggregated-apiserver", "karmada-controller-manager", "karmada-scheduler", "karmada-webhook"];

/// The Karmada build of the environment.
#[derive(Debug)]
pub(crate) struct Given {
    pub(crate) binaries: PathBuf,
    source: PathBuf,
}

/// What the environment names. `None`, and said why, where it names nothing, or what it names is not there.
pub(crate) fn given() -> Option<Given> {
    let folder = |name: &str| {
        let path = std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        if path.is_none() {
            left_out(&format!("{name} is not set"));
        }
        path
    };
    let given = Given { binaries: folder(BINARIES)?, source: folder(SOURCE)? };
    let programs = PROGRAMS.map(|program| given.binaries.join(program));
    for path in programs.into_iter().chain([given.definitions(), given.webhook_configurations()]) {
        if !path.exists() {
            left_out(&format!("there is no {}", path.display()));
            return None;
        }
    }
    Some(given)
}

impl Given {
    /// The folder of its definitions, a folder for each API group in it.
    pub(crate) fn definitions(&self) -> PathBuf {
        self.source.join("charts/karmada/_crds/bases")
    }

    /// The file of both its webhook configurations.
    pub(crate) fn webhook_configurations(&self) -> PathBuf {
        self.source.join("artifacts/deploy/webhook-configuration.yaml")
    }
}
