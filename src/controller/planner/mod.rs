//! Decides which Works to touch when.
//!
//! Pure: events and the time are arguments, and [`Planner::next`] returns the next action. Level-triggered:
//! decisions follow from the known state of Works and bindings, so a lost event only delays them.
//!
//! A Work is touched
//!
//! * when its record is of other policies than those that select it;
//! * once for each generation and each set of policies when a policy selects it and it has no record;
//! * when an allocation has no host and the Work may become its host (see `handover`).
//!
//! A Work is not touched while it is being deleted, while a touch of it is in flight, while its sync status
//! is unknown, and before all Works have been listed under the active policies. Failed touches are repeated
//! with exponential backoff.

mod handover;
mod queue;
mod rate_limiter;
mod tracked;

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::time::Duration;

use crate::domain::{BindingName, Failure};
use crate::engine::Owner;
use crate::service::{SyncState, SyncStatus};

use handover::Group;
use queue::{Job, Queue};
use rate_limiter::{Permit, RateLimiter};
use tracked::TrackedWork;

pub use handover::Scope;
pub use rate_limiter::{Moment, RateLimits};

/// How long to wait after a change of policies before Works are touched. Other replicas may answer the
/// touches, and need the new policies too.
const SETTLE: Duration = Duration::from_secs(1);

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WorkName {
    /// The execution namespace of its cluster.
    pub namespace: String,
    pub name: String,
}

impl fmt::Display for WorkName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.namespace, self.name)
    }
}

/// An observed Work, and its sync state under the policies of the epoch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObservedWork {
    /// `metadata.uid`
    pub uid: String,
    /// `metadata.resourceVersion`, if it is a number. Older observations are ignored.
    pub version: Option<u64>,
    /// `metadata.generation`
    pub generation: i64,
    /// Whether it has a `metadata.deletionTimestamp`.
    pub deleting: bool,
    /// `None` if no policy concerns it.
    pub sync: Option<SyncState>,
}

/// The outcome of a touch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TouchOutcome {
    /// The Work was stored after a call of the webhook.
    Revised(Box<ObservedWork>),
    /// The Work was stored without a call of the webhook, which would have changed it.
    Bypassed(Box<ObservedWork>),
    /// The API server or the webhook refused this touch.
    Rejected,
    /// The API server could not be reached, or failed.
    ServerError,
}

/// What to do next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Next {
    /// Touch this Work, then call [`Planner::touched`].
    Touch(WorkName),
    /// Remove these allocations from the ledger, then call [`Planner::cleared`].
    Clear {
        /// The binding that has them in its annotations.
        binding: BindingName,
        /// Its `resourceVersion`, as a precondition.
        version: String,
        /// The allocations.
        allocations: Vec<String>,
    },
    /// Nothing before this moment or the next event.
    Wait(Option<Moment>),
}

/// The allocations of a set of policies.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Allocations {
    /// The allocations whose handover ends with time.
    pub timed: BTreeSet<String>,
    /// All defined allocations. `None` if a policy is invalid.
    pub defined: Option<BTreeSet<String>>,
}

/// How many Works a policy selects.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WorkCounts {
    /// All selected Works.
    pub total: usize,
    /// The selected Works that are in sync.
    pub current: usize,
}

/// All Works that policies concern.
#[derive(Debug)]
pub struct Planner {
    works: BTreeMap<WorkName, TrackedWork>,
    groups: BTreeMap<BindingName, Group>,
    queue: Queue,
    rate_limiter: RateLimiter,
    /// Touches that have not been answered, each with the epoch in which it was decided.
    under_way: BTreeMap<WorkName, u64>,
    epoch: u64,
    /// When touches under the policies of this epoch may begin.
    epoch_from: Moment,
    allocations: Allocations,
    /// Whether all Works have been listed under these policies.
    works_listed: bool,
    /// The Works of earlier epochs that the watch has not reported in this one.
    unlisted: BTreeSet<WorkName>,
    /// Whether all bindings have been listed, by [`Scope`].
    bindings_listed: [bool; 2],
    bypassed: BTreeSet<WorkName>,
}

