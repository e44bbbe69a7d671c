//! One revision: reads what it depends on, lets the engine decide, and commits its ledger changes.

use super::Service;
use crate::domain::{AllocationKey, Binding, Code, Delivery, ErrorChain, Failure, Target, Workload};
use crate::engine::{
    self, Claim, Deliveries, Facts, LedgerEntries, ObjectSource, PolicySet, Request, Revision, Selection,
    Stop,
};
use crate::json::Raw;
use crate::state::{LedgerError, Swap};

/// How often a revision is repeated because another replica changed the ledger meanwhile.
pub(crate) const MAX_ATTEMPTS: usize = 16;

/// Where an object comes from, as far as a door knows it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Origin<'o> {
    pub(crate) binding: Option<&'o Binding>,
    /// The name of the Work that delivers the object.
    pub(crate) work_name: Option<&'o str>,
    /// The stored version of that Work. It is newer than the Work in a list of Works.
    pub(crate) stored_work: Option<Raw<'o>>,
}

/// What happens to the claims of a revision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    Commit,
    DryRun,
    /// A dry run with a [`trace`](Revision::trace).
    Explain,
}

impl Service {
    /// Revises `object` for one cluster and commits its allocations to the ledger.
    ///
    /// Fails if the policies are not loaded, if a rule or the result is refused, and if ledger or state
    /// cannot be read.
    pub async fn revise<'a>(
        &self,
        workload: &Workload,
        object: &ObjectSource<'a>,
        target: &Target<'a>,
    ) -> Result<Revision<'a>, Failure> {
        self.revise_for(workload, object, target, Mode::Commit).await
    }

    /// Revises `object` for one cluster with a [`trace`](Revision::trace), and commits nothing.
    pub async fn explain<'a>(
        &self,
        workload: &Workload,
        object: &ObjectSource<'a>,
        target: &Target<'a>,
    ) -> Result<Revision<'a>, Failure> {
        self.revise_for(workload, object, target, Mode::Explain).await
    }

    /// Reads the binding where the caller gives no schedule, or where the ledger is on it.
    async fn revise_for<'a>(
        &self,
        workload: &Workload,
        object: &ObjectSource<'a>,
        target: &Target<'a>,
        mode: Mode,
    ) -> Result<Revision<'a>, Failure> {
        let policies = self.policies()?;
        let selection = policies.selection(workload, object)?;
        let has_allocations = engine::allocations(&selection.policies).next().is_some();
        let needs_binding = !selection.is_empty()
            && (target.schedule.is_none() || (self.ledger.is_on_bindings() && has_allocations));
        for _ in 0..MAX_ATTEMPTS {
            // Read again for each attempt, because the ledger may be on it.
            let binding = if needs_binding { self.binding_if_found(workload).await? } else { None };
            let target = match &binding {
                None => target.clone(),
                // The caller's replicas and schedule take precedence over the binding's.
                Some(binding) => Target {
                    replicas: target.replicas.or_else(|| binding.schedule.replicas_of(&target.cluster)),
                    schedule: target.schedule.clone().or_else(|| Some(binding.schedule.clone())),
                    ..target.clone()
                },
            };
            let request = Request { workload, object, target: &target, is_unbound: false };
            let origin = Origin { binding: binding.as_ref(), ..Origin::default() };
            if let Some(revision) = self.attempt(request, &policies, &selection, origin, mode).await? {
                return Ok(revision);
            }
        }
        Err(contended())
    }

    /// Revises and commits once. `None` if another replica changed the ledger: the caller reads everything
    /// again.
    pub(crate) async fn attempt<'a>(
        &self,
        request: Request<'_, 'a>,
        policies: &PolicySet,
        selection: &Selection<'_>,
        origin: Origin<'_>,
        mode: Mode,
    ) -> Result<Option<Revision<'a>>, Failure> {
        let revision = self.plan(request, policies, selection, origin, mode).await?;
        let is_committed =
            mode != Mode::Commit || self.commit(request.workload, origin.binding, &revision.claims).await?;
        Ok(is_committed.then_some(revision))
    }

    /// Revises. The revision is valid only after its claims are [committed](Self::commit).
    pub(crate) async fn plan<'a>(
        &self,
        request: Request<'_, 'a>,
        policies: &PolicySet,
        selection: &Selection<'_>,
        origin: Origin<'_>,
        mode: Mode,
    ) -> Result<Revision<'a>, Failure> {
        let entries = self.entries(request, selection, origin.binding).await?;
        let cluster = self.cluster(request, selection).await?;
        // An object that nothing selects is answered even if the interpretation of its kind is invalid.
        let pod_templates =
            if selection.is_empty() { Vec::new() } else { policies.pod_templates(&request.workload.gvk)? };
        let mut deliveries: Option<Vec<Delivery>> = None;
        loop {
            let facts = Facts {
                entries: &entries,
                allocations: &policies.allocations,
                deliveries: match (&self.works, &deliveries) {
                    (None, _) => Deliveries::Unreadable,
                    (Some(_), None) => Deliveries::Unread,
                    (Some(_), Some(read)) => Deliveries::Read(read),
                },
                cluster: cluster.as_ref().map(|(_, cluster)| cluster),
                cluster_kind: cluster.as_ref().and_then(|(kind, _)| *kind),
                pod_templates: &pod_templates,
                preserves: origin.binding.is_some_and(|binding| binding.preserves),
                now: self.now(),
            };
            let revised = match mode {
                Mode::Commit | Mode::DryRun => engine::revise(request, selection, facts),
                Mode::Explain => engine::explain(request, selection, facts),
            };
            match revised {
                Ok(revision) => return Ok(revision),
                Err(Stop::Refused(failure)) => return Err(failure),
                // Works are expensive to list, so they are read only when a rule needs them.
                Err(Stop::Unread) => deliveries = Some(self.deliveries(request, origin).await?),
            }
        }
    }

    /// The ledger's entries for the allocations that the selected rules may use.
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
            // An object without a binding has no allocations: the engine refuses a rule that uses one.
            let entry = if request.is_unbound {
                None
            } else {
                let key = AllocationKey::new(allocation, request.workload);
                self.ledger.read(&key, binding).await.map_err(|error| ledger_failure(&error))?
            };
            entries.insert(allocation.to_owned(), entry);
        }
        Ok(entries)
    }

    /// Commits claims to the ledger. False if another replica changed an entry since it was read.
    pub(crate) async fn commit(
        &self,
        workload: &Workload,
        binding: Option<&Binding>,
        claims: &[Claim],
    ) -> Result<bool, Failure> {
        for Claim { allocation, expected, cluster, reason } in claims {
            let key = AllocationKey::new(allocation, workload);
            let swap = self.ledger.compare_and_swap(&key, binding, expected.as_ref(), cluster).await;
            match swap.map_err(|error| ledger_failure(&error))? {
                Swap::Done => {
                    let was = expected.as_ref().map(tracing::field::display);
                    tracing::info!(%key, %cluster, was, why = ?reason, "allocated");
                }
                Swap::Lost(_) => return Ok(false),
            }
        }
        Ok(true)
    }
}

/// The failure after [`MAX_ATTEMPTS`].
pub(crate) fn contended() -> Failure {
    Failure::new(
        Code::Conflict,
        format!("other replicas changed the ledger {MAX_ATTEMPTS} times in a row; try again"),
    )
}

fn ledger_failure(error: &LedgerError) -> Failure {
    tracing::error!(error = %ErrorChain(error), "failed to use the ledger");
    Failure::unavailable(format!(
        "{}; the answer needs the ledger, see the log of reviser",
        ErrorChain(error)
    ))
}
