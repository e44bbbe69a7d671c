//! `reviser preview`: the service of `serve`, with objects from files and a ledger in memory.

mod explain;
mod render;
mod table;

use super::args::{PreviewArgs, PreviewFormat};
use super::exit::CliError;
use super::{output, trial};
use crate::app::{self, ParsedObject, TrialObject, TrialObjects};
use crate::documents::Diagnostic;
use crate::domain::{AllocationKey, ClusterName, Failure, Schedule, Workload};
use crate::engine::{IdleTransformation, ObjectSource, PolicySet, Revision, Selection, Trace};
use crate::json::Value;
use crate::service::Service;
use crate::state::memory::MemoryLedger;

struct Preview<'v> {
    object: &'v TrialObject,
    shown: Vec<Shown<'v>>,
}

/// One object in one cluster.
struct Shown<'v> {
    cluster: &'v ClusterName,
    replicas: i64,
    before: &'v Value<'static>,
    revised: Result<Version<'v>, Failure>,
}

struct Version<'v> {
    object: Value<'v>,
    /// The text of the patch.
    patch: String,
    /// The rules that changed something.
    applied: Vec<String>,
    /// The allocations that it hosts.
    hosts: Vec<String>,
    warnings: Vec<String>,
    /// Only for `-o explain`.
    trace: Option<Trace<'v>>,
}

impl<'v> Version<'v> {
    fn of(revised: Revision<'v>) -> Self {
        let Revision { object, applied, hosts, mut warnings, idle, trace, .. } = revised;
        warnings.extend(idle.iter().map(IdleTransformation::to_string));
        let patch = object.patch().to_text();
        Self { object: object.value().clone(), patch, applied, hosts, warnings, trace }
    }
}

pub(super) fn run(arguments: &PreviewArgs) -> Result<(), CliError> {
    let loaded = app::load(&arguments.policies.policies).map_err(CliError::refused_policies)?;
    if loaded.built_in {
        output::note("no --policy: using the built-in example");
    }
    let schedule = trial::schedule(&arguments.trial)?;
    let clusters = shown_clusters(arguments, &schedule)?;
    let TrialObjects { objects, faults, notes } =
        TrialObjects::read(&arguments.trial.filenames, arguments.trial.original.as_deref());
    if !faults.is_empty() {
        return Err(CliError::Refused(Diagnostic::texts(faults).join("\n")));
    }
    for note in &notes {
        output::note(note);
    }
    let ledger = MemoryLedger::with_entries(allocations(arguments, &loaded.policies, &objects)?);
    let clusters_known = trial::known_clusters(&arguments.trial)?;
    let run = Run {
        policies: &loaded.policies,
        service: clusters_known.service(loaded.policies.clone(), ledger),
        schedule: &schedule,
        clusters,
        explain: arguments.output == PreviewFormat::Explain,
    };
    let parsed: Result<Vec<ParsedObject<'_>>, _> = objects.iter().map(TrialObject::parse).collect();
    let parsed = parsed.map_err(CliError::failed)?;
    let runtime = tokio::runtime::Builder::new_current_thread().build().map_err(CliError::failed)?;
    let previews = runtime.block_on(async {
        let mut previews = Vec::new();
        for (object, parsed) in objects.iter().zip(&parsed) {
            previews.push(run.preview(object, parsed).await);
        }
        previews
    });
    let read = previews.iter().filter(|(_, reads)| *reads).map(|(preview, _)| preview.object);
    if let Some(note) = app::without_template(read, arguments.trial.original.as_deref()) {
        output::note(&note);
    }
    print(arguments, &previews.into_iter().map(|(preview, _)| preview).collect::<Vec<_>>())
}

struct Run<'r> {
    policies: &'r PolicySet,
    service: Service,
    schedule: &'r Schedule,
    clusters: Vec<&'r ClusterName>,
    explain: bool,
}

