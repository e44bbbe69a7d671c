//! One object, one cluster, all the policies that select it.

use std::collections::BTreeMap;
use std::fmt;

use jiff::Timestamp;

use super::actions::Action;
use super::checked::Watch;
use super::compiled::{Allocation, OnError, Policy, Rule};
use super::context::Context;
use super::handover::{Deliveries, HandoverEvent, Settled};
use super::trace::{self, Placement, StepOutcome, Trace, TraceStep};
use super::transformations::{IdleTransformation, Reach};
use super::{AllocationReason, Draft, Selection, checked};
use crate::domain::{Cluster, ClusterKind, ClusterName, Code, Failure, Target, Workload};
use crate::expression::Condition;
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
    /// Whether Karmada delivers it without a binding. What asks for a schedule is then refused with [`Code::Unscheduled`].
    pub is_unbound: bool,
}

impl Request<'_, '_> {
    /// The failure of what needs the schedule where that is not known. `problem` says what can't be done; `advice`, how
    /// to give the schedule of an object that has one.
    pub(super) fn unscheduled(&self, problem: &str, advice: &str) -> Failure {
        if self.is_unbound {
            Failure::unscheduled(format!("{problem}: {NO_BINDING}; {BINDING_ADVICE}"))
        } else {
            Failure::unavailable(format!("{problem}: the schedule of the workload is not known; {advice}"))
        }
    }
}

/// Why an object has no schedule.
pub(super) const NO_BINDING: &str = "the Work has no binding, so that there is no schedule";

/// What to do about it.
pub(super) const BINDING_ADVICE: &str =
    "take the rule away from this object, or have a PropagationPolicy of Karmada propagate the object";

/// What a revision rests on besides the object and the policies.
#[derive(Clone, Copy, Debug)]
pub struct Facts<'f> {
    /// What the ledger holds.
    pub entries: &'f LedgerEntries,
    /// How allocations are defined.
    pub allocations: &'f BTreeMap<String, Allocation>,
    /// What is known about the cluster.
    pub cluster: Option<&'f Cluster>,
    /// As what it is known, if it is.
    pub cluster_kind: Option<ClusterKind>,
    /// Where the object has its pod templates. A step `*` stands for each item of a list.
    pub pod_templates: &'f [Pointer],
    /// The Works that deliver the workload.
    pub deliveries: Deliveries<'f>,
    /// Whether the binding says that a cluster which it leaves keeps the object.
    pub preserves: bool,
    /// The time, from which timeouts count.
    pub now: Timestamp,
}

/// What the ledger holds for the workload, by allocation.
pub type LedgerEntries = BTreeMap<String, Option<ClusterName>>;

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
    pub reason: AllocationReason,
}

/// The outcome of [`revise`].
#[derive(Clone, Debug)]
pub struct Revision<'a> {
    /// The object for the cluster.
    pub object: Draft<'a>,
    /// The rules that changed something, as `Kind/policy/rule`, then the transformations, as `Kind/name`.
    pub applied: Vec<String>,
    /// The rules that failed and are skipped, because they say `onError: Skip`.
    pub skipped: Vec<SkippedRule>,
    /// What the user should know about rules and transformations that did less than they say.
    pub warnings: Vec<String>,
    /// Whether a rule that applies reads the template: in an expression, or to divide a number.
    pub reads_original: bool,
    /// The transformations that changed nothing, in the order in which they apply.
    pub idle: Vec<IdleTransformation>,
    /// The allocations that rules have asked for and that the cluster hosts, by name.
    pub hosts: Vec<String>,
    /// The allocations that leave a cluster, by name.
    pub handovers: Vec<HandoverEvent>,
    /// The ledger changes that the object rests on: each has to be made, in this order, before anybody sees it.
    pub claims: Vec<Claim>,
    /// Whether the facts had the cluster's document.
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

/// Why there is no revision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stop {
    /// It is refused.
    Refused(Failure),
    /// A rule has asked for something that depends on [`Facts::deliveries`], which are [unread](Deliveries::Unread).
    Unread,
}

impl Stop {
    /// The same, with what `change` makes of a refusal.
    pub(super) fn within(self, change: impl FnOnce(Failure) -> Failure) -> Self {
        match self {
            Self::Refused(failure) => Self::Refused(change(failure)),
            Self::Unread => Self::Unread,
        }
    }
}

impl From<Failure> for Stop {
    fn from(failure: Failure) -> Self {
        Self::Refused(failure)
    }
}

