//! `POST /interpret`: Karmada's interpreter protocol, `ResourceInterpreterContext`,
//! `config.karmada.io/v1alpha1`.
//!
//! Decoding has two steps, so that the uid is echoed whenever it can be read. [`decode`] fails only if there
//! is no uid ([`Unreadable`]). Everything else that is wrong with a request is a failure in its reply.
//! [`encode`] needs the [`Head`] that decoding gives, so a reply always has a uid.
//!
//! Source: karmada-io/karmada@f8fdd02 `pkg/apis/config/v1alpha1/interpretercontext_types.go`; `ReviseObject`
//! and its fields are the proposal of karmada#3436.

mod decode;
mod encode;
mod operation;

#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::time::Instant;

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use http::StatusCode;

pub use self::decode::{decode, parse};
pub use self::encode::encode;
pub use self::operation::OperationName;
pub use super::envelope::{Decoded, Head, Unreadable};

use super::{RevisionMetrics, log, unreadable};
use crate::domain::{Answer, Failure, Operation, Question};
use crate::engine::{self, ObjectSource};
use crate::server::{Call, Door, DoorReply};
use crate::service::{Outcome, Service, in_time};

/// `apiVersion` of the envelope.
pub const API_VERSION: &str = "config.karmada.io/v1alpha1";

/// `kind` of the envelope.
pub const KIND: &str = "ResourceInterpreterContext";

/// The operations that are answered.
pub const ANSWERED: &[&str] = &[
    OperationName::InterpretReplica.as_str(),
    OperationName::ReviseReplica.as_str(),
    OperationName::ReviseObject.as_str(),
];

/// The answered operations that released versions of Karmada accept in a configuration.
pub const STOCK_KARMADA: &[&str] =
    &[OperationName::InterpretReplica.as_str(), OperationName::ReviseReplica.as_str()];

/// The door for Karmada's interpreter client.
#[derive(Clone, Debug)]
pub struct Interpreter {
    service: Arc<Service>,
    metrics: RevisionMetrics,
}

impl Interpreter {
    pub const PATH: &'static str = "/interpret";

    /// The label of this door in metrics.
    pub const NAME: &'static str = "interpret";

    pub fn new(service: Arc<Service>, metrics: RevisionMetrics) -> Self {
        Self { service, metrics }
    }

    async fn reply(&self, call: &Call) -> Result<DoorReply, Unreadable> {
        let started = Instant::now();
        let body = parse(&call.body)?;
        let Decoded { head, content } = decode(&body)?;
        let outcome = match &content {
            Ok(question) => answer(&self.service, question, call.deadline).await,
            Err(failure) => Outcome::refused(failure.clone()),
        };
        self.metrics.count(&outcome);
        log::answered(&head, &outcome, started);
        Ok(DoorReply {
            status: StatusCode::OK,
            body: encode(&head, &outcome.result).into(),
            operation: head.operation,
            outcome: outcome.result.as_ref().map_or_else(|failure| failure.code().reason(), |_| "ok"),
        })
    }
}

impl Door for Interpreter {
    fn handle(&self, call: Call) -> BoxFuture<'_, DoorReply> {
        async move { self.reply(&call).await.unwrap_or_else(|error| unreadable(&error, &call)) }.boxed()
    }
}

/// Answers a question, with the allocations of its answer in the ledger. Fails after `deadline`.
pub async fn answer<'a>(
    service: &Service,
    question: &Question<'a>,
    deadline: Option<Instant>,
) -> Outcome<Answer<'a>> {
    let mut outcome = in_time(answer_in_time(service, question), deadline)
        .await
        .and_then(|answered| answered)
        .unwrap_or_else(Outcome::refused);
    outcome.result = outcome.result.map_err(|failure| about(question, failure));
    outcome
}

async fn answer_in_time<'a>(
    service: &Service,
    question: &Question<'a>,
) -> Result<Outcome<Answer<'a>>, Failure> {
    let Question { workload, object, operation } = question;
    let policies = service.policies()?;
    match operation {
        Operation::InterpretReplica => {
            let interpretation = policies.interpretation(&workload.gvk)?;
            let (replicas, requirements) =
                engine::interpret_replica(object, &workload.namespace, interpretation)?;
            Ok(Outcome::of(Answer::Replicas { replicas, requirements }))
        }
        Operation::ReviseReplica { replicas } => {
            let interpretation = policies.interpretation(&workload.gvk)?;
            let patch = engine::revise_replica(object, *replicas, interpretation)?;
            Ok(Outcome::of(Answer::Revision(patch)))
        }
        Operation::ReviseObject(target) => {
            let revision = service.revise(workload, &ObjectSource::Text(*object), target).await?;
            let answer = Answer::Revision(revision.object.patch());
            Ok(Outcome::from_revision(answer, revision))
        }
    }
}

fn about(question: &Question<'_>, failure: Failure) -> Failure {
    match &question.operation {
        Operation::ReviseObject(target) => {
            failure.context(format_args!("{} cluster {:?}", question.workload, target.cluster.as_str()))
        }
        Operation::InterpretReplica | Operation::ReviseReplica { .. } => failure.context(&question.workload),
    }
}
