//! Which cluster hosts an allocation now.
//!
//! [`allocate`] chooses the cluster. Karmada updates the Work of a cluster that stays before it deletes the
//! Work of a cluster that is dropped, so following the choice at once could let two Works host an allocation.
//! Where Works can be read, an allocation leaves its cluster only when
//!
//! * the Work there is gone;
//! * the cluster stays scheduled (a pin moves the allocation) and its Work records that it does not host it;
//! * the Work is being deleted, and a pin names the new cluster or `timeout` has passed since; or
//! * `handover.mode` is `Immediate`.
//!
//! Until then no cluster hosts it. Without a ledger entry, the Works tell where it is. A cluster that does
//! not host it yet also waits while the Work of another cluster records that it does, whatever the ledger
//! holds: that Work may be an old copy, or may have been written while the ledger was.

#[cfg(test)]
mod tests;

use std::time::Duration;

use jiff::Timestamp;

use super::allocate::{AllocationReason, AllocationStrategy, Choice, allocate};
use crate::domain::{ClusterName, Delivery, Schedule};

/// The definition of an allocation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Allocation {
    pub strategy: AllocationStrategy,
    pub handover: Handover,
}

/// How an allocation leaves a cluster. It matters where Works can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Handover {
    /// The new cluster waits until the old one has released the allocation.
    AfterRelease {
        /// How long at most, from the deletion of the old Work; `None` without end.
        timeout: Option<Duration>,
    },
    /// The new cluster does not wait.
    Immediate,
}

impl Default for Handover {
    fn default() -> Self {
        Self::AfterRelease { timeout: None }
    }
}

/// The Works that deliver a workload.
#[derive(Clone, Copy, Debug)]
pub enum Deliveries<'f> {
    /// Works can't be read here.
    Unreadable,
    /// Works can be read, and have not been read so far.
    Unread,
    Read(&'f [Delivery]),
}

/// An allocation that leaves a cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HandoverEvent {
    pub allocation: String,
    pub from: ClusterName,
    pub to: ClusterName,
    /// Whether the new cluster has to wait, so that neither hosts it.
    pub waiting: bool,
    /// Whether the new cluster hosts it although the Work in the old one, which is being deleted, still does.
    pub overlaps: bool,
    /// Whether the old cluster keeps the object when its Work is deleted (`preserveResourcesOnDeletion`).
    pub object_stays: bool,
}

/// What is known about one allocation of one workload.
#[derive(Clone, Copy, Debug)]
pub(super) struct AllocationState<'f> {
    pub(super) allocation: &'f str,
    /// The cluster that the object is revised for.
    pub(super) target: &'f ClusterName,
    pub(super) schedule: &'f Schedule,
    pub(super) pinned: Option<&'f ClusterName>,
    /// The cluster in the ledger.
    pub(super) entry: Option<&'f ClusterName>,
    pub(super) strategy: AllocationStrategy,
    pub(super) handover: Handover,
    pub(super) deliveries: Deliveries<'f>,
    /// `spec.preserveResourcesOnDeletion` of the binding.
    pub(super) preserves: bool,
    pub(super) now: Timestamp,
}

/// Where an allocation is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Settled {
    /// Unknown before the Works have been read.
    Unread,
    /// The workload is not scheduled to any cluster.
    Nowhere,
    In(Choice, Option<HandoverEvent>),
    /// In no cluster: the new one waits.
    Waiting(HandoverEvent),
}

