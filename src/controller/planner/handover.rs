//! Touches Works for allocations that no Work hosts.
//!
//! How the webhook revises a Work for an allocation depends on the Works of other clusters. So a Work can be
//! in sync and still need a touch: while the old cluster hosts the allocation, the new cluster is answered as
//! *elsewhere*. Only the webhook decides which cluster is next. It decides when any Work that asks for the
//! allocation is touched, and writes its decision to the ledger (the annotations of the binding). A *gap* is
//! an allocation that no Work hosts. It is closed by touching one Work after another until one hosts the
//! allocation: first the Work that the ledger names, else the Works that lack the allocation.
//!
//! Where several Works host one allocation, those that the ledger does not name are touched too, and release
//! it.
//!
//! A gap that a round of touches does not close is left alone until its circumstances change. The exception
//! is an allocation whose handover ends with time, while a Work that is being deleted still hosts it. Then
//! one Work is touched from time to time.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::Duration;

use super::queue::Job;
use super::rate_limiter::{Moment, backoff};
use super::tracked::TrackedWork;
use super::{Next, Planner, WorkName};
use crate::domain::{BindingName, EXECUTION_NAMESPACE_PREFIX};
use crate::service::SyncStatus;

/// The time between two touches of a round. It is long enough to observe what the first touch changed in the
/// ledger.
const STEP: Duration = Duration::from_secs(1);

/// How long to wait if Karmada is about to delete or write a Work, which may close the gap.
const CLOSING: Duration = Duration::from_secs(1);
const WRITING: Duration = Duration::from_secs(5);

/// How long to wait for a handover that ends with time, at first and at most.
const WAITING: (Duration, Duration) = (Duration::from_secs(5), Duration::from_mins(1));

/// How long policies have to be active before entries that they do not name are removed from the ledger.
const CLEAR_AFTER: Duration = Duration::from_secs(30);

/// How long to wait before the ledger is cleared again after a failure.
const CLEAR_AGAIN: Duration = Duration::from_secs(30);

/// The scope of a list of bindings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// `ResourceBinding`
    Namespace,
    /// `ClusterResourceBinding`
    Cluster,
}

/// The Works of one binding.
#[derive(Debug, Default)]
pub(super) struct Group {
    members: BTreeSet<WorkName>,
    /// The cluster of each allocation, from the annotations of the binding.
    ledger: BTreeMap<String, String>,
    /// The `resourceVersion` of the binding.
    version: String,
    /// The Work that was the last host of each allocation.
    left: BTreeMap<String, WorkName>,
    gaps: BTreeMap<String, Gap>,
    clearing: bool,
    clear_not_before: Moment,
}

/// An allocation that no Work hosts.
#[derive(Debug)]
struct Gap {
    shape: Shape,
    /// The Works that are still to be touched in this round.
    round: VecDeque<WorkName>,
    /// When the next one is touched.
    at: Option<Moment>,
    rounds: u32,
}

/// The circumstances of a gap. If they change, a new round begins.
#[derive(Debug, PartialEq, Eq)]
struct Shape {
    ledger: Option<String>,
    /// The Work that was the last host.
    left: Option<WorkName>,
    /// The hosts that are being deleted.
    releasing: Vec<WorkName>,
    /// All Works that are being deleted. Also those that released the allocation are waited for until they
    /// are gone.
    leaving: Vec<WorkName>,
    /// The Works that may become the host.
    candidates: Vec<(WorkName, String)>,
}

enum Outlook {
    /// There is no gap, or it can't be closed.
    None,
    /// A gap, if there is one, is left unchanged for now.
    Later,
    Gap(Shape, VecDeque<WorkName>, Duration),
}

impl Group {
    pub(super) fn joined(&mut self, name: &WorkName, known: &TrackedWork) {
        if !self.members.contains(name) {
            self.members.insert(name.clone());
        }
        if !known.deleting {
            self.left.retain(|allocation, _| !known.sync.hosts.contains(allocation));
        }
    }

