//! Whether a stored Work is in sync with a set of policies.
//!
//! Pure. It selects and hashes with the same functions as the Work door, so both agree: a Work is in sync if
//! the door would find the hash of its record unchanged.

use std::collections::BTreeSet;

use super::concern::{has_revisable_manifest, select};
use crate::domain::{BindingName, Failure, digest};
use crate::engine::{self, ObjectSource, Owner, PolicySet, Selection};
use crate::json::Raw;
use crate::work::{Link, Manifest, Record, RecordEntry, Work};

/// How a Work relates to a set of policies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SyncState {
    /// The binding that the Work belongs to; `None` for a Work without a binding.
    pub binding: Option<BindingName>,
    /// The policies that select a manifest in it.
    pub policies: BTreeSet<Owner>,
    /// A digest of the rules that apply to its manifests; empty if none does.
    pub policy_digest: String,
    /// Whether it has to be revised again.
    pub status: SyncStatus,
    /// The allocations that its record says it hosts.
    pub hosts: BTreeSet<String>,
    /// The allocations that rules for it may ask for.
    pub asks: BTreeSet<String>,
    /// The allocations of rules in its record that it does not host.
    pub lacks: BTreeSet<String>,
}

/// Whether a Work has to be revised again. Ordered from the best to the worst: a Work has the worst status of
/// its manifests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SyncStatus {
    /// Its record is of the policies that select it.
    Synced,
    /// It is selected and has no record: no rule has changed it, or it was stored without a call of the
    /// webhook.
    Unrecorded,
    /// Its record is of other policies, or none selects it any more.
    Outdated,
    /// A policy is invalid, or the revision can't be undone. Touching the Work would not help.
    Unknown(Failure),
}

impl SyncState {
    /// The state of the Work `object` in `namespace`. `None` if the Work door would leave it unchanged under
    /// any policy: no policy selects it and it has no record, or it is invalid.
    pub fn of(set: &PolicySet, namespace: &str, object: Raw<'_>) -> Option<Self> {
        let work = Work::read(object).ok()?;
        Work::cluster(namespace)?;
        if !has_revisable_manifest(set, &work) {
            return None;
        }
        let link = work.link().ok()?;
        if link == Link::Undispatched && !work.is_recorded() {
            return None;
        }
        let binding = match &link {
            Link::Binding(binding) => Some(binding.clone()),
            Link::Unbound | Link::Undispatched | Link::Lost(_) => None,
        };
        let mut state = Self {
            binding,
            policies: BTreeSet::new(),
            policy_digest: String::new(),
            status: SyncStatus::Synced,
            hosts: BTreeSet::new(),
            asks: BTreeSet::new(),
            lacks: BTreeSet::new(),
        };
        let record = work.record().unwrap_or_default();
        // The door only undoes revisions of a Work that is not dispatched.
        let no_policies = PolicySet::default();
        let set = if link == Link::Undispatched { &no_policies } else { set };
        let mut hashes = Vec::new();
        for (position, manifest) in work.manifests.iter().enumerate() {
            match state.add_manifest(set, &work, &record, position, manifest) {
                Ok(hash) => hashes.push(hash),
                Err(failure) => state.status = SyncStatus::Unknown(failure),
            }
        }
        if hashes.iter().any(|hash| !hash.is_empty()) {
            state.policy_digest = digest(hashes.iter().map(String::as_str));
            if let Link::Lost(failure) = link {
                state.status = SyncStatus::Unknown(failure);
            }
        } else if work.is_recorded() {
            state.worsen(SyncStatus::Outdated);
        }
        Some(state)
    }

    /// Adds a manifest, and gives the hash of the rules that apply to it; empty if none does.
    fn add_manifest(
        &mut self,
        set: &PolicySet,
        work: &Work<'_>,
        record: &Record,
        position: usize,
        manifest: &Manifest<'_>,
    ) -> Result<String, Failure> {
        let entry = record.of(manifest);
        self.hosts.extend(entry.into_iter().flat_map(RecordEntry::hosts).cloned());
        let Some(workload) = &manifest.workload else { return Ok(String::new()) };
        let selection = match work.restore(manifest, None) {
            Ok(None) => select(set, workload, &manifest.raw.into())?,
            Ok(Some(object)) => select(set, workload, &ObjectSource::Value(object))?,
            Err(error) => {
                self.add_selection(&select(set, workload, &manifest.raw.into())?, None);
                return Err(error.failure(position, manifest));
            }
        };
        if selection.is_empty() {
            if manifest.is_marked() {
                self.worsen(SyncStatus::Outdated);
            }
            return Ok(String::new());
        }
        self.add_selection(&selection, entry);
        let hash = selection.hash();
        match entry {
            Some(entry) if entry.hash() == hash => {}
            Some(_) => self.worsen(SyncStatus::Outdated),
            None => self.worsen(SyncStatus::Unrecorded),
        }
        Ok(hash)
    }

    fn add_selection(&mut self, selection: &Selection<'_>, entry: Option<&RecordEntry>) {
        self.asks.extend(engine::allocations(&selection.policies).map(str::to_owned));
        for policy in &selection.policies {
            self.policies.insert(policy.owner.clone());
            let Some(entry) = entry else { continue };
            for rule in &policy.rules {
                if entry.rules().contains(&format!("{}/{}", policy.owner, rule.name)) {
                    self.lacks
                        .extend(rule.asks.iter().filter(|name| !entry.hosts().contains(*name)).cloned());
                }
            }
        }
    }

    fn worsen(&mut self, status: SyncStatus) {
        let rank = |status: &SyncStatus| match status {
            SyncStatus::Synced => 0,
            SyncStatus::Unrecorded => 1,
            SyncStatus::Outdated => 2,
            SyncStatus::Unknown(_) => 3,
        };
        if rank(&status) > rank(&self.status) {
            self.status = status;
        }
    }
}
