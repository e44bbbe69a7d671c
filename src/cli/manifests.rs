//! `reviser manifests`.

use std::collections::BTreeSet;

use super::args::{ManifestsArgs, ManifestsFor};
use super::exit::CliError;
use super::output;
use crate::app;
use crate::certs::{self, CertsError, Pem};
use crate::domain::GroupVersionKind;
use crate::doors::{Interpreter, PodChaperons, Pods, Policies, Works};
use crate::engine::{Interpretation, PolicySet};
use crate::manifests::{
    self, CaBundle, HookUrl, InterpreterHook, PodChaperonsHook, PodsHook, PoliciesHook, WorksHook,
};
use crate::protocol::interpreter::STOCK_KARMADA;

pub(super) fn run(arguments: &ManifestsArgs) -> Result<(), CliError> {
    let path = match arguments.caller {
        ManifestsFor::KarmadaInterpreter => Interpreter::PATH,
        ManifestsFor::KarmadaWorks => Works::PATH,
        ManifestsFor::AdmiraltySource => Pods::PATH,
        ManifestsFor::AdmiraltyTarget => PodChaperons::PATH,
        ManifestsFor::Policies => Policies::PATH,
    };
    let url =
        HookUrl::new(&arguments.url, path).map_err(|error| CliError::Usage(format!("--url: {error}")))?;
    let loaded = app::load(&arguments.policies.policies).map_err(|findings| {
        CliError::Refused(format!("the policies are refused:\n{}", findings.join("\n")))
    })?;
    let ca_bundle = ca_bundle(arguments)
        .map_err(|error| CliError::Refused(format!("--ca-file: {:#}", anyhow::Error::new(error))))?;
    let depends_on_policies =
        !matches!(arguments.caller, ManifestsFor::AdmiraltySource | ManifestsFor::Policies);
    if loaded.built_in && depends_on_policies {
        output::note("no --policy: using the built-in example");
    }
    if ca_bundle.is_none() {
        let who = arguments.caller.who();
        output::note(&format!(
            "no --ca-file: no caBundle, so that {who} trusts the authorities of its system"
        ));
    }
    let yaml = match arguments.caller {
        ManifestsFor::KarmadaInterpreter => {
            let kinds = manifests::kinds(&loaded.policies);
            note_defaults(&kinds, &loaded.policies);
            InterpreterHook { url, ca_bundle, kinds, operations: STOCK_KARMADA }.yaml()
        }
        ManifestsFor::KarmadaWorks => {
            let selected = manifests::selected(&loaded.policies);
            let transformations = loaded.policies.has_transformations();
            if selected.is_empty() && !transformations {
                output::note(
                    "no policy selects anything: only Works that are revised already are sent, to be undone",
                );
            }
            WorksHook { url, ca_bundle, selected, transformations }.yaml()
        }
        ManifestsFor::Policies => PoliciesHook { url, ca_bundle }.yaml(),
        ManifestsFor::AdmiraltySource => PodsHook { url, ca_bundle }.yaml(),
        ManifestsFor::AdmiraltyTarget => {
            let selected = manifests::selected(&loaded.policies);
            PodChaperonsHook { url, ca_bundle, selected }.yaml()
        }
    };
    output::write(yaml.as_bytes())
}

fn ca_bundle(arguments: &ManifestsArgs) -> Result<Option<CaBundle>, CertsError> {
    let Some(path) = &arguments.ca_file else { return Ok(None) };
    let bytes = certs::read_pem(path)?;
    CaBundle::from_pem(Pem { path, bytes: &bytes }).map(Some)
}

/// Karmada asks us, and nobody else, for the replicas of these kinds. One that has none there would not be propagated
/// any more, so its user should hear of it before.
fn note_defaults(kinds: &BTreeSet<GroupVersionKind>, policies: &PolicySet) {
    let assumed = kinds.iter().filter(|gvk| !policies.interpretations.contains_key(gvk));
    let names: Vec<_> = assumed.map(|gvk| format!("{} ({})", gvk.kind, gvk.api_version())).collect();
    if !names.is_empty() {
        output::note(&format!(
            "no ResourceInterpretation for {}: replicas are expected at {}",
            names.join(", "),
            Interpretation::default().replicas
        ));
    }
}
