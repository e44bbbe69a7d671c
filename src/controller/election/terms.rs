//! Decides who holds the lease, from the observed lease and the time of observation.
//!
//! The rules are those of client-go. The clocks of other replicas do not matter: a lease expires when it has
//! not changed for its duration by the local clock. The holder gives up at the renew deadline, counted from
//! the start of its last successful write. That is before another replica may take the lease.

use std::time::Duration;

use serde_json::{Value, json};

use crate::controller::planner::Moment;

/// Options of the election.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ElectionOptions {
    /// The namespace that the lease is in.
    pub namespace: String,
    /// Its name.
    pub name: String,
    /// The identity of this replica. It must be unique.
    pub identity: String,
    /// `leaseDuration`: how long other replicas wait after the last renewal.
    pub lease_duration: Duration,
    /// `renewDeadline`: how long the holder goes on without a renewal. Less than `lease_duration`.
    pub renew_deadline: Duration,
    /// `retryPeriod`: the time between two attempts. Less than `renew_deadline`.
    pub retry_period: Duration,
}

/// A lease, as it is stored.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Lease {
    /// The identity of the holder. Empty if the lease was released.
    pub(super) holder: String,
    pub(super) duration: Duration,
    /// `acquireTime`, unparsed.
    pub(super) acquired: String,
    /// `renewTime`, unparsed.
    pub(super) renewed: String,
    pub(super) transitions: i64,
    pub(super) version: String,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Move {
    /// Create the lease with this `spec`.
    Create(Value),
    /// Write this `spec`, provided that the `resourceVersion` is unchanged.
    Write(String, Value),
    /// Another replica holds the lease.
    Wait,
}

/// What a replica has observed of the lease.
#[derive(Debug, Default)]
pub(super) struct Candidate {
    seen: Option<(Lease, Moment)>,
    /// The start of the last write that made this replica the holder.
    held_since: Option<Moment>,
}

impl Lease {
    /// Reads the lease in an object. A lease without a holder counts as released.
    pub(super) fn read(object: &Value, version: &str) -> Self {
        let spec = &object["spec"];
        let text = |name: &str| spec[name].as_str().unwrap_or_default().to_owned();
        Self {
            holder: text("holderIdentity"),
            duration: Duration::from_secs(spec["leaseDurationSeconds"].as_u64().unwrap_or_default()),
            acquired: text("acquireTime"),
            renewed: text("renewTime"),
            transitions: spec["leaseTransitions"].as_i64().unwrap_or_default(),
            version: version.to_owned(),
        }
    }
}

impl Candidate {
    /// Decides what to do about the observed lease. `time` is the time of the system clock, which is only
    /// written.
    pub(super) fn see(
        &mut self,
        options: &ElectionOptions,
        now: Moment,
        time: &str,
        lease: Option<Lease>,
    ) -> Move {
        let seconds = options.lease_duration.as_secs();
        let spec = |acquired: &str, transitions: i64| {
            json!({
                "holderIdentity": options.identity,
                "leaseDurationSeconds": seconds,
                "acquireTime": acquired,
                "renewTime": time,
                "leaseTransitions": transitions,
            })
        };
        let Some(lease) = lease else {
            self.seen = None;
            self.held_since = None;
            return Move::Create(spec(time, 0));
        };
