//! Watches policies that are custom resources, and activates them when they change.
//!
//! No policy is active before all kinds have been listed once: a partial set would undo revisions. After
//! that, the policies seen last stay active while the API server can't be reached.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::time::Duration;

use futures_util::stream::select_all;
use futures_util::{Stream, StreamExt as _};
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;

use super::active_policies::ActivePolicies;
use crate::apiserver::{ApiServer, Event, Kind, ObjectKey, Stored};
use crate::controller::PolicyResource;
use crate::domain::PolicyKind;
use crate::doors::StoredPolicies;
use crate::json::{Object, Value};
use crate::policy::{self, Seniority};
use crate::server::Check;

/// How long to wait for more changes before compiling a set: one `kubectl apply` makes many.
const SETTLE: Duration = Duration::from_millis(50);

#[derive(Clone, Debug)]
struct Document {
    uid: String,
    /// `metadata.generation` changes when anything but `metadata` and `status` changes.
    generation: i64,
    /// Without `status`, and without the `metadata` that the API server sets.
    value: Value<'static>,
    status: Option<serde_json::Value>,
}

type Key = (PolicyKind, ObjectKey);

#[derive(Debug)]
pub(super) struct CustomPolicies {
    server: ApiServer,
    active: ActivePolicies,
    documents: BTreeMap<Key, Document>,
    /// The first fault of each document that is out of use.
    faults: BTreeMap<Key, String>,
    kinds: BTreeMap<PolicyKind, Followed>,
    is_synced: Arc<AtomicBool>,
    stored: StoredPolicies,
    metrics: CustomMetrics,
}

#[derive(Clone, Debug, Default)]
pub(super) struct CustomMetrics {
    out_of_use: Gauge<i64, AtomicI64>,
    unwatched: Gauge<i64, AtomicI64>,
}

impl CustomMetrics {
    pub(super) fn register(registry: &mut Registry) -> Self {
        let metrics = Self::default();
        let help = "Custom resources that are faulty, so that what they select is refused";
        registry.register("reviser_policies_out_of_use", help, metrics.out_of_use.clone());
        let help =
            "Kinds of custom resources that can't be watched at the moment, so that older ones may be active";
        registry.register("reviser_policies_unwatched", help, metrics.unwatched.clone());
        metrics
    }
}

/// How far a kind has been read.
#[derive(Debug, Default)]
struct Followed {
    is_synced: bool,
    is_failing: bool,
}

impl CustomPolicies {
    pub(super) fn new(server: ApiServer, active: ActivePolicies, metrics: CustomMetrics) -> Self {
        Self {
            server,
            active,
            documents: BTreeMap::new(),
            faults: BTreeMap::new(),
            kinds: PolicyKind::ALL.map(|kind| (kind, Followed::default())).into(),
            is_synced: Arc::default(),
            stored: StoredPolicies::default(),
            metrics,
        }
    }

    /// Fails until all kinds have been listed.
    pub(super) fn check(&self) -> Check {
        let is_synced = Arc::clone(&self.is_synced);
        Check::new("policies", move || {
            let known = is_synced.load(Ordering::Acquire);
            if known { Ok(()) } else { Err("have not been read from the API server yet".to_owned()) }
        })
    }

    /// The documents, for the door that validates policies.
    pub(super) fn stored(&self) -> StoredPolicies {
        Arc::clone(&self.stored)
    }

    /// Never ends.
    pub(super) async fn follow(mut self) {
        let watches = PolicyKind::ALL
            .map(|kind| self.server.watch(&kind.into()).map(move |event| (kind, event)).boxed());
        let mut events = select_all(watches);
        while let Some((kind, event)) = events.next().await {
            let mut changed = self.take(kind, event);
            changed |= self.take_pending(&mut events).await;
            if changed && self.kinds.values().all(|kind| kind.is_synced) {
                self.activate();
            }
        }
    }

    /// Takes events until none arrives for [`SETTLE`].
    async fn take_pending(&mut self, events: &mut (impl Stream<Item = (PolicyKind, Event)> + Unpin)) -> bool {
        let mut changed = false;
        // Bounded, so that steady changes do not postpone activation forever.
        for _ in 0..10_000 {
            let Ok(Some((kind, event))) = tokio::time::timeout(SETTLE, events.next()).await else {
                break;
            };
            changed |= self.take(kind, event);
        }
        changed
    }

