//! `reviser manifests`.

use std::collections::BTreeSet;

use super::args::{ManifestsArgs, ManifestsFor};
use super::exit::CliError;
use super::output;
use crate::app;
use crate::certs::{self, Pem};
use crate::domain::GroupVersionKind;
use crate::doors::interpreter::STOCK_KARMADA;
use crate::doors::{Interpreter, PodChaperons, Pods, Policies, Works};
use crate::engine::{Interpretation, PolicySet};
use crate::manifests::{
    self, CaBundle, HookUrl, InterpreterHook, PodChaperonsHook, PodsHook, PoliciesHook, WorksHook,
};

pub(super) fn run(arguments: &ManifestsArgs) -> Result<(), CliError> {
    let yaml = match arguments.purpose {
        ManifestsFor::KarmadaInterpreter => {
            let url = url(arguments, Interpreter::PATH)?;
            let policies = policies(arguments)?;
            let ca_bundle = ca_bundle(arguments, "Karmada")?;
            let kinds = manifests::kinds(&policies);
            note_defaults(&kinds, &policies);
            InterpreterHook { url, ca_bundle, kinds, operations: STOCK_KARMADA }.yaml()
        }
        ManifestsFor::KarmadaWorks => {
            let url = url(arguments, Works::PATH)?;
            let policies = policies(arguments)?;
            let ca_bundle = ca_bundle(arguments, "Karmada")?;
            let selected = manifests::selected(&policies);
            let transformations = policies.has_transformations();
            if selected.is_empty() && !transformations {
                output::note(
                    "no policy selects anything: only Works that are already revised are sent, to undo the revision",
                );
            }
            WorksHook { url, ca_bundle, selected, transformations }.yaml()
        }
        ManifestsFor::AdmiraltySource => {
            let url = url(arguments, Pods::PATH)?;
            PodsHook { url, ca_bundle: ca_bundle(arguments, "the source")? }.yaml()
        }
        ManifestsFor::AdmiraltyTarget => {
            let url = url(arguments, PodChaperons::PATH)?;
            let selected = manifests::selected(&policies(arguments)?);
            PodChaperonsHook { url, ca_bundle: ca_bundle(arguments, "the target")?, selected }.yaml()
        }
        ManifestsFor::Policies => {
            let url = url(arguments, Policies::PATH)?;
            PoliciesHook { url, ca_bundle: ca_bundle(arguments, "the API server")? }.yaml()
        }
        ManifestsFor::Crds => manifests::crds(),
    };
    output::write(yaml.as_bytes())
}

fn url(arguments: &ManifestsArgs, path: &'static str) -> Result<HookUrl, CliError> {
    let url = arguments.url.as_deref().unwrap_or_default();
    HookUrl::new(url, path).map_err(|error| CliError::Usage(format!("--url: {error}")))
}

fn policies(arguments: &ManifestsArgs) -> Result<PolicySet, CliError> {
    let loaded = app::load(&arguments.policies.policies).map_err(CliError::refused_policies)?;
    if loaded.built_in {
        output::note("no --policy: using the built-in example");
    }
    Ok(loaded.policies)
}

fn ca_bundle(arguments: &ManifestsArgs, caller: &str) -> Result<Option<CaBundle>, CliError> {
    let Some(path) = &arguments.ca_file else {
        output::note(&format!(
            "no --ca-file: no caBundle, so that {caller} trusts the authorities of its system"
        ));
        return Ok(None);
    };
    let bundle = certs::read_pem(path).and_then(|bytes| CaBundle::from_pem(Pem { path, bytes: &bytes }));
    bundle.map(Some).map_err(|error| CliError::Refused(format!("--ca-file: {:#}", anyhow::Error::new(error))))
}

/// Karmada asks only the webhook for the replicas of these kinds. It would stop propagating an object that
/// has no replicas at the assumed place, so the user is warned before.
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