impl AllocationState<'_> {
    pub(super) fn settle(&self) -> Settled {
        let recorded = match (self.entry, self.deliveries) {
            (None, Deliveries::Unread) => return Settled::Unread,
            (None, Deliveries::Read(deliveries)) => self.recorded_in(deliveries),
            (Some(_), _) | (None, Deliveries::Unreadable) => None,
        };
        let current = self.entry.or(recorded);
        let Some(mut choice) = allocate(self.strategy, self.schedule, self.pinned, current) else {
            return Settled::Nowhere;
        };
        let Some(current) = current.filter(|current| **current != choice.cluster) else {
            if recorded.is_some() && choice.reason == AllocationReason::Sticky {
                choice.reason = AllocationReason::Found;
            }
            return self.unless_hosted_elsewhere(choice);
        };
        let deliveries = match self.deliveries {
            Deliveries::Unread => return Settled::Unread,
            Deliveries::Unreadable => return Settled::In(choice, None),
            Deliveries::Read(deliveries) => deliveries,
        };
        let old = deliveries.iter().find(|delivery| delivery.cluster == *current);
        let waiting =
            self.handover != Handover::Immediate && old.is_some_and(|old| !self.is_released(old, &choice));
        let event = self.event(current, old, &choice, waiting);
        if waiting {
            return Settled::Waiting(event);
        }
        match self.unless_hosted_elsewhere(choice) {
            Settled::In(choice, None) => Settled::In(choice, Some(event)),
            other => other,
        }
    }

    /// Makes the target wait while the Work of another cluster hosts the allocation, unless the target hosts
    /// it already.
    fn unless_hosted_elsewhere(&self, choice: Choice) -> Settled {
        if choice.cluster != *self.target || self.handover == Handover::Immediate {
            return Settled::In(choice, None);
        }
        let deliveries = match self.deliveries {
            Deliveries::Unread => return Settled::Unread,
            Deliveries::Unreadable => return Settled::In(choice, None),
            Deliveries::Read(deliveries) => deliveries,
        };
        let hosting = |delivery: &&Delivery| delivery.says_it_hosts(self.allocation);
        if deliveries.iter().filter(hosting).any(|delivery| delivery.cluster == choice.cluster) {
            return Settled::In(choice, None);
        }
        match deliveries.iter().filter(hosting).find(|other| !self.is_released(other, &choice)) {
            Some(other) => Settled::Waiting(self.event(&other.cluster, Some(other), &choice, true)),
            None => Settled::In(choice, None),
        }
    }

    fn event(
        &self,
        from: &ClusterName,
        old: Option<&Delivery>,
        choice: &Choice,
        waiting: bool,
    ) -> HandoverEvent {
        HandoverEvent {
            allocation: self.allocation.to_owned(),
            from: from.clone(),
            to: choice.cluster.clone(),
            waiting,
            overlaps: !waiting && old.is_some_and(|old| !old.says_it_does_not_host(self.allocation)),
            object_stays: !self.schedule.lists(from)
                && (self.preserves || old.is_some_and(|old| old.preserves)),
        }
    }

    /// Whether the allocation may leave the cluster of `old`, whose Work still exists.
    fn is_released(&self, old: &Delivery, choice: &Choice) -> bool {
        let Some(since) = old.deleting_since else {
            return self.schedule.lists(&old.cluster) && old.says_it_does_not_host(self.allocation);
        };
        let is_timed_out = match self.handover {
            Handover::AfterRelease { timeout: Some(timeout) } => {
                self.now >= since && self.now.duration_since(since).unsigned_abs() >= timeout
            }
            Handover::AfterRelease { timeout: None } | Handover::Immediate => false,
        };
        choice.reason == AllocationReason::Pinned || is_timed_out
    }

    /// The cluster whose Work records that it hosts the allocation. A timeout can leave several. Preferred
    /// are, in this order: a Work that is not being deleted, a cluster that is scheduled, the first by name.
    fn recorded_in<'d>(&self, deliveries: &'d [Delivery]) -> Option<&'d ClusterName> {
        let hosting = deliveries.iter().filter(|delivery| delivery.says_it_hosts(self.allocation));
        let rank = |delivery: &&Delivery| {
            (
                delivery.deleting_since.is_some(),
                !self.schedule.lists(&delivery.cluster),
                delivery.cluster.clone(),
            )
        };
        hosting.min_by_key(rank).map(|delivery| &delivery.cluster)
    }
}