impl Planner {
    pub fn new(limits: RateLimits) -> Self {
        Self {
            works: BTreeMap::new(),
            groups: BTreeMap::new(),
            queue: Queue::default(),
            rate_limiter: RateLimiter::new(limits),
            under_way: BTreeMap::new(),
            epoch: 0,
            epoch_from: Moment::default(),
            allocations: Allocations::default(),
            unlisted: BTreeSet::new(),
            works_listed: false,
            bindings_listed: [false; 2],
            bypassed: BTreeSet::new(),
        }
    }

    /// Other policies are active. The caller then lists all Works again, judged by these policies.
    pub fn begin_epoch(&mut self, now: Moment, allocations: Allocations) {
        self.epoch += 1;
        self.epoch_from = now.after(SETTLE);
        self.allocations = allocations;
        self.works_listed = false;
        self.unlisted = self.works.keys().cloned().collect();
    }

    /// The list of all Works is complete. A Work of an earlier epoch that is not in the list is gone.
    pub fn synced(&mut self, now: Moment) {
        for name in std::mem::take(&mut self.unlisted) {
            self.deleted(now, &name);
        }
        self.works_listed = true;
        self.plan_all(now);
    }

    /// A Work was observed.
    pub fn applied(&mut self, now: Moment, name: &WorkName, seen: ObservedWork) {
        self.unlisted.remove(name);
        self.observe(now, name, seen);
    }

    fn observe(&mut self, now: Moment, name: &WorkName, seen: ObservedWork) {
        if let Some(known) = self.works.get(name) {
            let older = match (seen.version, known.version) {
                (Some(seen), Some(known)) if seen < known => true,
                (Some(version), Some(was)) => version == was && known.epoch == self.epoch,
                _ => false,
            };
            if older {
                return;
            }
        }
        let Some(sync) = seen.sync.clone() else {
            self.deleted(now, name);
            return;
        };
        let mut known = TrackedWork::new(now, self.epoch, seen, sync);
        let before = self.works.remove(name);
        let mut old_binding = None;
        if let Some(before) = before {
            if before.sync.binding != known.sync.binding {
                old_binding.clone_from(&before.sync.binding);
            }
            self.note_hosts(name, &before, Some(&known));
            known.succeed(before);
        }
        let binding = known.sync.binding.clone();
        if let Some(binding) = &binding {
            self.groups.entry(binding.clone()).or_default().joined(name, &known);
        }
        self.works.insert(name.clone(), known);
        if let Some(old) = old_binding {
            self.leave(now, &old, name);
        }
        self.plan(name);
        if let Some(binding) = binding {
            self.review(now, &binding);
        }
    }

    /// A Work is gone, or no policy concerns it any more.
    pub fn deleted(&mut self, now: Moment, name: &WorkName) {
        let Some(known) = self.works.remove(name) else { return };
        self.bypassed.remove(name);
        self.queue.put(&Job::Touch(name.clone()), None);
        self.note_hosts(name, &known, None);
        if let Some(binding) = &known.sync.binding {
            self.leave(now, binding, name);
        }
    }

    /// A touch has ended.
    pub fn touched(&mut self, now: Moment, name: &WorkName, outcome: TouchOutcome) {
        self.rate_limiter.end(now, outcome == TouchOutcome::ServerError);
        let is_of_now = self.under_way.remove(name) == Some(self.epoch);
        let Some(known) = self.works.get_mut(name) else { return };
        match outcome {
            TouchOutcome::Bypassed(seen) => {
                known.errand = None;
                known.failed(now);
                self.bypassed.insert(name.clone());
                self.observe(now, name, *seen);
            }
            TouchOutcome::Revised(seen) => {
                known.errand = None;
                if self.bypassed.remove(name) {
                    // The webhook is called again, so other Works may succeed too.
                    self.ask_again(now);
                }
                let Some(known) = self.works.get_mut(name) else { return };
                if let Some(sync) = seen.sync.as_ref().filter(|_| is_of_now) {
                    known.answered(now, &sync.status, sync.policy_digest.clone(), seen.generation);
                }
                self.observe(now, name, *seen);
            }
            TouchOutcome::Rejected | TouchOutcome::ServerError if is_of_now => known.failed(now),
            TouchOutcome::Rejected | TouchOutcome::ServerError => {}
        }
        let binding = self.works.get(name).and_then(|known| known.sync.binding.clone());
        self.plan(name);
        if let Some(binding) = binding {
            self.review(now, &binding);
        }
    }

