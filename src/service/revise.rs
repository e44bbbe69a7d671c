//! One revision with all that it rests on: ledger, Works, time.

use crate::domain::{AllocationKey, Binding, Code, Delivery, Failure, Workload};
use crate::engine::{
    self, Claim, Deliveries, Draft, Facts, HandoverEvent, IdleTransformation, LedgerEntries, PolicySet,
    Request, Revision, Selection, Stop, Trace,
};
use crate::state::{LedgerError, Swap};

use super::Service;

/// How often a revision is made anew because somebody else wrote the ledger meanwhile.
pub(super) const MAX_ATTEMPTS: usize = 16;

/// A revision of an object for one cluster.
#[derive(Clone, Debug)]
pub struct Revised<'a> {
    /// The object after the rules.
    pub object: Draft<'a>,
    /// The rules that changed something, as `Kind/policy/rule`, and the transformations, as `Kind/name`.
    pub applied: Vec<String>,
    /// The rules that could not be applied and say that they are skipped then.
    pub skipped: Vec<SkippedRule>,
    /// What the user should know about rules that did less than they say.
    pub warnings: Vec<String>,
    /// The transformations that the object chooses and that changed nothing.
    pub idle: Vec<IdleTransformation>,
    /// Whether a rule that applies reads the template.
    pub reads_original: bool,
    /// The allocations that rules asked for and that the cluster hosts.
    pub hosts: Vec<String>,
    /// The allocations that leave a cluster.
    pub handovers: Vec<HandoverEvent>,
    /// A digest of what is at work on the object.
    pub hash: String,
    /// Whether something is known about the cluster; only looked up where somebody may want to know it.
    pub(super) knows_cluster: bool,
    /// Why it is so, if that was asked for.
    pub trace: Option<Trace<'a>>,
}

/// A rule that could not be applied and says that it is skipped then.
#[derive(Clone, Debug)]
pub struct SkippedRule {
    /// The rule, as `Kind/policy/rule`.
    pub rule: String,
    /// Why it could not be applied.
    pub failure: Failure,
}

impl std::fmt::Display for SkippedRule {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} is skipped: {}", self.rule, self.failure)
    }
}

/// What a door knows besides the request.
#[derive(Clone, Copy)]
pub(super) struct Situation<'s> {
    /// Whether the binding keeps the object in a cluster that it leaves.
    pub(super) preserves: bool,
    /// The binding, where it has been read.
    pub(super) binding: Option<&'s Binding>,
    /// The name of the Work that delivers the object, where it is known.
    pub(super) called: Option<&'s str>,
    /// What the Work that is to be replaced says; newer than what a list of Works says about that cluster.
    pub(super) own: &'s (dyn Fn() -> Option<Delivery> + Sync),
    /// A trace is wanted, and nothing is to be written.
    pub(super) explain: bool,
}

impl Default for Situation<'_> {
    fn default() -> Self {
        Self { preserves: false, binding: None, called: None, own: &|| None, explain: false }
    }
}

