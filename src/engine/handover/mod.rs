//! Which cluster hosts an allocation *now*.
//!
//! [`allocate`](super::allocate) says where an allocation belongs. Between there and where it is stands this: Karmada updates the Work of
//! the cluster that stays before it deletes the Work of the one that goes, so that to follow the schedule at once would let
//! two Works host it. Wherever Works can be read, an allocation therefore leaves its cluster only when
//!
//! * the Work there is gone; or
//! * it stays scheduled (a pin moves the allocation) and its Work is stored as one that does not host it; or
//! * the Work is on its way out, and a pin names the new cluster, or `timeout` has passed since; or
//! * `handover.mode` is `Immediate`.
//!
//! Until then nobody is told to host it. Where the ledger has no entry, the Works say where it is. And a cluster that does
//! not host it yet is not told to while another one's Work says that it does, whatever the ledger holds: it may be an old
//! copy, or that Work may have been on its way in when the ledger was written.

#[cfg(test)]
mod tests;

use jiff::Timestamp;

use super::allocate::{AllocationReason, Choice, allocate};
use super::compiled::Handover;
use crate::domain::{ClusterName, Delivery, Schedule};

/// The Works that deliver a workload, as far as they are known.
#[derive(Clone, Copy, Debug)]
pub enum Deliveries<'f> {
    /// Nobody can read Works here.
    Unreadable,
    /// They can be read and have not been, because nobody has asked yet.
    Unread,
    /// All of them.
    Read(&'f [Delivery]),
}

/// An allocation that leaves a cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HandoverEvent {
    /// The allocation.
    pub allocation: String,
    /// The cluster that it leaves.
    pub from: ClusterName,
    /// The cluster that it goes to.
    pub to: ClusterName,
    /// Whether it has to wait, so that neither hosts it.
    pub waiting: bool,
    /// Whether it has gone although the Work in the old cluster, which is on its way out, still hosts it.
    pub overlaps: bool,
    /// Whether the old cluster keeps the object when its Work goes, and with it what the allocation stands for.
    pub object_stays: bool,
}

/// What is known about one allocation of one workload.
#[derive(Clone, Copy, Debug)]
pub(super) struct AllocationState<'f> {
    pub(super) allocation: &'f str,
    /// The cluster that is asked for.
    pub(super) target: &'f ClusterName,
    pub(super) schedule: &'f Schedule,
    pub(super) pinned: Option<&'f ClusterName>,
    /// What the ledger holds.
    pub(super) entry: Option<&'f ClusterName>,
    pub(super) handover: Handover,
    pub(super) deliveries: Deliveries<'f>,
    /// Whether the binding says that a cluster it leaves keeps the object.
    pub(super) preserves: bool,
    pub(super) now: Timestamp,
}

/// Where an allocation is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Settled {
    /// That can't be said before the Works have been read.
    Unread,
    /// The workload is scheduled nowhere.
    Nowhere,
    /// In this cluster.
    In(Choice, Option<HandoverEvent>),
    /// In none: it waits.
    Waiting(HandoverEvent),
}

impl AllocationState<'_> {
    /// Where the allocation is.
    pub(super) fn settle(&self) -> Settled {
        let found = match (self.entry, self.deliveries) {
            (None, Deliveries::Unread) => return Settled::Unread,
            (None, Deliveries::Read(deliveries)) => self.recorded_in(deliveries),
            _ => None,
        };
        let current = self.entry.or(found);
        let Some(mut choice) = allocate(self.schedule, self.pinned, current) else {
            return Settled::Nowhere;
        };
        let Some(current) = current.filter(|current| **current != choice.cluster) else {
            if found.is_some() && choice.reason == AllocationReason::Sticky {
                choice.reason = AllocationReason::Found;
            }
            return self.look_around(choice);
        };
        let deliveries = match self.deliveries {
            Deliveries::Unread => return Settled::Unread,
            Deliveries::Unreadable => return Settled::In(choice, None),
            Deliveries::Read(deliveries) => deliveries,
        };
        let old = deliveries.iter().find(|delivery| delivery.cluster == *current);
        let waiting =
            self.handover != Handover::Immediate && old.is_some_and(|old| !self.released(old, &choice));
        let event = self.event(current, old, &choice, waiting);
        if waiting {
            return Settled::Waiting(event);
        }
        match self.look_around(choice) {
            Settled::In(choice, None) => Settled::In(choice, Some(event)),
            other => other,
        }
    }

    /// Whether the chosen cluster, if it is the one that is asked for, may take the allocation up: another cluster's Work
    /// may still host it. One that hosts it already keeps it.
    fn look_around(&self, choice: Choice) -> Settled {
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
        match deliveries.iter().filter(hosting).find(|other| !self.released(other, &choice)) {
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

    /// Whether the old cluster, whose Work is still there, has let go.
    fn released(&self, old: &Delivery, choice: &Choice) -> bool {
        let Some(since) = old.deleting_since else {
            return self.schedule.lists(&old.cluster) && old.says_it_does_not_host(self.allocation);
        };
        let timed_out = match self.handover {
            Handover::AfterRelease { timeout: Some(timeout) } => {
                self.now.duration_since(since).unsigned_abs() >= timeout && self.now >= since
            }
            _ => false,
        };
        choice.reason == AllocationReason::Pinned || timed_out
    }

    /// The cluster whose Work says that it hosts the allocation. Of several, which a timeout can leave behind: one that is
    /// not on its way out before one that is, one that is scheduled before one that is not, then by name.
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