    /// Returns whether the documents have changed.
    fn take(&mut self, kind: PolicyKind, event: Event) -> bool {
        let followed = self.kinds.entry(kind).or_default();
        if let Event::Failed { problem, not_served, .. } = event {
            if !std::mem::replace(&mut followed.is_failing, true) {
                self.metrics.unwatched.inc();
                let advice = if not_served {
                    "apply the custom resource definitions of reviser, or serve policies from files with --policy"
                } else {
                    "the policies read so far stay active"
                };
                tracing::warn!(
                    kind = Kind::from(kind).resource(),
                    error = problem,
                    "failed to watch policies; {advice}"
                );
            }
            return false;
        }
        if std::mem::take(&mut followed.is_failing) {
            self.metrics.unwatched.dec();
            tracing::info!(kind = Kind::from(kind).resource(), "watching policies again");
        }
        match event {
            Event::Applied(stored) => self.keep(kind, &stored),
            Event::Deleted(key) => self.documents.remove(&(kind, key)).is_some(),
            Event::Synced => !std::mem::replace(&mut followed.is_synced, true),
            Event::Failed { .. } => false,
        }
    }

    fn keep(&mut self, kind: PolicyKind, stored: &Stored) -> bool {
        let key = ObjectKey::of(stored);
        let value = match Value::parse(stored.text().as_bytes()) {
            Ok(value) => value.into_owned(),
            Err(error) => {
                // An API server sends valid JSON: it can only be nested too deeply.
                let ObjectKey { namespace, name } = &key;
                tracing::error!(kind = %Kind::from(kind), namespace, name, %error, "failed to read a policy");
                Value::empty_object()
            }
        };
        let metadata = stored.metadata();
        let status: Option<Status> = serde_json::from_str(stored.text()).ok();
        let document = Document {
            uid: metadata.uid.clone().unwrap_or_default(),
            generation: metadata.generation.unwrap_or_default(),
            value: user_fields(&value),
            status: status.and_then(|Status { status }| status),
        };
        let (uid, generation, value) = (document.uid.clone(), document.generation, document.value.clone());
        let before = self.documents.insert((kind, key), document);
        before.is_none_or(|before| {
            before.uid != uid || before.generation != generation || before.value != value
        })
    }

    /// Logs each custom resource whose fault is new.
    fn log_faults(&mut self, documents: &[(Key, Document)], reports: &[policy::DocumentReport]) {
        let mut faults = BTreeMap::new();
        for ((key, _), report) in documents.iter().zip(reports) {
            let Some(fault) = report.errors().next().map(ToString::to_string) else { continue };
            if self.faults.get(key) != Some(&fault) {
                let (kind, ObjectKey { namespace, name }) = key;
                tracing::warn!(kind = %Kind::from(*kind), namespace, name, error = fault, "policy is faulty: objects that it selects are refused");
            }
            faults.insert(key.clone(), fault);
        }
        self.faults = faults;
    }

    fn activate(&mut self) {
        let mut documents: Vec<(Key, Document)> =
            self.documents.iter().map(|(key, document)| (key.clone(), document.clone())).collect();
        documents.sort_by_cached_key(|(_, document)| Seniority::of(&document.value));
        let values: Vec<Value<'static>> =
            documents.iter().map(|(_, document)| document.value.clone()).collect();
        let policy::Admitted { policies, reports } = policy::admit(&values);
        let out_of_use = reports.iter().filter(|report| !report.is_active()).count();
        self.stored.store(Arc::new(values));
        self.metrics.out_of_use.set(i64::try_from(out_of_use).unwrap_or(i64::MAX));
        tracing::info!(
            documents = documents.len(),
            out_of_use,
            policies = policies.policies.len(),
            "policies read from the API server"
        );
        self.log_faults(&documents, &reports);
        let reports = documents.into_iter().zip(reports).map(|((key, document), report)| {
            let (kind, ObjectKey { namespace, name }) = key;
            let Document { uid, generation, status, .. } = document;
            PolicyResource {
                kind,
                namespace,
                name,
                uid,
                generation,
                findings: report.errors().map(ToString::to_string).collect(),
                warnings: report.warnings.iter().map(ToString::to_string).collect(),
                status,
            }
        });
        self.active.replace(policies, reports.collect());
        self.is_synced.store(true, Ordering::Release);
    }
}

#[derive(serde::Deserialize)]
struct Status {
    status: Option<serde_json::Value>,
}

/// The document without its status and without the metadata that the API server sets.
fn user_fields(value: &Value<'static>) -> Value<'static> {
    const METADATA: [&str; 4] = ["creationTimestamp", "name", "namespace", "deletionTimestamp"];
    let Some(object) = value.as_object() else { return value.clone() };
    let members = object.iter().filter(|(name, _)| *name != "status").map(|(name, member)| {
        let member = match member.as_object().filter(|_| name == "metadata") {
            Some(metadata) => {
                let kept = metadata.iter().filter(|(name, _)| METADATA.contains(name));
                Value::Object(
                    kept.map(|(name, value)| (name.to_owned(), value.clone())).collect::<Object<'_>>(),
                )
            }
            None => member.clone(),
        };
        (name.to_owned(), member)
    });
    Value::Object(members.collect::<Object<'_>>())
}
