//! `POST /mutate/works`: an API server that holds Karmada's Works.

use std::sync::Arc;
use std::time::Instant;

use http::StatusCode;

use super::log::Line;
use super::{RevisionMetrics, unreadable};
use crate::domain::Failure;
use crate::protocol::admission::{self, Fault, Head, Operation, Review, Verdict};
use crate::server::{Call, Door, DoorReply};
use crate::service::{Service, WorkOutcome, WorkReview};

/// The door for admission reviews of Works.
#[derive(Clone, Debug)]
pub struct Works {
    service: Arc<Service>,
    metrics: RevisionMetrics,
}

impl Works {
    /// Where the API server posts to.
    pub const PATH: &'static str = "/mutate/works";

    /// The label of this door in metrics.
    pub const NAME: &'static str = "works";

    /// A door to `service`.
    pub fn new(service: Arc<Service>, metrics: RevisionMetrics) -> Self {
        Self { service, metrics }
    }

    async fn outcome<'a>(&self, review: &Review<'a>, call: &Call) -> WorkOutcome<'a> {
        let resource = &review.resource;
        if (resource.group.as_ref(), resource.resource.as_ref()) != ("work.karmada.io", "works") {
            let group = if resource.group.is_empty() { "core" } else { resource.group.as_ref() };
            return WorkOutcome::ignored(format!(
                "reviser revises works.work.karmada.io here and was asked about {} ({group}); mend the rules of the \
                 MutatingWebhookConfiguration",
                resource.resource
            ));
        }
        match (review.operation, review.object) {
            (Operation::Create | Operation::Update, Some(object)) if resource.sub_resource.is_empty() => {
                let review = WorkReview {
                    namespace: &review.namespace,
                    object,
                    old: review.old_object,
                    dry_run: review.dry_run,
                };
                self.service.review_work(review, call.deadline).await
            }
            // Nothing is written that could be revised: a deletion, a status.
            _ => WorkOutcome::untouched(),
        }
    }
}

impl Door for Works {
    async fn handle(&self, call: Call) -> DoorReply {
        let started = Instant::now();
        let text = match admission::parse(&call.body) {
            Ok(text) => text,
            Err(error) => return unreadable(&error, &call),
        };
        let decoded = match admission::decode(&text) {
            Ok(decoded) => decoded,
            Err(error) => return unreadable(&error, &call),
        };
        let head = decoded.head;
        let WorkOutcome { patch, warnings, applied, skipped, handings, cluster } = match &decoded.review {
            Ok(review) => self.outcome(review, &call).await,
            Err(failure) => WorkOutcome::refused(failure.clone()),
        };
        self.metrics.count(&skipped, &handings);
        Line {
            uid: &head.uid,
            operation: head.operation,
            kind: &head.subject.kind,
            namespace: &head.subject.namespace,
            name: &head.subject.name,
            cluster: cluster.as_ref().map_or("", |cluster| cluster.as_str()),
            applied: &applied,
            dry_run: Some(head.dry_run),
            warnings: &warnings,
            failure: patch.as_ref().err(),
            started,
        }
        .write();
        match patch {
            Ok(patch) => decided(&head, &Verdict::Allowed { patch, warnings }, "ok"),
            Err(failure) => failed(&head, failure),
        }
    }
}

fn failed(head: &Head<'_>, failure: Failure) -> DoorReply {
    match admission::decision(failure) {
        Ok(failure) => {
            let reason = failure.code().reason();
            decided(head, &Verdict::Denied(failure), reason)
        }
        Err(Fault { status, reason, failure }) => {
            let status = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
            DoorReply { operation: head.operation, ..DoorReply::refusal(status, reason, &failure.message()) }
        }
    }
}

fn decided(head: &Head<'_>, verdict: &Verdict<'_>, outcome: &'static str) -> DoorReply {
    DoorReply {
        status: StatusCode::OK,
        body: admission::encode(head, verdict).into(),
        operation: head.operation,
        outcome,
    }
}
