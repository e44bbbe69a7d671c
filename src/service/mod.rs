//! Answers questions: collects what the engine needs, runs it, and makes its ledger changes true before anybody
//! sees the answer. Every door and `preview` go through here, so that the same input gets the same revision.
//!
//! Knows the ports of `state`, not what is behind them, and no protocol.

mod chaperons;
mod concern;
mod lookup;
mod nulls;
mod policies;
mod review;
mod revise;
mod sync;
mod works;

#[cfg(test)]
mod tests;

use std::fmt;
use std::sync::Arc;
use std::time::{Instant, SystemTime};

use arc_swap::ArcSwapOption;
use jiff::Timestamp;

use crate::domain::{Answer, Code, Failure, Operation, Question, Target, Workload};
use crate::engine::{self, HandoverEvent, PolicySet};
use crate::json::Raw;
use crate::state::{BindingLister, ClusterLister, Ledger, TemplateLister, WorkLister};

pub use chaperons::{ChaperonReview, elect};
pub use policies::{MAX_DENIAL_BYTES, PolicyReview, review_policy};
pub use review::ReviewOutcome;
pub use revise::{Revised, SkippedRule};
pub use sync::{SyncState, SyncStatus};
pub use works::WorkReview;

use revise::{MAX_ATTEMPTS, Situation, contended};

/// The service. Shared by all connections.
#[derive(Debug)]
pub struct Service {
    /// Read once a request, so that it sees one set from its beginning to its end.
    policies: ArcSwapOption<PolicySet>,
    ledger: Arc<dyn Ledger>,
    bindings: Option<Arc<dyn BindingLister>>,
    works: Option<Arc<dyn WorkLister>>,
    clusters: Option<Arc<dyn ClusterLister>>,
    templates: Option<Arc<dyn TemplateLister>>,
    clock: Clock,
}

/// The policies, if they are known.
#[derive(Clone, Debug)]
pub struct Known(Option<Arc<PolicySet>>);

impl From<PolicySet> for Known {
    fn from(policies: PolicySet) -> Self {
        Self(Some(Arc::new(policies)))
    }
}

impl From<Option<Arc<PolicySet>>> for Known {
    fn from(policies: Option<Arc<PolicySet>>) -> Self {
        Self(policies)
    }
}

/// Where the time comes from.
#[derive(Clone)]
struct Clock(Arc<dyn Fn() -> Timestamp + Send + Sync>);

impl fmt::Debug for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Clock")
    }
}

/// The time of the machine. One that no calendar has is as late as can be, so that no timeout seems to be far away.
fn system_time() -> Timestamp {
    Timestamp::try_from(SystemTime::now()).unwrap_or(Timestamp::MAX)
}

/// An answer, with what the log line wants to know about it.
#[derive(Clone, Debug)]
pub struct Outcome<'a> {
    /// The answer, or why there is none.
    pub answer: Result<Answer<'a>, Failure>,
    /// The rules that changed something, as `Kind/policy/rule`.
    pub applied: Vec<String>,
    /// The rules that were skipped.
    pub skipped: Vec<SkippedRule>,
    /// What the user should know about rules that did less than they say.
    pub warnings: Vec<String>,
    /// The allocations that leave a cluster.
    pub handovers: Vec<HandoverEvent>,
}

impl<'a> Outcome<'a> {
    /// An answer that rests on no rule, or none.
    pub fn plain(answer: Result<Answer<'a>, Failure>) -> Self {
        Self { answer, applied: Vec::new(), skipped: Vec::new(), warnings: Vec::new(), handovers: Vec::new() }
    }
}

impl Service {
    /// A service with these policies and this ledger, that can read neither bindings nor Works. Without policies it refuses to
    /// answer until [there are some](Self::replace_policies): who knows none yet does not know that there are none.
    pub fn new(policies: impl Into<Known>, ledger: Arc<dyn Ledger>) -> Self {
        Self {
            policies: ArcSwapOption::new(policies.into().0),
            ledger,
            bindings: None,
            works: None,
            clusters: None,
            templates: None,
            clock: Clock(Arc::new(system_time)),
        }
    }

    /// The same service, that reads bindings and Works here.
    #[must_use]
    pub fn with_state(self, bindings: Arc<dyn BindingLister>, works: Arc<dyn WorkLister>) -> Self {
        Self { bindings: Some(bindings), works: Some(works), ..self }
    }

    /// The same service, that reads clusters here.
    #[must_use]
    pub fn with_clusters(self, clusters: Arc<dyn ClusterLister>) -> Self {
        Self { clusters: Some(clusters), ..self }
    }

    /// The same service, that reads templates here.
    #[must_use]
    pub fn with_templates(self, templates: Arc<dyn TemplateLister>) -> Self {
        Self { templates: Some(templates), ..self }
    }

    /// The same service, with another clock.
    #[must_use]
    pub fn with_clock(self, clock: impl Fn() -> Timestamp + Send + Sync + 'static) -> Self {
        Self { clock: Clock(Arc::new(clock)), ..self }
    }

    /// Puts other policies in force, for the requests that begin from now on.
    pub fn replace_policies(&self, policies: impl Into<Arc<PolicySet>>) {
        self.policies.store(Some(policies.into()));
    }

