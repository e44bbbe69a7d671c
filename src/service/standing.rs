//! How a Work that is stored stands to the policies.
//!
//! A pure judgement of what is there: whether the door would be asked for nothing new (its record has the hash of what selects
//! it now), or has to be asked again. It agrees with the door by using what the door uses.

use std::collections::BTreeSet;

use super::concern::{at_work, concerns};
use crate::domain::{BindingName, Failure, Workload, digest};
use crate::engine::{self, Owner, PolicySet, Selection};
use crate::json::{Raw, Text};
use crate::work::{Entry, Link, Manifest, Record, Restored, Work};

/// How a Work stands to a set of policies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Standing {
    /// The binding that it belongs to; `None` for a Work without a binding.
    pub binding: Option<BindingName>,
    /// The policies that select something in it.
    pub policies: BTreeSet<Owner>,
    /// A digest of all that is at work on it; empty where nothing is.
    pub wanted: String,
    /// Whether it has to be revised again.
    pub due: Due,
    /// The allocations that its record says it hosts.
    pub hosts: BTreeSet<String>,
    /// The allocations that rules for it may ask for.
    pub asks: BTreeSet<String>,
    /// Those that rules which changed something in it may have asked for, and that it does not host.
    pub lacks: BTreeSet<String>,
}

/// Whether a Work has to be revised again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Due {
    /// Its record is of the policies that select it now.
    No,
    /// Its record is of other policies, or of some although none selects it any more.
    Outdated,
    /// It is selected and has no record: either no rule has changed it, or the door has not been asked.
    Unrecorded,
    /// Nobody can say: a policy can't be used, or the revision not be taken back. To ask the door is of no use.
    Unclear(Failure),
}

impl Standing {
    /// How the Work `object` in `namespace` stands to `set`; `None` for one that does not concern us.
    pub fn of(set: &PolicySet, namespace: &str, object: Raw<'_>) -> Option<Self> {
        let work = Work::read(object).ok()?;
        Work::cluster(namespace)?;
        if !concerns(set, &work) {
            return None;
        }
        // The door refuses it, whatever the policies are.
        let link = work.link().ok()?;
        if link == Link::Undispatched && !work.is_recorded() {
            return None;
        }
        let mut standing = Self::new(match &link {
            Link::Binding(binding) => Some(binding.clone()),
            Link::Unbound | Link::Undispatched | Link::Lost(_) => None,
        });
        let record = work.record().unwrap_or_default();
        // A Work that is not dispatched is only undone.
        let nothing = PolicySet::default();
        let mut wanted = Vec::new();
        for (position, manifest) in work.manifests.iter().enumerate() {
            let set = if link == Link::Undispatched { &nothing } else { set };
            match manifest_stands(set, &work, &record, (position, manifest), &mut standing) {
                Ok((due, hash)) => {
                    standing.due = worse(std::mem::replace(&mut standing.due, Due::No), due);
                    wanted.push(hash);
                }
                Err(failure) => standing.due = Due::Unclear(failure),
            }
        }
        if wanted.iter().any(|hash| !hash.is_empty()) {
            standing.wanted = digest(wanted.iter().map(String::as_str));
            if let Link::Lost(failure) = link {
                standing.due = Due::Unclear(failure);
            }
        } else if work.is_recorded() {
            standing.due = worse(standing.due, Due::Outdated);
        }
        Some(standing)
    }

    fn new(binding: Option<BindingName>) -> Self {
        Self {
            binding,
            policies: BTreeSet::new(),
            wanted: String::new(),
            due: Due::No,
            hosts: BTreeSet::new(),
            asks: BTreeSet::new(),
            lacks: BTreeSet::new(),
        }
    }

    /// Takes in what is at work on a manifest, and what its record says.
    fn add(&mut self, selection: &Selection<'_>, entry: Option<&Entry>) {
        let asks: BTreeSet<String> = engine::allocations(&selection.policies).map(str::to_owned).collect();
        self.policies.extend(selection.policies.iter().map(|policy| policy.owner.clone()));
        if let Some(entry) = entry {
            let rules = selection.policies.iter().flat_map(|policy| {
                policy.rules.iter().map(move |rule| (format!("{}/{}", policy.owner, rule.name), rule))
            });
            let changing = rules.filter(|(name, _)| entry.rules().contains(name));
            let asked = changing.flat_map(|(_, rule)| &rule.asks);
            self.lacks.extend(asked.filter(|name| !entry.hosts().contains(name)).cloned());
        }
        self.asks.extend(asks);
    }
}

/// Whether a manifest has to be revised again, and the hash of what is at work on it; empty where nothing is.
fn manifest_stands(
    set: &PolicySet,
    work: &Work<'_>,
    record: &Record,
    (position, manifest): (usize, &Manifest<'_>),
    standing: &mut Standing,
) -> Result<(Due, String), Failure> {
    let entry = record.of(manifest);
    standing.hosts.extend(entry.into_iter().flat_map(Entry::hosts).cloned());
    let Some(workload) = &manifest.workload else { return Ok((Due::No, String::new())) };
    let selection = match work.restore(manifest, || None) {
        Ok(Restored::Untouched) => at_work(set, workload, &manifest.raw)?,
        Ok(Restored::Undone(object)) => select_text(set, workload, &object.to_string())?,
        Err(error) => {
            standing.add(&at_work(set, workload, &manifest.raw)?, None);
            return Err(error.failure(position, manifest));
        }
    };
    if selection.is_empty() {
        let due = if manifest.is_marked() { Due::Outdated } else { Due::No };
        return Ok((due, String::new()));
    }
    standing.add(&selection, entry);
    let hash = selection.hash();
    let due = match entry {
        Some(entry) if entry.hash() == hash => Due::No,
        Some(_) => Due::Outdated,
        None => Due::Unrecorded,
    };
    Ok((due, hash))
}

fn select_text<'s>(set: &'s PolicySet, workload: &Workload, text: &str) -> Result<Selection<'s>, Failure> {
    let text = Text::parse(text.as_bytes()).map_err(|error| Failure::unprocessable(error.to_string()))?;
    at_work(set, workload, &text.root())
}

/// What of two holds for the whole.
fn worse(a: Due, b: Due) -> Due {
    let rank = |due: &Due| match due {
        Due::No => 0,
        Due::Unrecorded => 1,
        Due::Outdated => 2,
        Due::Unclear(_) => 3,
    };
    if rank(&b) > rank(&a) { b } else { a }
}
