//! One object for one cluster: applies all policies that select it, then its transformations, and checks the
//! result.

use std::fmt;

use super::context::Context;
use super::handover::{HandoverEvent, Settled};
use super::policy::{OnError, Rule};
use super::policy_set::Selection;
use super::request::{Facts, LedgerEntries, Request, Stop};
use super::trace::{self, Placement, StepOutcome, Trace, TraceStep};
use super::transformations::{IdleTransformation, Reach};
use super::{AllocationReason, Draft, env_order, limits, types, validate};
use crate::domain::{ClusterName, Code, Failure};
use crate::expression::Condition;

/// A ledger change that has to be committed before a revision is used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim {
    pub allocation: String,
    /// What the ledger held.
    pub expected: Option<ClusterName>,
    pub cluster: ClusterName,
    pub reason: AllocationReason,
}

/// The outcome of [`revise`].
#[derive(Clone, Debug)]
pub struct Revision<'a> {
    pub object: Draft<'a>,
    /// The rules that changed something, as `Kind/policy/rule`, then the transformations, as `Kind/name`.
    pub applied: Vec<String>,
    pub skipped: Vec<SkippedRule>,
    pub warnings: Vec<String>,
    /// Whether a rule that applies reads the template: in an expression, or to divide a number.
    pub reads_original: bool,
    /// The transformations that changed nothing, in order.
    pub idle: Vec<IdleTransformation>,
    /// The allocations that rules asked for and that the cluster hosts, by name.
    pub hosts: Vec<String>,
    /// The allocations that leave a cluster, by name.
    pub handovers: Vec<HandoverEvent>,
    /// To be committed in this order.
    pub claims: Vec<Claim>,
    /// Whether the cluster's document is known.
    pub knows_cluster: bool,
    /// The effect of each rule, from [`explain`].
    pub trace: Option<Trace<'a>>,
}

/// A rule that failed and is skipped, because it says `onError: Skip`.
#[derive(Clone, Debug)]
pub struct SkippedRule {
    /// The rule, as `Kind/policy/rule`.
    pub rule: String,
    pub failure: Failure,
}

impl fmt::Display for SkippedRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} is skipped: {}", self.rule, self.failure)
    }
}

/// Revises an object for one cluster.
///
/// The facts must hold an entry, also if it is `None`, for each allocation that
/// [`allocations`](super::allocations) names. A refusal names policy, rule, cluster and place.
pub fn revise<'a>(
    request: Request<'_, 'a>,
    selection: &Selection<'_>,
    facts: Facts<'_>,
) -> Result<Revision<'a>, Stop> {
    run(request, selection, facts, None)
}

/// The same, with a [`Trace`].
pub fn explain<'a>(
    request: Request<'_, 'a>,
    selection: &Selection<'_>,
    facts: Facts<'_>,
) -> Result<Revision<'a>, Stop> {
    run(request, selection, facts, Some(Trace::default()))
}

/// A check of the object so far.
type Check<'w, 'a> = &'w dyn Fn(&Draft<'a>) -> Result<(), Failure>;

fn run<'a>(
    request: Request<'_, 'a>,
    selection: &Selection<'_>,
    facts: Facts<'_>,
    trace: Option<Trace<'a>>,
) -> Result<Revision<'a>, Stop> {
    let mut revision = apply_all(request, selection, facts, trace, None)?;
    // To name the rule, all rules are applied again with a check after each.
    let refused = |failure: Failure, check: Check<'_, 'a>| {
        apply_all(request, selection, facts, None, Some(check)).err().unwrap_or(Stop::Refused(failure))
    };
    match check(&revision.object, request, facts) {
        Ok(warnings) => {
            let cluster = request.target.cluster.as_str();
            let misplaced = env_order::misplaced(&revision.object, facts.pod_templates);
            let warnings = warnings.into_iter().chain(misplaced);
            revision.warnings.extend(warnings.map(|warning| format!("cluster {cluster:?}: {warning}")));
        }
        Err(failure) => return Err(refused(failure, &|draft| check(draft, request, facts).map(drop))),
    }
    let gvk = &request.workload.gvk;
    if let Some(violation) = validate::introduced(&revision.object, gvk).into_iter().next() {
        return Err(refused(violation.failure(), &|draft| {
            let is_there = validate::introduced(draft, gvk).iter().any(|found| found.is_like(&violation));
            if is_there { Err(violation.failure()) } else { Ok(()) }
        }));
    }
    Ok(revision)
}

/// Refuses a value of the wrong type, and a change of what no rule may change. Returns warnings.
fn check(draft: &Draft<'_>, request: Request<'_, '_>, facts: Facts<'_>) -> Result<Vec<String>, Failure> {
    limits::check(draft, request.workload)?;
    types::check(draft, &request.workload.gvk, facts.pod_templates)
}