    /// The policies that are in force.
    pub(in crate::service) fn policies(&self) -> Result<Arc<PolicySet>, Failure> {
        self.policies.load_full().ok_or_else(|| {
            Failure::unavailable("the policies have not been read from the API server yet; try again")
        })
    }

    /// Answers a question. After `deadline` the answer is a failure that says so.
    pub async fn answer<'a>(&self, question: &Question<'a>, deadline: Option<Instant>) -> Outcome<'a> {
        let answering = self.answer_in_time(question);
        let late = || Outcome::plain(Err(too_late()));
        let outcome = in_time(answering, deadline).await.unwrap_or_else(late);
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
        let set = match self.policies() {
            Ok(set) => set,
            Err(failure) => return Outcome::plain(Err(failure)),
        };
        let answer = match &question.operation {
            Operation::InterpretReplica => interpret_replica(&set, question),
            Operation::ReviseReplica { replicas } => {
                let interpretation = set.interpretation(&question.workload.gvk);
                interpretation
                    .and_then(|found| engine::revise_replica(&question.object, *replicas, found))
                    .map(Answer::Revision)
            }
            Operation::ReviseObject(target) => return self.revise_object(&set, question, target).await,
        };
        Outcome::plain(answer)
    }

    async fn revise_object<'a>(
        &self,
        set: &PolicySet,
        question: &Question<'a>,
        target: &Target<'a>,
    ) -> Outcome<'a> {
        let revised =
            self.revise_in(set, &question.workload, question.object, target, Situation::default()).await;
        let Revised { object, applied, skipped, warnings, handovers, .. } = match revised {
            Ok(revised) => revised,
            Err(failure) => return Outcome::plain(Err(failure)),
        };
        Outcome { answer: object.patch().map(Answer::Revision), applied, skipped, warnings, handovers }
    }

    /// Revises `object` for one cluster, with its allocations in the ledger when this returns.
    pub async fn revise<'a>(
        &self,
        workload: &Workload,
        object: Raw<'a>,
        target: &Target<'a>,
    ) -> Result<Revised<'a>, Failure> {
        self.revise_in(&*self.policies()?, workload, object, target, Situation::default()).await
    }

    /// The same with a [`trace`](Revised::trace), and nothing is written: each cluster is told why from the same ledger.
    pub async fn explain<'a>(
        &self,
        workload: &Workload,
        object: Raw<'a>,
        target: &Target<'a>,
    ) -> Result<Revised<'a>, Failure> {
        let situation = Situation { explain: true, ..Situation::default() };
        self.revise_in(&*self.policies()?, workload, object, target, situation).await
    }

    async fn revise_in<'a>(
        &self,
        set: &PolicySet,
        workload: &Workload,
        object: Raw<'a>,
        target: &Target<'a>,
        situation: Situation<'_>,
    ) -> Result<Revised<'a>, Failure> {
        let selection = set.selection(workload, &object)?;
        let request = engine::Request { workload, object, target, is_unbound: false };
        let asks = || engine::allocations(&selection.policies).next().is_some();
        let wants_binding =
            !selection.is_empty() && (target.schedule.is_none() || self.ledger.is_on_bindings() && asks());
        for _ in 0..MAX_ATTEMPTS {
            // Read anew each time: what is in the ledger may be on it.
            let binding = if wants_binding { self.binding_if_there(workload).await? } else { None };
            let attempt = match &binding {
                None => self.attempt(request, set, &selection, situation).await?,
                Some(binding) => {
                    let target = Target {
                        replicas: target.replicas.or_else(|| binding.schedule.replicas_of(&target.cluster)),
                        // What somebody said wins over what the binding says.
                        schedule: target.schedule.clone().or_else(|| Some(binding.schedule.clone())),
                        ..target.clone()
                    };
                    let situation =
                        Situation { preserves: binding.preserves, binding: Some(binding), ..situation };
                    self.attempt(engine::Request { target: &target, ..request }, set, &selection, situation)
                        .await?
                }
            };
            if let Some(revised) = attempt {
                return Ok(revised);
            }
        }
        Err(contended())
    }
}

fn interpret_replica<'a>(set: &PolicySet, question: &Question<'a>) -> Result<Answer<'a>, Failure> {
    let interpretation = set.interpretation(&question.workload.gvk)?;
    let namespace = &question.workload.namespace;
    let (replicas, requirements) = engine::interpret_replica(&question.object, namespace, interpretation)?;
    Ok(Answer::Replicas { replicas, requirements })
}

/// What `answering` gives, unless `deadline` passes before.
async fn in_time<T>(answering: impl Future<Output = T>, deadline: Option<Instant>) -> Option<T> {
    match deadline {
        None => Some(answering.await),
        // Looked at before too: `timeout_at` polls first, and most answers are there at once. And after: to compute one takes
        // its time as well, and nobody waits for it any more.
        Some(deadline) if Instant::now() >= deadline => None,
        Some(deadline) => {
            let answer = tokio::time::timeout_at(deadline.into(), answering).await.ok();
            answer.filter(|_| Instant::now() < deadline)
        }
    }
}

fn too_late() -> Failure {
    Failure::new(
        Code::DeadlineExceeded,
        "the deadline of the request has passed; raise timeoutSeconds or try again",
    )
}
