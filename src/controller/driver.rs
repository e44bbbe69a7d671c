//! Watches Works and bindings, and executes the decisions of [`Planner`].

use std::collections::{BTreeMap, BTreeSet};
use std::future::pending;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::future::BoxFuture;
use futures_util::stream::FuturesUnordered;
use futures_util::{FutureExt as _, StreamExt as _};
use serde_json::json;
use tokio::sync::watch;

use super::metrics::ControllerMetrics;
use super::planner::{Moment, Next, ObservedWork, Planner, RateLimits, Scope, TouchOutcome, WorkName};
use super::policies::Policies;
use super::statuses::Statuses;
use crate::apiserver::{ApiServer, CallError, Event, Kind, ObjectKey, Stored, StoredMetadata};
use crate::domain::{BindingName, Code, Failure, allocation_annotation, annotated_allocation};
use crate::doors::{WorkReview, review_work};
use crate::json::Text;
use crate::service::{Service, SyncState, SyncStatus};

/// The shortest time between two progress reports.
const REPORT: Duration = Duration::from_secs(1);

/// How long Works may be out of sync before the log names some of them.
const LONG: Duration = Duration::from_mins(1);
const EXAMPLES: usize = 3;

pub(super) enum Ended {
    /// `true` if the webhook would have changed the Work, but was not called.
    Touch(WorkName, Result<(Stored, bool), CallError>),
    Clear(BindingName, Result<Stored, CallError>),
    Status(super::statuses::Key, serde_json::Value, Result<Stored, CallError>),
}

pub(super) type Calls = FuturesUnordered<BoxFuture<'static, Ended>>;

struct Driver<'d> {
    server: &'d ApiServer,
    service: &'d Arc<Service>,
    metrics: &'d ControllerMetrics,
    start: Instant,
    policies: Arc<Policies>,
    planner: Planner,
    calls: Calls,
    statuses: Statuses,
    report: Report,
    /// The kinds whose watch fails.
    failing_watches: BTreeSet<String>,
    /// Whether touches fail because of the API server or missing permissions, and not because of one Work.
    is_troubled: bool,
}

/// The state of progress reports.
#[derive(Default)]
struct Report {
    /// Whether something has changed since the last report.
    outdated: bool,
    /// The earliest time of the next report.
    at: Option<Instant>,
    /// Since when Works are out of sync, and the number of touches since then.
    busy_since: Option<(Instant, u64)>,
    /// Whether the log has named Works that are out of sync for too long.
    told_long: bool,
    /// Whether the log has reported Works that are stored without a call of the webhook.
    reported_bypassed: bool,
}

/// Runs the elected replica until the future is dropped.
pub(super) async fn drive(
    server: &ApiServer,
    service: &Arc<Service>,
    mut policies: watch::Receiver<Arc<Policies>>,
    metrics: &ControllerMetrics,
) {
    let mut driver = Driver {
        server,
        service,
        metrics,
        start: Instant::now(),
        policies: Arc::clone(&policies.borrow_and_update()),
        planner: Planner::new(RateLimits::default()),
        calls: FuturesUnordered::new(),
        statuses: Statuses::default(),
        report: Report::default(),
        failing_watches: BTreeSet::new(),
        is_troubled: false,
    };
    driver.begin_epoch();
    let mut works = server.watch(&Kind::WORK);
    let mut bindings = server.watch_metadata(&Kind::RESOURCE_BINDING);
    let mut cluster_bindings = server.watch_metadata(&Kind::CLUSTER_RESOURCE_BINDING);
    loop {
        let wake = driver.act();
        tokio::select! {
            Some(event) = works.next() => driver.work(event),
            Some(event) = bindings.next() => driver.binding(Scope::Namespace, event),
            Some(event) = cluster_bindings.next() => driver.binding(Scope::Cluster, event),
            Some(ended) = driver.calls.next() => driver.ended(ended),
            Ok(()) = policies.changed() => {
                let now = Arc::clone(&policies.borrow_and_update());
                if driver.take(now) {
                    works = server.watch(&Kind::WORK);
                }
            }
            () = sleep_until(wake) => {}
        }
    }
}

async fn sleep_until(wake: Option<Instant>) {
    match wake {
        Some(wake) => tokio::time::sleep_until(wake.into()).await,
        None => pending().await,
    }
}