impl<'r> Run<'r> {
    /// Also returns whether a rule reads the object's template.
    async fn preview<'v>(&self, object: &'v TrialObject, parsed: &'v ParsedObject<'_>) -> (Preview<'v>, bool)
    where
        'r: 'v,
    {
        let (workload, root) = (&object.workload, ObjectSource::Text(parsed.object.root()));
        let selection = self.policies.selection(workload, &root);
        if selection.as_ref().is_ok_and(Selection::is_empty) {
            let api_version = workload.gvk.api_version();
            output::note(&format!(
                "no policy selects {workload} ({api_version}): every cluster gets it unchanged"
            ));
        }
        // If this fails, the revision for each cluster fails alike and reports it.
        for unknown in self.service.unknown_targets(workload, &root).await.unwrap_or_default() {
            output::note(&format!("warning: {unknown}"));
        }
        let may_read = selection.is_ok_and(|it| it.policies.iter().any(|policy| policy.needs_original));
        let mut reads_original = false;
        let mut shown = Vec::new();
        for &cluster in &self.clusters {
            let target = parsed.target(cluster, self.schedule);
            let revised = if self.explain {
                self.service.explain(workload, &root, &target).await
            } else {
                self.service.revise(workload, &root, &target).await
            };
            reads_original |= revised.as_ref().map_or(may_read, |revised| revised.reads_original);
            let revised = revised.map(Version::of).map_err(|failure| {
                failure.context(format_args!("{workload} cluster {:?}", cluster.as_str()))
            });
            let replicas = self.schedule.replicas_of(cluster).unwrap_or_default();
            shown.push(Shown { cluster, replicas, before: object.value(), revised });
        }
        (Preview { object, shown }, reads_original)
    }
}

/// The clusters to show, in the order of the schedule.
fn shown_clusters<'s>(
    arguments: &'s PreviewArgs,
    schedule: &'s Schedule,
) -> Result<Vec<&'s ClusterName>, CliError> {
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

/// The initial ledger: the entries of `--allocation` for each object.
fn allocations(
    arguments: &PreviewArgs,
    policies: &PolicySet,
    objects: &[TrialObject],
) -> Result<Vec<(AllocationKey, ClusterName)>, CliError> {
    let mut entries = Vec::new();
    for (name, cluster) in &arguments.allocations {
        if !policies.allocations.contains_key(name) {
            let known: Vec<&str> = policies.allocations.keys().map(String::as_str).collect();
            return Err(CliError::Usage(format!(
                "--allocation: no policy defines {name:?}; defined: {}",
                known.join(", ")
            )));
        }
        let entry = |workload: &Workload| (AllocationKey::new(name, workload), cluster.clone());
        entries.extend(objects.iter().map(|object| entry(&object.workload)));
    }
    Ok(entries)
}

fn print(arguments: &PreviewArgs, previews: &[Preview<'_>]) -> Result<(), CliError> {
    let mut refused = Vec::new();
    for preview in previews {
        let prefix = if previews.len() == 1 {
            String::new()
        } else {
            format!("{}: ", preview.object.workload.qualified_name())
        };
        for revised in preview.shown.iter().map(|shown| &shown.revised) {
            match revised {
                Ok(version) => version
                    .warnings
                    .iter()
                    .for_each(|warning| output::note(&format!("warning: {prefix}{warning}"))),
                Err(failure) => refused.push(format!("{prefix}{}", failure.message())),
            }
        }
    }
    let single = arguments.cluster.is_some();
    if single && !refused.is_empty() {
        return Err(CliError::Refused(refused.join("\nerror: ")));
    }
    let text = match previews {
        [Preview { shown, .. }] => render::object(arguments.output, shown, single),
        several => render::objects(arguments.output, several, single),
    };
    output::write(text.as_bytes())?;
    if refused.is_empty() { Ok(()) } else { Err(CliError::Refused(refused.join("\nerror: "))) }
}
