//! One object, one cluster, all the policies that select it.

use std::collections::BTreeMap;

use jiff::Timestamp;

use super::compiled::{Action, Allocation, Handover, Policy, Rule};
use super::handover::{Deliveries, Handing, Known, Settled};
use super::{Draft, Why, limits};
use crate::domain::{ClusterName, Failure, Target, Workload};
use crate::json::{Pointer, Raw};

/// What is to be revised.
#[derive(Clone, Copy, Debug)]
pub struct Request<'r, 'a> {
    /// Whose object it is.
    pub workload: &'r Workload,
    /// The object as it stands before the rules: replicas and override policies applied.
    pub object: Raw<'a>,
    /// For which cluster.
    pub target: &'r Target<'a>,
}

/// What a revision rests on besides the object and the policies.
#[derive(Clone, Copy, Debug)]
pub struct Facts<'f> {
    /// What the ledger holds.
    pub entries: &'f Entries,
    /// How allocations are defined.
    pub allocations: &'f BTreeMap<String, Allocation>,
    /// The Works that deliver the workload.
    pub deliveries: Deliveries<'f>,
    /// Whether the binding says that a cluster which it leaves keeps the object.
    pub preserves: bool,
    /// The time, from which timeouts count.
    pub now: Timestamp,
}

/// What the ledger holds for the workload, by allocation.
pub type Entries = BTreeMap<String, Option<ClusterName>>;

/// A change of the ledger that has to be made before a revision is true.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim {
    /// The allocation.
    pub allocation: String,
    /// What the ledger was said to hold.
    pub expected: Option<ClusterName>,
    /// What it has to hold.
    pub cluster: ClusterName,
    /// By which rule.
    pub why: Why,
}

/// The outcome of [`revise`].
#[derive(Clone, Debug)]
pub struct Revision<'r, 'a> {
    /// The object for the cluster.
    pub object: Draft<'a>,
    /// The rules that changed something, in the order in which they did.
    pub applied: Vec<(&'r Policy, &'r Rule)>,
    /// The allocations that rules have asked for and that the cluster hosts, by name.
    pub hosts: Vec<String>,
    /// The allocations that leave a cluster, by name.
    pub handings: Vec<Handing>,
    /// The ledger changes that the object rests on: each has to be made, in this order, before anybody sees it.
    pub claims: Vec<Claim>,
}

/// Why there is no revision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stop {
    /// It is refused.
    Refused(Failure),
    /// A rule has asked for something that depends on [`Facts::deliveries`], which are [unread](Deliveries::Unread).
    Unread,
}

impl From<Failure> for Stop {
    fn from(failure: Failure) -> Self {
        Self::Refused(failure)
    }
}

/// Revises an object for one cluster.
///
/// `policies` are those that select the object. The facts must hold an entry, if only `None`, for each allocation that
/// [`allocations`] names. A refusal names policy, rule, cluster and place; nothing is then to be answered but it.
pub fn revise<'r, 'a>(
    request: Request<'r, 'a>,
    policies: &[&'r Policy],
    facts: Facts<'_>,
) -> Result<Revision<'r, 'a>, Stop> {
    let mut object = Draft::new(request.object)?;
    let mut allocator = Allocator { request, facts, settled: BTreeMap::new() };
    let mut applied = Vec::new();
    for policy in policies {
        for rule in rules(policy, request.target) {
            let before = object.changes();
            apply(rule, &mut object, &mut allocator).map_err(|stop| match stop {
                Stop::Unread => Stop::Unread,
                Stop::Refused(failure) => Stop::Refused(failure.context(format_args!(
                    "{} rule {:?} cluster {:?}",
                    policy.owner,
                    rule.name,
                    request.target.cluster.as_str()
                ))),
            })?;
            if object.changes() != before {
                applied.push((*policy, rule));
            }
        }
    }
    limits::crosses(&object)?;
    let mut revision =
        Revision { object, applied, hosts: Vec::new(), handings: Vec::new(), claims: Vec::new() };
    for (allocation, settled) in allocator.settled {
        revision.settle(allocation, settled, request.target, facts.entries);
    }
    Ok(revision)
}

impl Revision<'_, '_> {
    /// Takes in what came of one allocation.
    fn settle(&mut self, allocation: String, settled: Settled, target: &Target<'_>, entries: &Entries) {
        match settled {
            Settled::Unread | Settled::Nowhere => {}
            Settled::Waiting(handing) => self.handings.push(handing),
            Settled::In(choice, handing) => {
                self.handings.extend(handing);
                if choice.cluster == target.cluster {
                    self.hosts.push(allocation.clone());
                }
                let expected = entries.get(&allocation).cloned().flatten();
                if expected.as_ref() != Some(&choice.cluster) {
                    self.claims.push(Claim {
                        allocation,
                        expected,
                        cluster: choice.cluster,
                        why: choice.why,
                    });
                }
            }
        }
    }
}

/// The allocations that the rules of these policies can ask for, for this cluster.
pub fn allocations<'s>(policies: &[&'s Policy], target: &Target<'_>) -> impl Iterator<Item = &'s str> {
    policies.iter().flat_map(|policy| rules(policy, target)).map(|rule| match &rule.action {
        Action::Fort(fort) => fort.allocation.as_str(),
    })
}