impl Service {
    /// Revises, and makes the revision true in the ledger before it returns.
    pub(super) async fn settle<'a>(
        &self,
        request: Request<'_, 'a>,
        set: &PolicySet,
        selection: &Selection<'_>,
        situation: Situation<'_>,
    ) -> Result<Revised<'a>, Failure> {
        for _ in 0..MAX_ATTEMPTS {
            if let Some(revised) = self.attempt(request, set, selection, situation).await? {
                return Ok(revised);
            }
        }
        Err(contended())
    }

    /// The same, once; `None` if somebody else has written the ledger meanwhile, so that all has to be looked at anew.
    pub(super) async fn attempt<'a>(
        &self,
        request: Request<'_, 'a>,
        set: &PolicySet,
        selection: &Selection<'_>,
        situation: Situation<'_>,
    ) -> Result<Option<Revised<'a>>, Failure> {
        let Planned { revised, claims } = self.plan(request, set, selection, situation).await?;
        let is_true = situation.explain || self.commit(request.workload, situation.binding, &claims).await?;
        Ok(is_true.then_some(revised))
    }

    /// Revises. The revision is true only once its claims have been [committed](Self::commit).
    pub(super) async fn plan<'a>(
        &self,
        request: Request<'_, 'a>,
        set: &PolicySet,
        selection: &Selection<'_>,
        situation: Situation<'_>,
    ) -> Result<Planned<'a>, Failure> {
        let entries = self.entries(request, selection, situation.binding).await?;
        let cluster = self.cluster(request, selection).await?;
        // Where nothing is at work nobody looks for it, and a document that is out of use does no harm.
        let pod_templates =
            if selection.is_empty() { Vec::new() } else { set.pod_templates(&request.workload.gvk)? };
        let mut deliveries: Option<Vec<Delivery>> = None;
        loop {
            let facts = Facts {
                entries: &entries,
                allocations: &set.allocations,
                deliveries: match (&self.works, &deliveries) {
                    (None, _) => Deliveries::Unreadable,
                    (Some(_), None) => Deliveries::Unread,
                    (Some(_), Some(read)) => Deliveries::Read(read),
                },
                cluster: cluster.as_ref().map(|(_, cluster)| cluster),
                cluster_kind: cluster.as_ref().and_then(|(kind, _)| *kind),
                pod_templates: &pod_templates,
                preserves: situation.preserves,
                now: (self.clock.0)(),
            };
            let revise = if situation.explain { engine::explain } else { engine::revise };
            match revise(request, selection, facts) {
                Ok(mut revision) => {
                    let claims = std::mem::take(&mut revision.claims);
                    return Ok(Planned {
                        revised: Revised::of(revision, selection, cluster.is_some()),
                        claims,
                    });
                }
                Err(Stop::Refused(failure)) => return Err(failure),
                Err(Stop::Unread) => {
                    let own = (situation.own)();
                    deliveries = Some(self.deliveries(request.workload, situation.called, own).await?);
                }
            }
        }
    }

    /// What the ledger holds for the allocations that the rules may ask for.
    async fn entries(
        &self,
        request: Request<'_, '_>,
        selection: &Selection<'_>,
        binding: Option<&Binding>,
    ) -> Result<LedgerEntries, Failure> {
        let mut entries = LedgerEntries::new();
        for allocation in engine::allocations(&selection.policies) {
            if entries.contains_key(allocation) {
                continue;
            }
            // What has no schedule has no allocations either: a rule that asks for one is refused.
            let entry = if request.is_unbound {
                None
            } else {
                let key = AllocationKey::new(allocation, request.workload);
                self.ledger.read(&key, binding).await.map_err(|error| unusable(&error))?
            };
            entries.insert(allocation.to_owned(), entry);
        }
        Ok(entries)
    }

    /// Makes the claims. False if somebody else was faster: then the revision has to be made anew, also because whoever it was
    /// may have acted on Works that are newer.
    pub(super) async fn commit(
        &self,
        workload: &Workload,
        binding: Option<&Binding>,
        claims: &[Claim],
    ) -> Result<bool, Failure> {
        for claim in claims {
            let key = AllocationKey::new(&claim.allocation, workload);
            let swap = self.ledger.compare_and_swap(&key, binding, claim.expected.as_ref(), &claim.cluster);
            match swap.await.map_err(|error| unusable(&error))? {
                Swap::Done => {
                    tracing::info!(%key, cluster = %claim.cluster, was = claim.expected.as_ref().map(tracing::field::display), why = ?claim.reason, "allocated");
                }
                Swap::Lost(_) => return Ok(false),
            }
        }
        Ok(true)
    }
}

/// A revision, and what has to be in the ledger for it to be true.
pub(super) struct Planned<'a> {
    pub(super) revised: Revised<'a>,
    pub(super) claims: Vec<Claim>,
}

/// Somebody else wrote the ledger each time.
pub(super) fn contended() -> Failure {
    Failure::new(
        Code::Conflict,
        format!("the ledger was written by somebody else {MAX_ATTEMPTS} times in a row; try again"),
    )
}

impl<'a> Revised<'a> {
    fn of(revision: Revision<'_, 'a>, selection: &Selection<'_>, knows_cluster: bool) -> Self {
        let applied = revision.applied.iter().map(|(policy, rule)| format!("{}/{}", policy.owner, rule.name));
        let skipped = revision.skipped.iter().map(|skipped| SkippedRule {
            rule: format!("{}/{}", skipped.policy.owner, skipped.rule.name),
            failure: skipped.failure.clone(),
        });
        Self {
            applied: applied.chain(revision.transformed).collect(),
            skipped: skipped.collect(),
            warnings: revision.warnings,
            idle: revision.idle,
            reads_original: revision.reads_original,
            hosts: revision.hosts,
            handovers: revision.handovers,
            hash: selection.hash(),
            knows_cluster,
            trace: revision.trace,
            object: revision.object,
        }
    }
}

fn unusable(error: &LedgerError) -> Failure {
    tracing::error!(error = %Chain(error), "the ledger can't be used");
    Failure::unavailable(format!("{}; the answer needs the ledger, see the log of reviser", Chain(error)))
}

/// An error and its sources in one line.
struct Chain<'e>(&'e dyn std::error::Error);

impl std::fmt::Display for Chain<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.0)?;
        let mut source = self.0.source();
        while let Some(error) = source {
            write!(f, ": {error}")?;
            source = error.source();
        }
        Ok(())
    }
}