    /// Touches again all Works that were stored without a call of the webhook.
    fn ask_again(&mut self, now: Moment) {
        for name in self.bypassed.clone() {
            if let Some(known) = self.works.get_mut(&name) {
                known.hurry(now);
            }
            self.plan(&name);
        }
    }

    /// Works that were touched and stored without a call of the webhook.
    pub fn bypassed(&self) -> impl Iterator<Item = &WorkName> {
        self.bypassed.iter()
    }

    /// Works that are out of sync, and the failure if their status is unknown.
    pub fn examples(&self) -> impl Iterator<Item = (&WorkName, Option<&Failure>)> {
        let stale = self.works.iter().filter(|(_, known)| !known.deleting && !known.is_current(self.epoch));
        stale.map(|(name, known)| match &known.sync.status {
            SyncStatus::Unknown(failure) => (name, Some(failure)),
            _ => (name, None),
        })
    }

    /// What to do now.
    pub fn next(&mut self, now: Moment) -> Next {
        loop {
            if !self.works_listed {
                return Next::Wait(None);
            }
            let Some((at, job)) = self.queue.first() else { return Next::Wait(None) };
            if at > now {
                return Next::Wait(Some(at));
            }
            if let Job::Handover(binding) = &job {
                self.go_on(now, binding);
                continue;
            }
            match self.rate_limiter.permit(now) {
                Permit::Now => {}
                Permit::NotBefore(later) => return Next::Wait(Some(later)),
                Permit::Full => return Next::Wait(None),
            }
            self.queue.put(&job, None);
            if let Some(next) = self.begin(job) {
                self.rate_limiter.begin(now);
                return next;
            }
        }
    }

    fn begin(&mut self, job: Job) -> Option<Next> {
        match job {
            Job::Touch(name) => {
                self.under_way.insert(name.clone(), self.epoch);
                Some(Next::Touch(name))
            }
            Job::Clear(binding) => self.begin_clearing(binding),
            Job::Handover(_) => None,
        }
    }

    /// How many Works each policy selects. `None` until all Works have been listed under the active policies.
    pub fn work_counts(&self) -> Option<BTreeMap<&Owner, WorkCounts>> {
        if !self.works_listed {
            return None;
        }
        let mut counts: BTreeMap<&Owner, WorkCounts> = BTreeMap::new();
        for known in self.works.values().filter(|known| !known.deleting) {
            let current = usize::from(known.is_current(self.epoch));
            for owner in &known.sync.policies {
                let counts = counts.entry(owner).or_default();
                counts.total += 1;
                counts.current += current;
            }
        }
        Some(counts)
    }

    /// How many Works are out of sync.
    pub fn stale(&self) -> usize {
        let live = self.works.values().filter(|known| !known.deleting);
        live.filter(|known| !known.is_current(self.epoch)).count()
    }

    /// Updates the place of a Work in the queue.
    fn plan(&mut self, name: &WorkName) {
        let Some(known) = self.works.get(name) else { return };
        // Works that may release an allocation come before those that may become its host.
        let rank = u8::from(known.sync.hosts.is_empty());
        let due = known.touch_at(self.epoch, self.epoch_from).filter(|_| !self.under_way.contains_key(name));
        let place = due.map(|at| (at, rank));
        self.queue.put(&Job::Touch(name.clone()), place);
    }

    fn plan_all(&mut self, now: Moment) {
        for name in self.works.keys().cloned().collect::<Vec<_>>() {
            self.plan(&name);
        }
        for binding in self.groups.keys().cloned().collect::<Vec<_>>() {
            self.review(now, &binding);
        }
    }
}