    fn outlook(&self, allocation: &str, works: &BTreeMap<WorkName, TrackedWork>, epoch: u64) -> Outlook {
        let members = || self.members.iter().filter_map(|name| Some((name, works.get(name)?)));
        let hosts = |known: &TrackedWork| known.sync.hosts.contains(allocation);
        let live: Vec<(&WorkName, &TrackedWork)> =
            members().filter(|(_, known)| !known.deleting && hosts(known)).collect();
        match live.len() {
            0 => {}
            1 => return Outlook::None,
            _ => return self.crowd(allocation, works, &live),
        }
        let may = |known: &TrackedWork| {
            let judged = known.epoch == epoch && !matches!(known.sync.status, SyncStatus::Unknown(_));
            judged && !known.deleting && known.sync.asks.contains(allocation)
        };
        let candidates: Vec<(&WorkName, &TrackedWork)> = members().filter(|(_, known)| may(known)).collect();
        let lacks = |known: &TrackedWork| known.sync.lacks.contains(allocation);
        let releasing: Vec<WorkName> = members()
            .filter(|(_, known)| known.deleting && hosts(known))
            .map(|(name, _)| name.clone())
            .collect();
        let (ledger, left) = (self.ledger.get(allocation), self.left.get(allocation));
        let is_lacked = candidates.iter().any(|(_, known)| lacks(known));
        if candidates.is_empty() || !is_lacked && ledger.is_none() && left.is_none() && releasing.is_empty() {
            return Outlook::None;
        }
        // Outdated candidates are touched anyway.
        if candidates.iter().any(|(_, known)| known.is_outdated() && known.failures == 0) {
            return Outlook::Later;
        }
        let named = self.named(allocation);
        let is_named = |name: &WorkName| named.as_ref() == Some(&name.namespace) && Some(name) != left;
        let mut round: Vec<&WorkName> = candidates.iter().map(|(name, _)| *name).collect();
        round
            .sort_by_key(|name| (Some(*name) == left, !is_named(name), !works.get(*name).is_some_and(lacks)));
        let left_is_there = left.is_some_and(|left| candidates.iter().any(|(name, _)| *name == left));
        let first_is_named = round.first().is_some_and(|name| is_named(name));
        if first_is_named || left_is_there && !is_lacked {
            // One touch is enough if the ledger names the Work, or if the rules may no longer ask for the
            // allocation.
            round.truncate(1);
        }
        let delay = match (left, first_is_named) {
            _ if !releasing.is_empty() => CLOSING,
            (Some(_), _) => Duration::ZERO,
            (None, true) => CLOSING,
            (None, false) => WRITING,
        };
        let round = round.into_iter().cloned().collect();
        Outlook::Gap(self.shape(allocation, works, releasing, &candidates), round, delay)
    }

    /// Several Works host the allocation, after concurrent writes. Works that the ledger does not name
    /// release it when they are touched.
    fn crowd(
        &self,
        allocation: &str,
        works: &BTreeMap<WorkName, TrackedWork>,
        hosts: &[(&WorkName, &TrackedWork)],
    ) -> Outlook {
        if hosts.iter().any(|(_, known)| known.is_outdated() && known.failures == 0) {
            return Outlook::Later;
        }
        let named = self.named(allocation);
        let others = hosts.iter().filter(|(name, _)| named.as_ref() != Some(&name.namespace));
        let round = others.map(|(name, _)| (*name).clone()).collect();
        Outlook::Gap(self.shape(allocation, works, Vec::new(), hosts), round, Duration::ZERO)
    }

    /// The namespace of the Work that the ledger names.
    fn named(&self, allocation: &str) -> Option<String> {
        self.ledger.get(allocation).map(|cluster| format!("{EXECUTION_NAMESPACE_PREFIX}{cluster}"))
    }