fn rules<'s>(policy: &'s Policy, target: &Target<'_>) -> impl Iterator<Item = &'s Rule> {
    policy.rules.iter().filter(|rule| rule.target.includes(&target.cluster))
}

fn apply(rule: &Rule, object: &mut Draft<'_>, allocator: &mut Allocator<'_, '_, '_>) -> Result<(), Stop> {
    match &rule.action {
        Action::Fort(fort) => fort.apply(object, || allocator.hosts(&fort.allocation)),
    }
}

struct Allocator<'r, 'f, 'a> {
    request: Request<'r, 'a>,
    facts: Facts<'f>,
    /// Those that have been asked for. The first answer counts: an allocation is in one place.
    settled: BTreeMap<String, Settled>,
}

impl Allocator<'_, '_, '_> {
    /// Whether the cluster of the request hosts `allocation`.
    fn hosts(&mut self, allocation: &str) -> Result<bool, Stop> {
        if !self.settled.contains_key(allocation) {
            let settled = self.settle(allocation)?;
            self.settled.insert(allocation.to_owned(), settled);
        }
        match self.settled.get(allocation) {
            Some(Settled::In(choice, _)) => Ok(choice.cluster == self.request.target.cluster),
            _ => Ok(false),
        }
    }

    fn settle(&self, allocation: &str) -> Result<Settled, Stop> {
        let target = self.request.target;
        let Some(schedule) = &target.schedule else {
            return Err(Stop::Refused(Failure::unavailable(format!(
                "allocation {allocation:?}: the schedule of the workload is not known; give `request.targetClusters`, \
                 the whole schedule as a list of {{name, replicas}}, or the binding in --state"
            ))));
        };
        let pinned = self.pinned(allocation)?;
        let defined = self.facts.allocations.get(allocation);
        let known = Known {
            allocation,
            target: &target.cluster,
            schedule,
            pinned: pinned.as_ref(),
            entry: self.facts.entries.get(allocation).and_then(Option::as_ref),
            handover: defined.map_or(Handover::AfterRelease { timeout: None }, |defined| defined.handover),
            deliveries: self.facts.deliveries,
            preserves: self.facts.preserves,
            now: self.facts.now,
        };
        match known.settle() {
            Settled::Unread => Err(Stop::Unread),
            settled => Ok(settled),
        }
    }

    /// The cluster that the template pins `allocation` to.
    fn pinned(&self, allocation: &str) -> Result<Option<ClusterName>, Failure> {
        let key = format!("reviser.io/{allocation}-cluster");
        let pointer = || Pointer::of(["metadata", "annotations", &key]);
        let refused = |problem: String| {
            Failure::unprocessable(format!(
                "{}: {problem}; name a cluster, or take the annotation away",
                pointer()
            ))
        };
        let (template, whose) = match &self.request.target.original {
            Some(original) => (original, "request.originalObject"),
            None => (&self.request.object, "request.object"),
        };
        let text = match template.at(&pointer()) {
            Ok(None) => return Ok(None),
            Ok(Some(found)) if found.is_null() => return Ok(None),
            Ok(Some(found)) => read_string(&found).map_err(refused)?,
            Err(error) => return Err(refused(format!("{error} in `{whose}`"))),
        };
        Ok(ClusterName::new(text))
    }
}

fn read_string(raw: &Raw<'_>) -> Result<String, String> {
    match raw.as_str() {
        Ok(Some(text)) => Ok(text.into_owned()),
        Ok(None) => Err(format!("must be a string, is {}", raw.kind())),
        Err(error) => Err(error.to_string()),
    }
}
