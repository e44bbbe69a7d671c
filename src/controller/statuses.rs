//! Writes the `status` of policies.

use std::collections::BTreeMap;
use std::time::{Duration, Instant, SystemTime};

use futures_util::FutureExt as _;
use jiff::Timestamp;
use serde_json::{Value, json};

use super::driver::{Calls, Ended};
use super::planner::WorkCounts;
use super::policies::{Policies, PolicyResource};
use super::status::{Works, change, merged};
use crate::apiserver::{ApiServer, CallError, Kind};
use crate::domain::PolicyKind;
use crate::engine::Owner;

/// The number of writes in flight.
const IN_FLIGHT: usize = 8;

/// How long to wait after a failure.
const AGAIN: Duration = Duration::from_secs(15);

pub(super) type Key = (PolicyKind, String, String);

/// Tracks writes of the `status` of policies.
#[derive(Debug, Default)]
pub(super) struct Statuses {
    written: BTreeMap<Key, Written>,
    in_flight: usize,
    /// Whether a status is still to be written.
    wait: bool,
}

#[derive(Debug, Default)]
struct Written {
    uid: String,
    /// The status after the last write. `None` if it has only been read.
    status: Option<Value>,
    under_way: bool,
    not_before: Option<Instant>,
}

impl Statuses {
    /// Whether a status is still to be written.
    pub(super) fn wait(&self) -> bool {
        self.wait
    }

    /// Starts to write each `status` that has to change.
    pub(super) fn write(
        &mut self,
        now: Instant,
        server: &ApiServer,
        policies: &Policies,
        counts: Option<&BTreeMap<Owner, WorkCounts>>,
        calls: &Calls,
    ) {
        self.wait = false;
        let time = Timestamp::try_from(SystemTime::now()).unwrap_or(Timestamp::MAX);
        let time = format!("{time:.0}");
        for resource in &policies.resources {
            let written = self.written.entry(key(resource)).or_default();
            if written.uid != resource.uid {
                *written = Written { uid: resource.uid.clone(), ..Written::default() };
            }
            let works = match (resource.owner(), counts) {
                (Some(_), _) if !resource.findings.is_empty() => Works::None,
                (Some(owner), Some(counts)) => {
                    Works::Counted(counts.get(&owner).copied().unwrap_or_default())
                }
                (Some(_), None) => Works::Counting,
                (None, _) => Works::None,
            };
            let stored = written.status.as_ref().or(resource.status.as_ref());
            let Some(status) = change(resource, works, stored, &time) else {
                continue;
            };
            let is_too_early = written.under_way || written.not_before.is_some_and(|at| at > now);
            if is_too_early || self.in_flight >= IN_FLIGHT {
                self.wait = true;
                continue;
            }
            written.under_way = true;
            self.in_flight += 1;
            calls.push(patch(server.clone(), key(resource), status).boxed());
        }
        if self.written.len() > policies.resources.len() {
            let keys: std::collections::BTreeSet<_> = policies.resources.iter().map(key).collect();
            self.written.retain(|key, _| keys.contains(key));
        }
    }

    /// A write has ended.
    pub(super) fn written(&mut self, now: Instant, key: &Key, status: &Value, result: Result<(), CallError>) {
        self.in_flight = self.in_flight.saturating_sub(1);
        let Some(written) = self.written.get_mut(key) else { return };
        written.under_way = false;
        match result {
            Ok(()) => {
                written.status = Some(merged(status));
                written.not_before = None;
            }
            Err(error) => {
                if !error.is_not_found() {
                    tracing::warn!(kind = %Kind::from(key.0), namespace = key.1, name = key.2, %error, "the status of a policy could not be written");
                }
                written.not_before = Some(now + AGAIN);
            }
        }
    }
}

async fn patch(server: ApiServer, key: Key, status: Value) -> Ended {
    let (kind, namespace, name) = &key;
    let body = json!({"status": status});
    let stored = server.merge_patch(&Kind::from(*kind), namespace, name, Some("status"), &body).await;
    Ended::Status(key, status, stored)
}

fn key(resource: &PolicyResource) -> Key {
    (resource.kind, resource.namespace.clone(), resource.name.clone())
}