impl Driver<'_> {
    fn now(&self) -> Moment {
        Moment(self.start.elapsed())
    }

    /// Starts what is due. Returns when something may be due again.
    fn act(&mut self) -> Option<Instant> {
        let wake = loop {
            match self.planner.next(self.now()) {
                Next::Touch(name) => self.touch(name),
                Next::Clear { binding, version, allocations } => self.clear(binding, &version, &allocations),
                Next::Wait(at) => break at.map(|at| self.start + at.0),
            }
        };
        let report = self.report();
        [wake, report].into_iter().flatten().min()
    }

    fn touch(&mut self, name: WorkName) {
        let (server, service, policies) =
            (self.server.clone(), Arc::clone(self.service), Arc::clone(&self.policies));
        let call = async move {
            let WorkName { namespace, name: work } = &name;
            let touched = match server.merge_patch(&Kind::WORK, namespace, work, None, &json!({})).await {
                Ok(stored) => {
                    let passed_by = is_passed_by(&service, &policies, &stored).await;
                    Ok((stored, passed_by))
                }
                Err(error) => Err(error),
            };
            Ended::Touch(name, touched)
        };
        self.calls.push(call.boxed());
    }

    fn clear(&mut self, binding: BindingName, version: &str, allocations: &[String]) {
        let annotations: serde_json::Map<String, serde_json::Value> =
            allocations.iter().map(|name| (allocation_annotation(name), serde_json::Value::Null)).collect();
        let body = json!({"metadata": {"resourceVersion": version, "annotations": annotations}});
        tracing::info!(%binding, allocations = allocations.join(","), "no policy names these allocations any more: they are taken out of the ledger");
        let server = self.server.clone();
        let call = async move {
            let (kind, namespace) = match &binding.namespace {
                Some(namespace) => (Kind::RESOURCE_BINDING, namespace.as_str()),
                None => (Kind::CLUSTER_RESOURCE_BINDING, ""),
            };
            let stored = server.merge_patch(&kind, namespace, &binding.name, None, &body).await;
            Ended::Clear(binding, stored)
        };
        self.calls.push(call.boxed());
    }

    fn ended(&mut self, ended: Ended) {
        let now = self.now();
        if let (Ended::Touch(..), Some((_, touches))) = (&ended, &mut self.report.busy_since) {
            *touches += 1;
        }
        match ended {
            Ended::Touch(name, Ok((stored, passed_by))) => {
                self.metrics.count_touch(if passed_by { "unasked" } else { "done" });
                self.is_troubled = false;
                let seen = Box::new(self.seen(&stored));
                let outcome =
                    if passed_by { TouchOutcome::Bypassed(seen) } else { TouchOutcome::Revised(seen) };
                self.planner.touched(now, &name, outcome);
            }
            Ended::Touch(name, Err(error)) => {
                // A forbidden touch is a missing permission of the controller, and not the fault of this
                // Work.
                let is_its_own = (error.is_refusal() || error.is_conflict()) && !error.is_forbidden();
                self.metrics.count_touch(if is_its_own { "refused" } else { "failed" });
                // An error of the API server is logged once, until a touch succeeds again.
                if is_its_own || !std::mem::replace(&mut self.is_troubled, true) {
                    tracing::warn!(work = %name, %error, "a Work could not be revised again; it is tried again later");
                }
                let outcome = if is_its_own { TouchOutcome::Rejected } else { TouchOutcome::ServerError };
                self.planner.touched(now, &name, outcome);
            }
            Ended::Clear(binding, result) => {
                if let Err(error) = &result {
                    tracing::info!(%binding, %error, "the ledger could not be cleared; it is tried again later");
                }
                self.planner.cleared(now, &binding, result.is_ok());
            }
            Ended::Status(key, status, result) => {
                self.statuses.written(Instant::now(), &key, &status, result.map(drop));
            }
        }
        self.report.outdated = true;
    }

    fn seen(&self, stored: &Stored) -> ObservedWork {
        let metadata = stored.metadata();
        let sync = Text::parse(stored.text().as_bytes())
            .ok()
            .and_then(|text| SyncState::of(&self.policies.set, stored.namespace(), text.root()));
        ObservedWork {
            uid: metadata.uid.clone().unwrap_or_default(),
            version: stored.resource_version().parse().ok(),
            generation: metadata.generation.unwrap_or_default(),
            deleting: metadata.deletion_timestamp.is_some(),
            sync,
        }
    }

    fn work(&mut self, event: Event) {
        let now = self.now();
        self.log_watch(&Kind::WORK, &event);
        match event {
            Event::Applied(stored) => {
                let seen = self.seen(&stored);
                self.planner.applied(now, &name_of(&stored), seen);
            }
            Event::Synced => self.planner.synced(now),
            Event::Deleted(ObjectKey { namespace, name }) => {
                self.planner.deleted(now, &WorkName { namespace, name });
            }
            Event::Failed { .. } => return,
        }
        self.report.outdated = true;
    }

    fn binding(&mut self, scope: Scope, event: Event<StoredMetadata>) {
        let now = self.now();
        let kind = match scope {
            Scope::Namespace => Kind::RESOURCE_BINDING,
            Scope::Cluster => Kind::CLUSTER_RESOURCE_BINDING,
        };
        self.log_watch(&kind, &event);
        let name = |ObjectKey { namespace, name }| BindingName {
            namespace: (scope == Scope::Namespace).then_some(namespace),
            name,
        };
        match event {
            Event::Applied(binding) => {
                let version = binding.metadata.resource_version.clone().unwrap_or_default();
                let entries = ledger_entries(binding.metadata.annotations.iter().flatten());
                self.planner.binding(now, &name(ObjectKey::of(&binding)), version, entries);
            }
            Event::Synced => self.planner.bindings_synced(now, scope),
            Event::Deleted(key) => self.planner.binding_deleted(now, &name(key)),
            Event::Failed { .. } => {}
        }
    }

    /// Logs once that a watch fails, and once that it works again.
    fn log_watch<K>(&mut self, kind: &Kind, event: &Event<K>) {
        let kind = kind.to_string();
        if let Event::Failed { problem, .. } = event {
            if self.failing_watches.insert(kind.clone()) {
                tracing::warn!(%kind, error = %problem, "can't be watched; it is tried again");
            }
        } else if self.failing_watches.remove(&kind) {
            tracing::info!(%kind, "is watched again");
        }
    }

    /// Replaces the active policies. Returns whether Works have to be listed again.
    fn take(&mut self, policies: Arc<Policies>) -> bool {
        let differ = self.policies.differ(&policies);
        let allocations_differ = self.policies.allocations() != policies.allocations();
        self.policies = policies;
        self.report.outdated = true;
        if differ || allocations_differ {
            self.begin_epoch();
        }
        differ || allocations_differ
    }

    fn begin_epoch(&mut self) {
        self.planner.begin_epoch(self.now(), self.policies.allocations());
        self.report.outdated = true;
    }

    /// Reports progress if a report is due, else returns when it is due.
    fn report(&mut self) -> Option<Instant> {
        if !self.report.outdated && !self.statuses.wait() {
            return None;
        }
        let now = Instant::now();
        if let Some(at) = self.report.at.filter(|at| *at > now) {
            return Some(at);
        }
        self.report.at = Some(now + REPORT);
        self.report.outdated = false;
        let counts = self.planner.work_counts();
        let is_listed = counts.is_some();
        let counts: Option<BTreeMap<_, _>> =
            counts.map(|counts| counts.into_iter().map(|(owner, counts)| (owner.clone(), counts)).collect());
        self.statuses.write(now, self.server, &self.policies, counts.as_ref(), &self.calls);
        let stale = self.planner.stale();
        self.metrics.set_stale(stale);
        self.report_bypassed();
        match self.report.busy_since {
            Some((since, _)) if stale > 0 && since.elapsed() > LONG && !self.report.told_long => {
                self.report.told_long = true;
                let examples: Vec<String> = self.planner.examples().take(EXAMPLES).map(example).collect();
                tracing::warn!(
                    works = stale,
                    examples = examples.join("; "),
                    "Works are still not as the policies say"
                );
            }
            None if stale > 0 && is_listed => {
                tracing::info!(works = stale, "Works are not as the policies say");
                self.report.busy_since = Some((now, 0));
            }
            Some((since, touches)) if stale == 0 && is_listed => {
                let seconds = since.elapsed().as_secs_f64();
                tracing::info!(touches, seconds, "all Works are as the policies say");
                self.report.busy_since = None;
                self.report.told_long = false;
            }
            _ => {}
        }
        let long = self.report.busy_since.filter(|_| !self.report.told_long).map(|(since, _)| since + LONG);
        if self.statuses.wait() { Some(now + REPORT) } else { long }
    }

    /// Logs once that Works are stored without a call of the webhook, and once that this is over.
    fn report_bypassed(&mut self) {
        let works = self.planner.bypassed().count();
        let is_news = (works > 0) != self.report.reported_bypassed;
        self.report.reported_bypassed = works > 0;
        match self.planner.bypassed().next() {
            Some(example) if is_news => tracing::warn!(
                works,
                %example,
                "Works are stored without reviser being asked; apply the output of `reviser manifests --for karmada-works` that fits the policies"
            ),
            None if is_news => tracing::info!("reviser is asked about all Works that concern it"),
            _ => {}
        }
    }
}

