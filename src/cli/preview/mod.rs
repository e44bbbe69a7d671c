//! `reviser preview`: the same service as the server's, with files for its input and a ledger that is forgotten.

mod explain;
mod render;
mod table;

use std::collections::BTreeMap;
use std::sync::Arc;

use super::args::{ClusterLabel, PreviewArgs, PreviewFormat};
use super::exit::CliError;
use super::output;
use crate::app;
use crate::documents;
use crate::domain::{AllocationKey, ClusterName, Failure, Schedule, Target, Workload};
use crate::engine::{Idle, PolicySet, Trace};
use crate::json::{Text, Value};
use crate::service::{Revised, Service};
use crate::state::ClusterLister;
use crate::state::files::StateFiles;
use crate::state::memory::{MemoryLabels, MemoryLedger};

/// What one cluster would get.
struct Shown<'v> {
    cluster: &'v ClusterName,
    replicas: i64,
    before: &'v Value<'static>,
    revised: Result<Version<'v>, Failure>,
}

/// The version of one cluster.
struct Version<'v> {
    object: Value<'v>,
    /// The text of the patch.
    patch: String,
    /// The rules that changed something.
    applied: Vec<String>,
    /// The allocations that it hosts.
    hosts: Vec<String>,
    /// What the user should know about rules that did less than they say.
    warnings: Vec<String>,
    /// Why it is so, where that was asked for.
    trace: Option<Trace<'v>>,
}

impl<'v> Version<'v> {
    fn of(revised: Revised<'v>) -> Result<Self, Failure> {
        let Revised { object, applied, hosts, mut warnings, idle, trace, .. } = revised;
        warnings.extend(idle.iter().map(Idle::to_string));
        let patch = object.patch()?.to_text();
        Ok(Self { object: object.to_value()?, patch, applied, hosts, warnings, trace })
    }
}

pub(super) fn run(arguments: &PreviewArgs) -> Result<(), CliError> {
    let loaded = app::load(&arguments.policies.policies).map_err(|findings| {
        CliError::Refused(format!("the policies are refused:\n{}", findings.join("\n")))
    })?;
    if loaded.built_in {
        output::note("no --policy: using the built-in example");
    }
    let schedule = Schedule::new(arguments.clusters.clone())
        .map_err(|error| CliError::Usage(format!("--clusters: {error}")))?;
    let clusters = chosen(arguments, &schedule)?;
    let document = documents::read_one(&arguments.filename)
        .map_err(|problem| CliError::Refused(format!("{}: {}", problem.path().display(), problem.cause())))?;
    let object = document.value;
    let workload = Workload::read(&object)
        .map_err(|problem| CliError::Refused(format!("{}: {problem}", arguments.filename.display())))?;
    let text = object.to_string();
    let text = Text::parse(text.as_bytes()).map_err(CliError::failed)?;
    if !loaded.policies.concerns(&workload.gvk, &text.root()) {
        let api_version = workload.gvk.api_version();
        output::note(&format!(
            "no policy selects {workload} ({api_version}): every cluster gets it as it is"
        ));
    }
    let ledger = MemoryLedger::with_entries(allocations(arguments, &loaded.policies, &workload)?);
    let service = with_state(Service::new(loaded.policies, Arc::new(ledger)), arguments)?;
    let runtime = tokio::runtime::Builder::new_current_thread().build().map_err(CliError::failed)?;
    // What an object chooses that does not exist is told of each cluster.
    for unknown in runtime.block_on(service.unknown_targets(&workload, &text.root())).unwrap_or_default() {
        output::note(&format!("warning: {unknown}"));
    }
    let shown: Vec<Shown<'_>> = clusters
        .into_iter()
        .map(|cluster| {
            let replicas = schedule.replicas_of(cluster);
            // The door of PodChaperons knows neither replicas nor a schedule.
            let is_known = !workload.is_chaperon();
            let target = Target {
                cluster: cluster.clone(),
                replicas: replicas.filter(|_| is_known),
                schedule: is_known.then(|| schedule.clone()),
                original: None,
            };
            let revised = runtime.block_on(async {
                match arguments.output {
                    PreviewFormat::Explain => service.explain(&workload, text.root(), &target).await,
                    _ => service.revise(&workload, text.root(), &target).await,
                }
            });
            let revised = revised.and_then(Version::of).map_err(|failure| {
                failure.context(format_args!("{workload} cluster {:?}", cluster.as_str()))
            });
            Shown { cluster, replicas: replicas.unwrap_or_default(), before: &object, revised }
        })
        .collect();
    print(arguments, &shown)
}