/// Revises an object for one cluster.
///
/// `selection` is what is at work on the object. The facts must hold an entry, if only `None`, for each allocation that
/// [`allocations`] names. A refusal names policy, rule, cluster and place; nothing is then to be answered but it.
pub fn revise<'r, 'a>(
    request: Request<'r, 'a>,
    selection: &Selection<'r>,
    facts: Facts<'_>,
) -> Result<Revision<'a>, Stop> {
    checked::run(request, selection, facts, None)
}

/// The same, with a [`Trace`], which costs a copy of the object a rule.
pub fn explain<'r, 'a>(
    request: Request<'r, 'a>,
    selection: &Selection<'r>,
    facts: Facts<'_>,
) -> Result<Revision<'a>, Stop> {
    checked::run(request, selection, facts, Some(Trace::default()))
}

/// Applies all rules and transformations. `watch` is called before the rules, and after each rule and each transformation.
pub(super) fn run<'r, 'a>(
    request: Request<'r, 'a>,
    selection: &Selection<'r>,
    facts: Facts<'_>,
    mut trace: Option<Trace<'a>>,
    watch: Option<Watch<'_, 'a>>,
) -> Result<Revision<'a>, Stop> {
    let mut object = Draft::new(request.object)?;
    if let Some(watch) = watch {
        watch(&object)?;
    }
    let mut context = Context::new(request, facts);
    let (mut applied, mut skipped) = (Vec::new(), Vec::new());
    let cluster = &request.target.cluster;
    let mut warnings = selection.warnings_for(request.workload, cluster);
    for &policy in &selection.policies {
        context.begin(policy, &object);
        for rule in &policy.rules {
            let name = || format!("{}/{}", policy.owner, rule.name);
            let about = |failure: Failure| {
                failure.context(format_args!(
                    "{} rule {:?} cluster {:?}",
                    policy.owner,
                    rule.name,
                    cluster.as_str()
                ))
            };
            let warned = |warning: String| {
                format!("{} rule {:?} cluster {:?}: {warning}", policy.owner, rule.name, cluster.as_str())
            };
            let before = object.changes();
            let was = trace.is_some().then(|| object.clone());
            let done = if rule.target.includes(cluster, facts.cluster).map_err(about)? {
                apply(rule, &mut object, &mut context).map_err(|stop| stop.within(about))?
            } else {
                Done::OtherCluster
            };
            if let (Some(trace), Some(was)) = (&mut trace, &was) {
                let outcome = outcome(&done, rule, was, &object).map_err(about)?;
                let warnings = context.warnings.clone();
                trace.steps.push(TraceStep { rule: name(), outcome, warnings });
            }
            warnings.extend(context.warnings.drain(..).map(warned));
            if matches!((&done, &rule.action), (Done::Applied, Action::Divide(_))) {
                context.reads_original = true;
            }
            match done {
                Done::Skipped(failure) => skipped.push(SkippedRule { rule: name(), failure: about(failure) }),
                Done::Applied if object.changes() != before => applied.push(name()),
                Done::OtherCluster | Done::ConditionFalse | Done::Applied => {}
            }
            if let Some(watch) = watch {
                watch(&object).map_err(about)?;
            }
        }
    }
    let (transformed, idle) =
        transform(selection, &mut object, &mut context, facts, trace.as_mut(), &mut warnings, watch)?;
    if let Some(trace) = &mut trace {
        let placed = context.settled.iter();
        trace.placements =
            placed.filter_map(|(name, settled)| Placement::of(name, settled, facts.entries)).collect();
    }
    let (hosts, handovers, claims) = Default::default();
    let reads_original = context.reads_original;
    applied.extend(transformed);
    let mut revision = Revision {
        object,
        applied,
        skipped,
        warnings,
        reads_original,
        idle,
        hosts,
        handovers,
        claims,
        knows_cluster: facts.cluster.is_some(),
        trace,
    };
    for (allocation, settled) in context.settled {
        revision.settle(allocation, settled, request.target, facts.entries);
    }
    Ok(revision)
}

/// What came of a rule, for the trace.
fn outcome<'a>(
    done: &Done,
    rule: &Rule,
    before: &Draft<'a>,
    after: &Draft<'a>,
) -> Result<StepOutcome<'a>, Failure> {
    Ok(match done {
        Done::OtherCluster => StepOutcome::OtherCluster,
        Done::ConditionFalse => {
            StepOutcome::ConditionFalse(rule.when.as_ref().map(Condition::source).unwrap_or_default().into())
        }
        Done::Skipped(failure) => StepOutcome::Skipped(failure.clone()),
        Done::Applied => changed(before, after)?,
    })
}