    fn shape(
        &self,
        allocation: &str,
        works: &BTreeMap<WorkName, TrackedWork>,
        releasing: Vec<WorkName>,
        candidates: &[(&WorkName, &TrackedWork)],
    ) -> Shape {
        let is_leaving = |name: &&WorkName| works.get(*name).is_some_and(|known| known.deleting);
        let leaving = self.members.iter().filter(is_leaving).cloned().collect();
        let (ledger, left) = (self.ledger.get(allocation), self.left.get(allocation));
        let candidates =
            candidates.iter().map(|(name, known)| ((*name).clone(), known.uid.clone())).collect();
        Shape { ledger: ledger.cloned(), left: left.cloned(), releasing, leaving, candidates }
    }

    /// When the next gap of the binding is due.
    fn next_at(&self) -> Option<Moment> {
        self.gaps.values().filter_map(|gap| gap.at).min()
    }
}

impl Planner {
    /// All bindings of this scope have been listed.
    pub fn bindings_synced(&mut self, now: Moment, scope: Scope) {
        self.bindings_listed[scope as usize] = true;
        self.plan_all(now);
    }

    /// A binding was observed, with these entries of the ledger.
    pub fn binding(
        &mut self,
        now: Moment,
        name: &BindingName,
        version: String,
        ledger: BTreeMap<String, String>,
    ) {
        if ledger.is_empty() && !self.groups.contains_key(name) {
            return;
        }
        let group = self.groups.entry(name.clone()).or_default();
        group.version = version;
        self.set_ledger(now, name, ledger);
    }

    fn set_ledger(&mut self, now: Moment, name: &BindingName, ledger: BTreeMap<String, String>) {
        let Some(group) = self.groups.get_mut(name) else { return };
        // Other writes of a binding are frequent and do not matter.
        if group.ledger != ledger {
            group.ledger = ledger;
            group.clear_not_before = now;
            self.review(now, name);
        }
        self.drop_if_empty(name);
    }

    /// A binding is gone, and its entries with it.
    pub fn binding_deleted(&mut self, now: Moment, name: &BindingName) {
        self.set_ledger(now, name, BTreeMap::new());
    }

    /// The call that clears entries has ended. `done` is `true` if it succeeded.
    pub fn cleared(&mut self, now: Moment, name: &BindingName, done: bool) {
        self.rate_limiter.end(now, false);
        let Some(group) = self.groups.get_mut(name) else { return };
        group.clearing = false;
        // Also after a success: the watch will report the changed annotations.
        let wait = if done { CLEAR_AGAIN * 2 } else { CLEAR_AGAIN };
        group.clear_not_before = now.after(wait);
        self.review(now, name);
    }

    pub(super) fn begin_clearing(&mut self, binding: BindingName) -> Option<Next> {
        let allocations = self.orphans(&binding);
        let group = self.groups.get_mut(&binding).filter(|_| !allocations.is_empty())?;
        group.clearing = true;
        Some(Next::Clear { version: group.version.clone(), binding, allocations })
    }

    /// Entries that no policy names and no Work hosts.
    fn orphans(&self, binding: &BindingName) -> Vec<String> {
        let (Some(defined), Some(group)) = (&self.allocations.defined, self.groups.get(binding)) else {
            return Vec::new();
        };
        let members = || group.members.iter().filter_map(|name| self.works.get(name));
        let is_hosted = |name: &String| members().any(|known| known.sync.hosts.contains(name));
        group.ledger.keys().filter(|name| !defined.contains(*name) && !is_hosted(name)).cloned().collect()
    }

    /// Remembers the last host of an allocation when it no longer hosts it.
    pub(super) fn note_hosts(&mut self, name: &WorkName, before: &TrackedWork, after: Option<&TrackedWork>) {
        let binding = before.sync.binding.as_ref();
        let Some(group) = binding.and_then(|binding| self.groups.get_mut(binding)) else { return };
        let still = after.filter(|after| after.uid == before.uid).map(|after| &after.sync.hosts);
        let lost =
            before.sync.hosts.iter().filter(|hosted| !still.is_some_and(|still| still.contains(*hosted)));
        for allocation in lost {
            group.left.insert(allocation.clone(), name.clone());
        }
    }