/// The service with what the state files and --cluster-labels say.
fn with_state(mut service: Service, arguments: &PreviewArgs) -> Result<Service, CliError> {
    let mut clusters: Option<Arc<dyn ClusterLister>> = None;
    if !arguments.state.is_empty() {
        let files = StateFiles::open(arguments.state.clone()).map_err(|findings| {
            CliError::Refused(format!("the state files are refused:\n{}", findings.join("\n")))
        })?;
        clusters = Some(Arc::new(files.clone()));
        service = service.with_state(Arc::new(files.clone()), Arc::new(files));
    }
    if !arguments.cluster_labels.is_empty() {
        clusters = Some(Arc::new(MemoryLabels::new(labels(&arguments.cluster_labels), clusters)));
    }
    Ok(match clusters {
        Some(clusters) => service.with_clusters(clusters),
        None => service,
    })
}

fn labels(labels: &[ClusterLabel]) -> BTreeMap<ClusterName, BTreeMap<String, String>> {
    let mut clusters: BTreeMap<ClusterName, BTreeMap<String, String>> = BTreeMap::new();
    for ClusterLabel { cluster, key, value } in labels {
        clusters.entry(cluster.clone()).or_default().insert(key.clone(), value.clone());
    }
    clusters
}

/// The clusters to show, in the order of the schedule.
fn chosen<'s>(arguments: &'s PreviewArgs, schedule: &'s Schedule) -> Result<Vec<&'s ClusterName>, CliError> {
    match &arguments.cluster {
        None => Ok(schedule.clusters().iter().map(|entry| &entry.name).collect()),
        Some(cluster) if schedule.lists(cluster) => Ok(vec![cluster]),
        Some(cluster) => {
            let listed: Vec<&str> = schedule.clusters().iter().map(|entry| entry.name.as_str()).collect();
            Err(CliError::Usage(format!(
                "--cluster: {:?} is not one of --clusters: {}",
                cluster.as_str(),
                listed.join(", ")
            )))
        }
    }
}

/// What the ledger is to hold at the beginning.
fn allocations(
    arguments: &PreviewArgs,
    policies: &PolicySet,
    workload: &Workload,
) -> Result<Vec<(AllocationKey, ClusterName)>, CliError> {
    let entry = |(name, cluster): &(String, ClusterName)| {
        if !policies.allocations.contains_key(name) {
            let known: Vec<&str> = policies.allocations.keys().map(String::as_str).collect();
            return Err(CliError::Usage(format!(
                "--allocation: no policy defines {name:?}; defined: {}",
                known.join(", ")
            )));
        }
        Ok((AllocationKey::new(name, workload), cluster.clone()))
    };
    arguments.allocations.iter().map(entry).collect()
}

fn print(arguments: &PreviewArgs, shown: &[Shown<'_>]) -> Result<(), CliError> {
    let single = arguments.cluster.is_some();
    for version in shown.iter().filter_map(|shown| shown.revised.as_ref().ok()) {
        version.warnings.iter().for_each(|warning| output::note(&format!("warning: {warning}")));
    }
    let refused: Vec<String> =
        shown.iter().filter_map(|shown| shown.revised.as_ref().err()).map(Failure::message).collect();
    if single && !refused.is_empty() {
        return Err(CliError::Refused(refused.join("\n")));
    }
    let text = match (arguments.output, shown) {
        (PreviewFormat::Diff, _) => render::diff(shown, output::colour_on_stdout()),
        (PreviewFormat::Explain, _) => explain::explain(shown, output::colour_on_stdout()),
        (PreviewFormat::Yaml, [one]) if single => render::yaml_object(one),
        (PreviewFormat::Yaml, _) => render::yaml(shown),
        (PreviewFormat::Json, [one]) if single => render::json_object(one),
        (PreviewFormat::Json, _) => render::json(shown),
        (PreviewFormat::Patch, [one]) if single => render::patch(one),
        (PreviewFormat::Patch, _) => render::patches(shown),
    };
    output::write(text.as_bytes())?;
    if refused.is_empty() { Ok(()) } else { Err(CliError::Refused(refused.join("\nerror: "))) }
}
