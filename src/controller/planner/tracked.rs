//! One Work, as far as the planner has observed it.

use std::time::Duration;

use super::ObservedWork;
use super::rate_limiter::{Moment, backoff};
use crate::service::{SyncState, SyncStatus};

/// How long to wait before a Work is touched again, at first and at most.
const RETRY: (Duration, Duration) = (Duration::from_secs(1), Duration::from_mins(5));

#[derive(Debug)]
pub(super) struct TrackedWork {
    pub(super) uid: String,
    pub(super) version: Option<u64>,
    pub(super) generation: i64,
    pub(super) deleting: bool,
    pub(super) sync: SyncState,
    /// The epoch of the policies under which `sync` was computed.
    pub(super) epoch: u64,
    /// Since when the Work has been in this state.
    pub(super) since: Moment,
    /// For a Work without a record: the policy digest and the generation of the last touch that changed
    /// nothing.
    settled: Option<(String, i64)>,
    /// The number of consecutive failed touches.
    pub(super) failures: u32,
    not_before: Moment,
    /// Since when a touch is due because of an allocation.
    pub(super) errand: Option<Moment>,
}

impl TrackedWork {
    pub(super) fn new(now: Moment, epoch: u64, seen: ObservedWork, sync: SyncState) -> Self {
        Self {
            uid: seen.uid,
            version: seen.version,
            generation: seen.generation,
            deleting: seen.deleting,
            sync,
            epoch,
            since: now,
            settled: None,
            failures: 0,
            not_before: Moment::default(),
            errand: None,
        }
    }

    /// Takes over the history of an earlier observation of the same Work.
    pub(super) fn succeed(&mut self, before: Self) {
        if before.uid != self.uid {
            return;
        }
        let was_outdated = before.is_outdated();
        self.settled = before.settled;
        self.errand = before.errand;
        if before.epoch == self.epoch {
            self.failures = before.failures;
            self.not_before = before.not_before;
        }
        if was_outdated && before.epoch == self.epoch {
            self.since = before.since;
        }
        if !self.is_outdated() {
            self.failures = 0;
        }
    }

    /// Whether a touch may bring the Work in sync. `false` if its sync status is unknown.
    pub(super) fn is_outdated(&self) -> bool {
        match self.sync.status {
            SyncStatus::Synced | SyncStatus::Unknown(_) => false,
            SyncStatus::Outdated => true,
            SyncStatus::Unrecorded => {
                let is_this = |(wanted, generation): &(String, i64)| {
                    *wanted == self.sync.policy_digest && *generation == self.generation
                };
                !self.settled.as_ref().is_some_and(is_this)
            }
        }
    }

    /// Whether the Work is in sync under the policies of `epoch`.
    pub(super) fn is_current(&self, epoch: u64) -> bool {
        self.epoch == epoch && !self.is_outdated() && !matches!(self.sync.status, SyncStatus::Unknown(_))
    }

    /// When a touch is due.
    pub(super) fn touch_at(&self, epoch: u64, epoch_from: Moment) -> Option<Moment> {
        let can_be_judged = self.epoch == epoch && !matches!(self.sync.status, SyncStatus::Unknown(_));
        if self.deleting || !can_be_judged {
            return None;
        }
        let wanted = if self.is_outdated() { Some(self.since.max(epoch_from)) } else { self.errand };
        wanted.map(|at| at.max(self.not_before))
    }

    /// A touch succeeded and returned the Work with this status.
    pub(super) fn answered(&mut self, now: Moment, due: &SyncStatus, wanted: String, generation: i64) {
        match due {
            SyncStatus::Outdated => self.failed(now),
            SyncStatus::Unrecorded => {
                self.settled = Some((wanted, generation));
                self.failures = 0;
            }
            SyncStatus::Synced | SyncStatus::Unknown(_) => self.failures = 0,
        }
    }

    /// Ends the wait after failures.
    pub(super) fn hurry(&mut self, now: Moment) {
        self.not_before = now;
        self.failures = 0;
    }

    /// A touch failed or did not help.
    pub(super) fn failed(&mut self, now: Moment) {
        self.failures = self.failures.saturating_add(1);
        let (first, most) = RETRY;
        self.not_before = now.after(backoff(first, most, self.failures));
    }
}
