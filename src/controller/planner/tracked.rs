//! One Work, as far as it is known.

use std::time::Duration;

use super::ObservedWork;
use super::rate_limiter::{Moment, backoff};
use crate::service::{SyncState, SyncStatus};

/// How long to wait before a Work is touched once more, at first and at the most.
const RETRY: (Duration, Duration) = (Duration::from_secs(1), Duration::from_mins(5));

/// A Work that concerns us.
#[derive(Debug)]
pub(super) struct TrackedWork {
    pub(super) uid: String,
    pub(super) version: Option<u64>,
    pub(super) generation: i64,
    pub(super) deleting: bool,
    pub(super) sync: SyncState,
    /// The policies by which its sync was judged.
    pub(super) epoch: u64,
    /// Since when it is so.
    pub(super) since: Moment,
    /// Without a record: the touch that was of no consequence, by what was at work and the generation.
    settled: Option<(String, i64)>,
    /// How often in a row a touch did not help.
    pub(super) failures: u32,
    not_before: Moment,
    /// Since when it is to be touched because of an allocation.
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

    /// The same Work, seen again: what has been done about it stays known.
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

    /// Whether it is not as the policies say, or nobody knows whether it is.
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

    /// Whether it is as the policies say.
    pub(super) fn is_current(&self, epoch: u64) -> bool {
        self.epoch == epoch && !self.is_outdated() && !matches!(self.sync.status, SyncStatus::Unknown(_))
    }

    /// When it is to be touched.
    pub(super) fn touch_at(&self, epoch: u64, epoch_from: Moment) -> Option<Moment> {
        let can_be_judged = self.epoch == epoch && !matches!(self.sync.status, SyncStatus::Unknown(_));
        if self.deleting || !can_be_judged {
            return None;
        }
        let wanted = if self.is_outdated() { Some(self.since.max(epoch_from)) } else { self.errand };
        wanted.map(|at| at.max(self.not_before))
    }

    /// A touch has been answered, with this Work.
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

    /// Whatever kept it waiting is over.
    pub(super) fn hurry(&mut self, now: Moment) {
        self.not_before = now;
        self.failures = 0;
    }

    /// A touch was of no use.
    pub(super) fn failed(&mut self, now: Moment) {
        self.failures = self.failures.saturating_add(1);
        let (first, most) = RETRY;
        self.not_before = now.after(backoff(first, most, self.failures));
    }
}