/// Whether a touched Work has no record although the webhook would have given it one or denied the touch.
async fn is_passed_by(service: &Service, policies: &Policies, stored: &Stored) -> bool {
    let Ok(text) = Text::parse(stored.text().as_bytes()) else { return false };
    let sync = SyncState::of(&policies.set, stored.namespace(), text.root());
    if !sync.is_some_and(|sync| sync.status == SyncStatus::Unrecorded) {
        return false;
    }
    let review =
        WorkReview { namespace: stored.namespace(), object: text.root(), stored: None, dry_run: true };
    let outcome = review_work(service, review, None).await;
    match outcome.result {
        Ok(patch) => !patch.0.is_empty(),
        Err(failure) => matches!(failure.code(), Code::Unprocessable | Code::Unscheduled),
    }
}

/// A Work that is out of sync, and why if that is known.
fn example((name, failure): (&WorkName, Option<&Failure>)) -> String {
    match failure {
        Some(failure) => format!("{name}: {}", failure.message()),
        None => name.to_string(),
    }
}

fn name_of(stored: &Stored) -> WorkName {
    WorkName { namespace: stored.namespace().to_owned(), name: stored.name().to_owned() }
}

/// The entries of the ledger in the annotations of a binding.
fn ledger_entries<'a>(
    annotations: impl Iterator<Item = (&'a String, &'a String)>,
) -> BTreeMap<String, String> {
    let entry =
        |(key, cluster): (&String, &String)| Some((annotated_allocation(key)?.to_owned(), cluster.clone()));
    annotations.filter_map(entry).collect()
}
