//! `POST /mutate/pods`: the API server of one of Admiralty's sources. It copies an annotation, and revises nothing.

use super::RevisionMetrics;
use super::admission::{Reviewer, answer, misdirected};
use crate::domain::Failure;
use crate::protocol::admission::{Operation, Review};
use crate::server::{Call, Door, DoorReply};
use crate::service::{self, ReviewOutcome};

/// The door for admission reviews of pods.
#[derive(Clone, Debug)]
pub struct Pods {
    metrics: RevisionMetrics,
}

impl Pods {
    /// Where the API server posts to.
    pub const PATH: &'static str = "/mutate/pods";

    /// The label of this door in metrics.
    pub const NAME: &'static str = "pods";

    /// A door.
    pub fn new(metrics: RevisionMetrics) -> Self {
        Self { metrics }
    }
}

impl Reviewer for Pods {
    async fn review<'a>(&self, review: &Review<'a>, _call: &Call) -> ReviewOutcome<'a> {
        if let Some(ignored) = misdirected(&review.resource, "", "pods") {
            return ignored;
        }
        match (review.operation, review.object) {
            (Operation::Create, Some(pod)) if review.resource.sub_resource.is_empty() => {
                let outcome = service::elect(pod);
                let about = |failure: Failure| failure.context(format_args!("Pod/{}", review.name));
                ReviewOutcome { patch: outcome.patch.map_err(about), ..outcome }
            }
            _ => ReviewOutcome::untouched(),
        }
    }
}

impl Door for Pods {
    async fn handle(&self, call: Call) -> DoorReply {
        answer(self, &self.metrics, &call).await
    }
}