/// What came of something that has been applied.
fn changed<'a>(before: &Draft<'a>, after: &Draft<'a>) -> Result<StepOutcome<'a>, Failure> {
    let changes = trace::changes(&before.to_value()?, &after.to_value()?);
    Ok(if changes.is_empty() { StepOutcome::Nothing } else { StepOutcome::Changed(changes) })
}

/// Applies the transformations, and gives those that changed something and those that did not. `watch` is that of [`run`].
fn transform<'r, 'a>(
    selection: &Selection<'r>,
    object: &mut Draft<'a>,
    context: &mut Context<'r, '_, 'a>,
    facts: Facts<'_>,
    mut trace: Option<&mut Trace<'a>>,
    warnings: &mut Vec<String>,
    watch: Option<Watch<'_, 'a>>,
) -> Result<(Vec<String>, Vec<IdleTransformation>), Stop> {
    let cluster = context.cluster_name();
    let (mut transformed, mut idle) = (Vec::new(), Vec::new());
    for transformation in &selection.transformations {
        let before = object.changes();
        let was = trace.is_some().then(|| object.clone());
        let about = |failure: Failure| {
            failure.context(format_args!("{transformation} cluster {:?}", cluster.as_str()))
        };
        let reach = transformation
            .apply(object, context, facts.cluster_kind, facts.cluster)
            .map_err(|stop| stop.within(about))?;
        if let (Some(trace), Some(was)) = (&mut trace, &was) {
            let outcome = match reach {
                Reach::NoEntry | Reach::OtherKind => StepOutcome::NoEntry,
                _ => changed(was, object).map_err(about)?,
            };
            let warnings = context.warnings.clone();
            trace.steps.push(TraceStep { rule: transformation.to_string(), outcome, warnings });
        }
        warnings.extend(
            context
                .warnings
                .drain(..)
                .map(|warning| format!("{transformation} cluster {:?}: {warning}", cluster.as_str())),
        );
        if let Some(watch) = watch {
            watch(object).map_err(about)?;
        }
        match reach {
            _ if object.changes() != before => transformed.push(transformation.to_string()),
            Reach::OtherKind => {}
            reach => idle.push(IdleTransformation::new(transformation, cluster, reach)),
        }
    }
    Ok((transformed, idle))
}

impl Revision<'_> {
    /// Takes in what came of one allocation.
    fn settle(&mut self, allocation: String, settled: Settled, target: &Target<'_>, entries: &LedgerEntries) {
        match settled {
            Settled::Unread | Settled::Nowhere => {}
            Settled::Waiting(event) => self.handovers.push(event),
            Settled::In(choice, event) => {
                self.handovers.extend(event);
                if choice.cluster == target.cluster {
                    self.hosts.push(allocation.clone());
                }
                let expected = entries.get(&allocation).cloned().flatten();
                if expected.as_ref() != Some(&choice.cluster) {
                    self.claims.push(Claim {
                        allocation,
                        expected,
                        cluster: choice.cluster,
                        reason: choice.reason,
                    });
                }
            }
        }
    }
}

/// The allocations that the rules of these policies can ask for, for any cluster.
pub fn allocations<'s>(policies: &[&'s Policy]) -> impl Iterator<Item = &'s str> {
    policies.iter().flat_map(|policy| &policy.rules).flat_map(|rule| &rule.asks).map(String::as_str)
}

/// What becomes of a rule.
enum Done {
    OtherCluster,
    ConditionFalse,
    Applied,
    /// It would have failed with this.
    Skipped(Failure),
}

/// Applies a rule, which is for the cluster, if its condition holds.
fn apply<'r, 'a>(
    rule: &'r Rule,
    object: &mut Draft<'a>,
    context: &mut Context<'r, '_, 'a>,
) -> Result<Done, Stop> {
    if rule.on_error == OnError::Fail {
        return attempt(rule, object, context);
    }
    let before = object.clone();
    match attempt(rule, object, context) {
        // What somebody could still tell us, and what the ledger says, is no fault of the rule.
        Err(Stop::Refused(failure)) if failure.code() == Code::Unprocessable => {
            *object = before;
            context.forget();
            context.warnings.clear();
            Ok(Done::Skipped(failure))
        }
        done => done,
    }
}

fn attempt<'r, 'a>(
    rule: &'r Rule,
    object: &mut Draft<'a>,
    context: &mut Context<'r, '_, 'a>,
) -> Result<Done, Stop> {
    if let Some(when) = &rule.when
        && !context.holds(when, object)?
    {
        return Ok(Done::ConditionFalse);
    }
    rule.action.apply(object, context)?;
    Ok(Done::Applied)
}
