//! One object, one cluster, all the policies that select it.

use std::collections::BTreeMap;

use super::compiled::{Action, Policy, Rule};
use super::{Draft, Why, allocate, limits};
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
    /// The ledger changes that the object rests on: each has to be made, in this order, before anybody sees it.
    pub claims: Vec<Claim>,
}

/// Revises an object for one cluster.
///
/// `policies` are those that select the object. `entries` must hold an entry, if only `None`, for each allocation that
/// [`allocations`] names. A failure names policy, rule, cluster and place; nothing is then to be answered but it.
pub fn revise<'r, 'a>(
    request: Request<'r, 'a>,
    policies: &[&'r Policy],
    entries: &Entries,
) -> Result<Revision<'r, 'a>, Failure> {
    let mut object = Draft::new(request.object)?;
    let mut allocator = Allocator { request, entries, claims: Vec::new() };
    let mut applied = Vec::new();
    for policy in policies {
        for rule in rules(policy, request.target) {
            let before = object.changes();
            apply(rule, &mut object, &mut allocator).map_err(|failure| {
                failure.context(format_args!(
                    "{} rule {:?} cluster {:?}",
                    policy.owner,
                    rule.name,
                    request.target.cluster.as_str()
                ))
            })?;
            if object.changes() != before {
                applied.push((*policy, rule));
            }
        }
    }
    limits::crosses(&object)?;
    Ok(Revision { object, applied, claims: allocator.claims })
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

fn apply(rule: &Rule, object: &mut Draft<'_>, allocator: &mut Allocator<'_, '_, '_>) -> Result<(), Failure> {
    match &rule.action {
        Action::Fort(fort) => fort.apply(object, || allocator.hosts(&fort.allocation)),
    }
}

struct Allocator<'r, 'e, 'a> {
    request: Request<'r, 'a>,
    entries: &'e Entries,
    claims: Vec<Claim>,
}

impl Allocator<'_, '_, '_> {
    /// Whether the cluster of the request hosts `allocation`. Claims it for the cluster that does.
    fn hosts(&mut self, allocation: &str) -> Result<bool, Failure> {
        let target = self.request.target;
        let Some(schedule) = &target.schedule else {
            return Err(Failure::unavailable(format!(
                "allocation {allocation:?}: the schedule of the workload is not known; give `request.targetClusters`, \
                 the whole schedule as a list of {{name, replicas}}"
            )));
        };
        let pinned = self.pinned(allocation)?;
        let current = self.entries.get(allocation).and_then(Option::as_ref);
        let Some(choice) = allocate(schedule, pinned.as_ref(), current) else {
            return Ok(false);
        };
        let hosts = choice.cluster == target.cluster;
        if current != Some(&choice.cluster) && self.claims.iter().all(|claim| claim.allocation != allocation)
        {
            self.claims.push(Claim {
                allocation: allocation.to_owned(),
                expected: current.cloned(),
                cluster: choice.cluster,
                why: choice.why,
            });
        }
        Ok(hosts)
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
