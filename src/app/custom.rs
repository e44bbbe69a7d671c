//! Policies as custom resources: watched, and put in force when they change.
//!
//! Nothing is in force before all kinds have been read once: a set that lacks what has not been read yet would take revisions
//! back. From then on, what was seen last stays in force while the API server can't be reached.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::time::Duration;

use futures_util::stream::select_all;
use futures_util::{Stream, StreamExt as _};
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;

use super::in_force::InForce;
use crate::apiserver::{ApiServer, Event, Kind, Stored, Watched};
use crate::controller::PolicyResource;
use crate::domain::PolicyKind;
use crate::doors::StoredPolicies;
use crate::json::{Object, Value};
use crate::policy::{self, Seniority};
use crate::server::Check;

/// How long to wait for more changes before a set is compiled: one `kubectl apply` brings many.
const SETTLE: Duration = Duration::from_millis(50);

/// A custom resource, as far as it makes a policy.
#[derive(Clone, Debug)]
struct Document {
    uid: String,
    /// `metadata.generation`: another one means that more than its status or metadata has changed.
    generation: i64,
    /// What it says, without what the API server keeps for itself, and without its status.
    value: Value<'static>,
    /// Its status, as it was seen last.
    status: Option<serde_json::Value>,
}

/// Kind, namespace and name.
type Key = (PolicyKind, String, String);

/// The custom resources of an API server.
#[derive(Debug)]
pub(super) struct CustomPolicies {
    server: ApiServer,
    in_force: InForce,
    documents: BTreeMap<Key, Document>,
    /// What is wrong with those that are out of use.
    faults: BTreeMap<Key, String>,
    kinds: BTreeMap<PolicyKind, Followed>,
    is_synced: Arc<AtomicBool>,
    stored: StoredPolicies,
    metrics: CustomMetrics,
}

/// What is counted of them.
#[derive(Clone, Debug, Default)]
pub(super) struct CustomMetrics {
    out_of_use: Gauge<i64, AtomicI64>,
    unwatched: Gauge<i64, AtomicI64>,
}

impl CustomMetrics {
    /// New ones, registered in `registry`.
    pub(super) fn register(registry: &mut Registry) -> Self {
        let metrics = Self::default();
        let help = "Custom resources that are faulty, so that what they select is refused";
        registry.register("reviser_policies_out_of_use", help, metrics.out_of_use.clone());
        let help = "Kinds of custom resources that can't be watched at the moment, so that older ones may be in force";
        registry.register("reviser_policies_unwatched", help, metrics.unwatched.clone());
        metrics
    }
}

/// How far a kind has been read.
#[derive(Debug, Default)]
struct Followed {
    /// Those that have come since the watch began anew: what is not among them in the end is gone.
    coming: Option<Vec<(String, String)>>,
    is_synced: bool,
    is_failing: bool,
}

impl CustomPolicies {
    /// The custom resources of `server`, to be put in force.
    pub(super) fn new(server: ApiServer, in_force: InForce, metrics: CustomMetrics) -> Self {
        Self {
            server,
            in_force,
            documents: BTreeMap::new(),
            faults: BTreeMap::new(),
            kinds: PolicyKind::ALL.map(|kind| (kind, Followed::default())).into(),
            is_synced: Arc::default(),
            stored: StoredPolicies::default(),
            metrics,
        }
    }

    /// Whether all have been read.
    pub(super) fn check(&self) -> Check {
        let is_synced = Arc::clone(&self.is_synced);
        Check::new("policies", move || {
            let known = is_synced.load(Ordering::Acquire);
            if known { Ok(()) } else { Err("have not been read from the API server yet".to_owned()) }
        })
    }

    /// All of them, as they are told to who asks about another one.
    pub(super) fn stored(&self) -> StoredPolicies {
        Arc::clone(&self.stored)
    }

    /// Watches, for ever.
    pub(super) async fn follow(mut self) {
        let watches = PolicyKind::ALL.map(|kind| {
            self.server.watch(&kind.into(), Watched::Whole).map(move |event| (kind, event)).boxed()
        });
        let mut events = select_all(watches);
        while let Some((kind, event)) = events.next().await {
            let mut changed = self.take(kind, event);
            changed |= self.take_what_follows(&mut events).await;
            if changed && self.kinds.values().all(|kind| kind.is_synced) {
                self.put_in_force();
            }
        }
    }

    /// Takes all that comes before there is a pause.
    async fn take_what_follows(
        &mut self,
        events: &mut (impl Stream<Item = (PolicyKind, Event)> + Unpin),
    ) -> bool {
        let mut changed = false;
        // One that comes all the time does not keep the others waiting for ever.
        for _ in 0..10_000 {
            let Ok(Some((kind, event))) = tokio::time::timeout(SETTLE, events.next()).await else {
                break;
            };
            changed |= self.take(kind, event);
        }
        changed
    }

