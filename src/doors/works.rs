//! `POST /mutate/works`: an API server that holds Karmada's Works.

use std::sync::Arc;

use super::RevisionMetrics;
use super::admission::{Reviewer, answer, misdirected};
use crate::protocol::admission::{Operation, Review};
use crate::server::{Call, Door, DoorReply};
use crate::service::{ReviewOutcome, Service, WorkReview};

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
}

impl Reviewer for Works {
    async fn review<'a>(&self, review: &Review<'a>, call: &Call) -> ReviewOutcome<'a> {
        if let Some(ignored) = misdirected(&review.resource, "work.karmada.io", "works") {
            return ignored;
        }
        match (review.operation, review.object) {
            (Operation::Create | Operation::Update, Some(object))
                if review.resource.sub_resource.is_empty() =>
            {
                let review = WorkReview {
                    namespace: &review.namespace,
                    object,
                    old: review.old_object,
                    dry_run: review.dry_run,
                };
                self.service.review_work(review, call.deadline).await
            }
            // Nothing is written that could be revised: a deletion, a status.
            _ => ReviewOutcome::untouched(),
        }
    }
}

impl Door for Works {
    async fn handle(&self, call: Call) -> DoorReply {
        answer(self, &self.metrics, &call).await
    }
}
