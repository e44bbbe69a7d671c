//! Answers questions: collects what the engine needs, runs it, and makes its ledger changes true before anybody
//! sees the answer. Every door and `preview` go through here, so that the same input gets the same revision.
//!
//! Knows the ports of `state`, not what is behind them, and no protocol.

use std::sync::Arc;
use std::time::Instant;

use crate::domain::{AllocationKey, Answer, Code, Failure, Operation, Question, Target, Workload};
use crate::engine::{self, Claim, Draft, Entries, PolicySet};
use crate::json::Raw;
use crate::state::{Ledger, LedgerError, Swap};

#[cfg(test)]
mod tests;

/// How often a revision is made anew because somebody else wrote the ledger meanwhile.
const MAX_ATTEMPTS: usize = 16;

/// The service. Shared by all connections.
#[derive(Debug)]
pub struct Service {
    policies: PolicySet,
    ledger: Arc<dyn Ledger>,
}

/// An answer, with what the log line wants to know about it.
#[derive(Clone, Debug)]
pub struct Outcome<'a> {
    /// The answer, or why there is none.
    pub answer: Result<Answer<'a>, Failure>,
    /// The rules that changed something, as `Kind/policy/rule`.
    pub applied: Vec<String>,
}

/// A revision of an object for one cluster.
#[derive(Clone, Debug)]
pub struct Revised<'a> {
    /// The object after the rules.
    pub object: Draft<'a>,
    /// The rules that changed something, as `Kind/policy/rule`.
    pub applied: Vec<String>,
}

impl Service {
    /// A service with these policies and this ledger.
    pub fn new(policies: PolicySet, ledger: Arc<dyn Ledger>) -> Self {
        Self { policies, ledger }
    }

    /// Answers a question. After `deadline` the answer is a failure that says so.
    pub async fn answer<'a>(&self, question: &Question<'a>, deadline: Option<Instant>) -> Outcome<'a> {
        let answering = self.answer_in_time(question);
        let late = || Outcome { answer: Err(too_late()), applied: Vec::new() };
        let outcome = match deadline {
            None => answering.await,
            // Looked at before too: `timeout_at` polls first, and most answers are there at once.
            Some(deadline) if Instant::now() >= deadline => late(),
            Some(deadline) => {
                tokio::time::timeout_at(deadline.into(), answering).await.unwrap_or_else(|_| late())
            }
        };
        let workload = &question.workload;
        let about = |failure: Failure| match &question.operation {
            Operation::ReviseObject(target) => {
                failure.context(format_args!("{workload} cluster {:?}", target.cluster.as_str()))
            }
            _ => failure.context(workload),
        };
        Outcome { answer: outcome.answer.map_err(about), ..outcome }
    }

    async fn answer_in_time<'a>(&self, question: &Question<'a>) -> Outcome<'a> {
        let answer = match &question.operation {
            Operation::InterpretReplica => self.interpret_replica(question),
            Operation::ReviseReplica { replicas } => {
                let interpretation = self.policies.interpretation(&question.workload.gvk);
                engine::revise_replica(&question.object, *replicas, interpretation).map(Answer::Revision)
            }
            Operation::ReviseObject(target) => return self.revise_object(question, target).await,
        };
        Outcome { answer, applied: Vec::new() }
    }

    fn interpret_replica<'a>(&self, question: &Question<'a>) -> Result<Answer<'a>, Failure> {
        let interpretation = self.policies.interpretation(&question.workload.gvk);
        let namespace = &question.workload.namespace;
        let (replicas, requirements) =
            engine::interpret_replica(&question.object, namespace, interpretation)?;
        Ok(Answer::Replicas { replicas, requirements })
    }

    async fn revise_object<'a>(&self, question: &Question<'a>, target: &Target<'a>) -> Outcome<'a> {
        let revised = self.revise(&question.workload, question.object, target).await;
        let answered = revised.and_then(|Revised { object, applied }| Ok((object.patch()?, applied)));
        match answered {
            Ok((patch, applied)) => Outcome { answer: Ok(Answer::Revision(patch)), applied },
            Err(failure) => Outcome { answer: Err(failure), applied: Vec::new() },
        }
    }

    /// Revises `object` for one cluster, with its allocations in the ledger when this returns.
    pub async fn revise<'a>(
        &self,
        workload: &Workload,
        object: Raw<'a>,
        target: &Target<'a>,
    ) -> Result<Revised<'a>, Failure> {
        let request = engine::Request { workload, object, target };
        let policies = self.policies.selecting(workload, &object)?;
        let mut entries = Entries::new();
        for allocation in engine::allocations(&policies, target) {
            if !entries.contains_key(allocation) {
                let key = AllocationKey::new(allocation, workload);
                let entry = self.ledger.read(&key).await.map_err(|error| unusable(&error))?;
                entries.insert(allocation.to_owned(), entry);
            }
        }
        for _ in 0..MAX_ATTEMPTS {
            let revision = engine::revise(request, &policies, &entries)?;
            if self.commit(workload, &revision.claims, &mut entries).await? {
                let applied =
                    revision.applied.iter().map(|(policy, rule)| format!("{}/{}", policy.owner, rule.name));
                return Ok(Revised { applied: applied.collect(), object: revision.object });
            }
        }
        Err(Failure::new(
            Code::Conflict,
            format!("the ledger was written by somebody else {MAX_ATTEMPTS} times in a row; try again"),
        ))
    }

    /// Makes the claims. If somebody else was faster, notes in `entries` what is there now and gives false.
    async fn commit(
        &self,
        workload: &Workload,
        claims: &[Claim],
        entries: &mut Entries,
    ) -> Result<bool, Failure> {
        for claim in claims {
            let key = AllocationKey::new(&claim.allocation, workload);
            let swap = self.ledger.compare_and_swap(&key, claim.expected.as_ref(), &claim.cluster).await;
            match swap.map_err(|error| unusable(&error))? {
                Swap::Done => {
                    tracing::info!(%key, cluster = %claim.cluster, was = claim.expected.as_ref().map(tracing::field::display), why = ?claim.why, "allocated");
                    entries.insert(claim.allocation.clone(), Some(claim.cluster.clone()));
                }
                Swap::Lost(current) => {
                    entries.insert(claim.allocation.clone(), current);
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }
}

fn too_late() -> Failure {
    Failure::new(
        Code::DeadlineExceeded,
        "the deadline of the request has passed; raise timeoutSeconds or try again",
    )
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