    /// Takes an event; whether another set comes of it.
    fn take(&mut self, kind: PolicyKind, event: Event) -> bool {
        let followed = self.kinds.entry(kind).or_default();
        if let Event::Failed { problem, not_served, .. } = event {
            if !std::mem::replace(&mut followed.is_failing, true) {
                self.metrics.unwatched.inc();
                let advice = if not_served {
                    "apply the custom resource definitions of reviser, or serve policies from files with --policy"
                } else {
                    "policies that have been read stay in force"
                };
                tracing::warn!(
                    kind = Kind::from(kind).resource(),
                    error = problem,
                    "policies can't be watched; {advice}"
                );
            }
            return false;
        }
        // To begin anew is not to have seen something.
        if !matches!(event, Event::Restarted) && std::mem::take(&mut followed.is_failing) {
            self.metrics.unwatched.dec();
            tracing::info!(kind = Kind::from(kind).resource(), "policies are watched again");
        }
        match event {
            Event::Restarted => {
                followed.coming = Some(Vec::new());
                false
            }
            Event::Applied(stored) => {
                let key = (stored.namespace().to_owned(), stored.name().to_owned());
                if let Some(coming) = &mut followed.coming {
                    coming.push(key.clone());
                }
                self.keep(kind, key, &stored)
            }
            Event::Deleted(stored) => {
                let key = (kind, stored.namespace().to_owned(), stored.name().to_owned());
                self.documents.remove(&key).is_some()
            }
            Event::Synced => {
                let coming = followed.coming.take().unwrap_or_default();
                let is_first = !std::mem::replace(&mut followed.is_synced, true);
                let before = self.documents.len();
                let there: std::collections::BTreeSet<_> = coming.into_iter().collect();
                self.documents.retain(|(other, namespace, name), _| {
                    *other != kind || there.contains(&(namespace.clone(), name.clone()))
                });
                is_first || self.documents.len() != before
            }
            Event::Failed { .. } => false,
        }
    }

    fn keep(&mut self, kind: PolicyKind, (namespace, name): (String, String), stored: &Stored) -> bool {
        let value = match Value::parse(stored.text().as_bytes()) {
            Ok(value) => value.into_owned(),
            Err(error) => {
                // It is an object of an API server: that it nests too deep is all that can be wrong.
                tracing::error!(kind = %Kind::from(kind), namespace, name, %error, "a policy can't be read");
                Value::empty_object()
            }
        };
        let metadata = stored.metadata();
        let status: Option<Status> = serde_json::from_str(stored.text()).ok();
        let document = Document {
            uid: metadata.uid.clone().unwrap_or_default(),
            generation: metadata.generation.unwrap_or_default(),
            value: own(&value),
            status: status.and_then(|Status { status }| status),
        };
        let (uid, generation, value) = (document.uid.clone(), document.generation, document.value.clone());
        let before = self.documents.insert((kind, namespace, name), document);
        before.is_none_or(|before| {
            before.uid != uid || before.generation != generation || before.value != value
        })
    }

    /// Logs each custom resource that is out of use now and was not before, or for something else.
    fn warn(&mut self, documents: &[(Key, Document)], verdicts: &[policy::Verdict]) {
        let mut faults = BTreeMap::new();
        for ((key, _), verdict) in documents.iter().zip(verdicts) {
            let Some(fault) = verdict.faults().next().map(ToString::to_string) else { continue };
            if self.faults.get(key) != Some(&fault) {
                let (kind, namespace, name) = key;
                tracing::warn!(kind = %Kind::from(*kind), namespace, name, error = fault, "a policy is faulty: what it selects is refused");
            }
            faults.insert(key.clone(), fault);
        }
        self.faults = faults;
    }

    fn put_in_force(&mut self) {
        let mut documents: Vec<(Key, Document)> =
            self.documents.iter().map(|(key, document)| (key.clone(), document.clone())).collect();
        documents.sort_by_cached_key(|(_, document)| Seniority::of(&document.value));
        let values: Vec<Value<'static>> =
            documents.iter().map(|(_, document)| document.value.clone()).collect();
        let policy::Admitted { policies, verdicts } = policy::admit(&values);
        let out_of_use = verdicts.iter().filter(|verdict| !verdict.is_in_force()).count();
        self.stored.store(Arc::new(values));
        self.metrics.out_of_use.set(i64::try_from(out_of_use).unwrap_or(i64::MAX));
        tracing::info!(
            documents = documents.len(),
            out_of_use,
            policies = policies.policies.len(),
            "policies read from the API server"
        );
        self.warn(&documents, &verdicts);
        let verdicts = documents.into_iter().zip(verdicts).map(|((key, document), verdict)| {
            let (kind, namespace, name) = key;
            let Document { uid, generation, status, .. } = document;
            PolicyResource {
                kind,
                namespace,
                name,
                uid,
                generation,
                findings: verdict.faults().map(ToString::to_string).collect(),
                warnings: verdict.warnings.iter().map(ToString::to_string).collect(),
                status,
            }
        });
        self.in_force.put(policies, verdicts.collect());
        self.is_synced.store(true, Ordering::Release);
    }
}

#[derive(serde::Deserialize)]
struct Status {
    status: Option<serde_json::Value>,
}

/// What a policy is made of: all but the status, and of the metadata what somebody wrote.
fn own(value: &Value<'static>) -> Value<'static> {
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