/// Applies all rules and transformations. `check` is called before the rules, and after each rule and
/// transformation.
fn apply_all<'a>(
    request: Request<'_, 'a>,
    selection: &Selection<'_>,
    facts: Facts<'_>,
    mut trace: Option<Trace<'a>>,
    check: Option<Check<'_, 'a>>,
) -> Result<Revision<'a>, Stop> {
    let check = check.unwrap_or(&|_| Ok(()));
    let cluster = &request.target.cluster;
    let mut draft = Draft::new(request.object)?;
    check(&draft)?;
    let mut context = Context::new(request, facts);
    let mut warnings = selection.warnings_for(request.workload, cluster);
    let (mut applied, mut skipped) = (Vec::new(), Vec::new());
    for &policy in &selection.policies {
        context.begin(&policy.variables, &draft);
        for rule in &policy.rules {
            let name = || format!("{}/{}", policy.owner, rule.name);
            let step = format!("{} rule {:?} cluster {:?}", policy.owner, rule.name, cluster.as_str());
            let about = |failure: Failure| failure.context(&step);
            let before = draft.clone();
            let done = if rule.target.includes(cluster, facts.cluster).map_err(about)? {
                apply(rule, &mut draft, &mut context).map_err(|stop| stop.map(about))?
            } else {
                Done::OtherCluster
            };
            if let Some(trace) = &mut trace {
                let outcome = match &done {
                    Done::OtherCluster => StepOutcome::OtherCluster,
                    Done::ConditionFalse => StepOutcome::ConditionFalse(
                        rule.when.as_ref().map(Condition::source).unwrap_or_default().into(),
                    ),
                    Done::Skipped(failure) => StepOutcome::Skipped(failure.clone()),
                    Done::Applied => trace::changed(&before, &draft),
                };
                let warnings = context.warnings.clone();
                trace.steps.push(TraceStep { rule: name(), outcome, warnings });
            }
            warnings.extend(context.warnings.drain(..).map(|warning| format!("{step}: {warning}")));
            match done {
                Done::OtherCluster | Done::ConditionFalse => {}
                Done::Applied => {
                    context.reads_original |= rule.action.reads_template();
                    if draft.changes() != before.changes() {
                        applied.push(name());
                    }
                }
                Done::Skipped(failure) => skipped.push(SkippedRule { rule: name(), failure: about(failure) }),
            }
            check(&draft).map_err(about)?;
        }
    }
    let mut idle = Vec::new();
    for &transformation in &selection.transformations {
        let step = format!("{transformation} cluster {:?}", cluster.as_str());
        let about = |failure: Failure| failure.context(&step);
        let before = draft.clone();
        let reach = transformation.apply(&mut draft, &mut context).map_err(|stop| stop.map(about))?;
        if let Some(trace) = &mut trace {
            let outcome = match reach {
                Reach::NoEntry | Reach::OtherKind => StepOutcome::NoEntry,
                Reach::EmptyPatches | Reach::Patches => trace::changed(&before, &draft),
            };
            let (rule, warnings) = (transformation.to_string(), context.warnings.clone());
            trace.steps.push(TraceStep { rule, outcome, warnings });
        }
        warnings.extend(context.warnings.drain(..).map(|warning| format!("{step}: {warning}")));
        check(&draft).map_err(about)?;
        if draft.changes() != before.changes() {
            applied.push(transformation.to_string());
        } else if reach != Reach::OtherKind {
            idle.push(IdleTransformation::new(transformation, cluster, reach));
        }
    }
    if let Some(trace) = &mut trace {
        let placed = context.settled.iter();
        trace.placements =
            placed.filter_map(|(name, settled)| Placement::of(name, settled, facts.entries)).collect();
    }
    let mut revision = Revision {
        object: draft,
        applied,
        skipped,
        warnings,
        reads_original: context.reads_original,
        idle,
        hosts: Vec::new(),
        handovers: Vec::new(),
        claims: Vec::new(),
        knows_cluster: facts.cluster.is_some(),
        trace,
    };
    for (allocation, settled) in context.settled {
        revision.add_allocation(allocation, settled, cluster, facts.entries);
    }
    Ok(revision)
}

impl Revision<'_> {
    fn add_allocation(
        &mut self,
        allocation: String,
        settled: Settled,
        cluster: &ClusterName,
        entries: &LedgerEntries,
    ) {
        match settled {
            Settled::Unread | Settled::Nowhere => {}
            Settled::Waiting(event) => self.handovers.push(event),
            Settled::In(choice, event) => {
                self.handovers.extend(event);
                if choice.cluster == *cluster {
                    self.hosts.push(allocation.clone());
                }
                let expected = entries.get(&allocation).cloned().flatten();
                if expected.as_ref() != Some(&choice.cluster) {
                    let (cluster, reason) = (choice.cluster, choice.reason);
                    self.claims.push(Claim { allocation, expected, cluster, reason });
                }
            }
        }
    }
}

/// What happened to a rule.
enum Done {
    OtherCluster,
    ConditionFalse,
    Applied,
    Skipped(Failure),
}

/// Applies a rule, which is for the cluster, if its condition holds.
fn apply<'a>(rule: &Rule, draft: &mut Draft<'a>, context: &mut Context<'_, 'a>) -> Result<Done, Stop> {
    let before = draft.clone();
    match (apply_if_condition_holds(rule, draft, context), rule.on_error) {
        // Other codes are not the fault of the rule: the next attempt may succeed.
        (Err(Stop::Refused(failure)), OnError::Skip) if failure.code() == Code::Unprocessable => {
            *draft = before;
            context.warnings.clear();
            Ok(Done::Skipped(failure))
        }
        (done, OnError::Fail | OnError::Skip) => done,
    }
}

fn apply_if_condition_holds<'a>(
    rule: &Rule,
    draft: &mut Draft<'a>,
    context: &mut Context<'_, 'a>,
) -> Result<Done, Stop> {
    if let Some(when) = &rule.when
        && !context.holds(when, draft)?
    {
        return Ok(Done::ConditionFalse);
    }
    rule.action.apply(draft, context)?;
    Ok(Done::Applied)
}