    pub(super) fn leave(&mut self, now: Moment, binding: &BindingName, name: &WorkName) {
        if let Some(group) = self.groups.get_mut(binding) {
            group.members.remove(name);
        }
        self.review(now, binding);
        self.drop_if_empty(binding);
    }

    fn drop_if_empty(&mut self, binding: &BindingName) {
        if self.groups.get(binding).is_some_and(|group| group.members.is_empty() && group.ledger.is_empty()) {
            self.groups.remove(binding);
            self.queue.put(&Job::Handover(binding.clone()), None);
            self.queue.put(&Job::Clear(binding.clone()), None);
        }
    }

    /// Looks for gaps among the Works of a binding, and for entries that are no longer used.
    pub(super) fn review(&mut self, now: Moment, binding: &BindingName) {
        if !self.works_listed || self.bindings_listed.contains(&false) {
            return;
        }
        let Some(group) = self.groups.get_mut(binding) else { return };
        let members = group.members.iter().filter_map(|name| self.works.get(name));
        let asked: BTreeSet<String> =
            members.filter(|known| !known.deleting).flat_map(|known| known.sync.asks.clone()).collect();
        group.gaps.retain(|allocation, _| asked.contains(allocation));
        group.left.retain(|allocation, _| asked.contains(allocation));
        for allocation in asked {
            match (group.outlook(&allocation, &self.works, self.epoch), group.gaps.get_mut(&allocation)) {
                (Outlook::None | Outlook::Later, None) => {}
                (Outlook::None, Some(_)) => drop(group.gaps.remove(&allocation)),
                (Outlook::Later, Some(gap)) => gap.at = None,
                (Outlook::Gap(shape, ..), Some(gap)) if gap.shape == shape => {}
                (Outlook::Gap(shape, round, delay), _) => {
                    let gap = Gap { shape, round, at: Some(now.after(delay)), rounds: 0 };
                    group.gaps.insert(allocation, gap);
                }
            }
        }
        let due = group.next_at().map(|at| (at, 0));
        let (not_before, clearing) = (group.clear_not_before, group.clearing);
        self.queue.put(&Job::Handover(binding.clone()), due);
        let clear = !clearing && !self.orphans(binding).is_empty();
        let at = self.epoch_from.after(CLEAR_AFTER).max(not_before);
        self.queue.put(&Job::Clear(binding.clone()), clear.then_some((at, 2)));
    }

    /// Continues with the gaps of a binding that are due.
    pub(super) fn go_on(&mut self, now: Moment, binding: &BindingName) {
        let Some(group) = self.groups.get_mut(binding) else {
            self.queue.put(&Job::Handover(binding.clone()), None);
            return;
        };
        let mut errands = Vec::new();
        for (allocation, gap) in &mut group.gaps {
            if gap.at.is_some_and(|at| at <= now) {
                errands.extend(gap.step(now, self.allocations.timed.contains(allocation)));
            }
        }
        let due = group.next_at().map(|at| (at, 0));
        self.queue.put(&Job::Handover(binding.clone()), due);
        for name in errands {
            if let Some(known) = self.works.get_mut(&name) {
                known.errand = known.errand.or(Some(now));
            }
            self.plan(&name);
        }
    }
}

impl Gap {
    /// The Work to touch now. `timed` is `true` if the handover ends with time.
    fn step(&mut self, now: Moment, timed: bool) -> Option<WorkName> {
        let next = self.round.pop_front();
        self.at = if !self.round.is_empty() {
            Some(now.after(STEP))
        } else if timed && !self.shape.releasing.is_empty() {
            let turn = self.rounds as usize % self.shape.candidates.len().max(1);
            self.round.extend(self.shape.candidates.get(turn).map(|(name, _)| name.clone()));
            self.rounds += 1;
            let (first, most) = WAITING;
            Some(now.after(backoff(first, most, self.rounds)))
        } else {
            None
        };
        next
    }
}
