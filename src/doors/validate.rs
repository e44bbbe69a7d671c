//! `POST /validate/policies`: an API server that holds our own custom resources.

use std::sync::Arc;

use arc_swap::ArcSwap;

use super::RevisionMetrics;
use super::admission::{Reviewer, answer, misdirected_to};
use crate::domain::{POLICY_GROUP, PolicyKind};
use crate::json::Value;
use crate::protocol::admission::{Operation, Review};
use crate::server::{Call, Door, DoorReply};
use crate::service::{PolicyReview, ReviewOutcome, review_policy};

/// The documents that an API server holds, in any order, as whoever watches them saw them last. Empty where nobody does.
pub type StoredPolicies = Arc<ArcSwap<Vec<Value<'static>>>>;

/// The door for admission reviews of policies.
#[derive(Clone, Debug)]
pub struct Policies {
    stored: StoredPolicies,
    metrics: RevisionMetrics,
}

impl Policies {
    /// Where the API server posts to.
    pub const PATH: &'static str = "/validate/policies";

    /// The label of this door in metrics.
    pub const NAME: &'static str = "policies";

    /// A door that looks at each document beside those that are `stored`.
    pub fn new(stored: StoredPolicies, metrics: RevisionMetrics) -> Self {
        Self { stored, metrics }
    }
}

impl Reviewer for Policies {
    async fn review<'a>(&self, review: &Review<'a>, _call: &Call) -> ReviewOutcome<'a> {
        let resource = &review.resource;
        if resource.group != POLICY_GROUP || PolicyKind::by_plural(&resource.resource).is_none() {
            return misdirected_to(
                "validates",
                &format!("the policies of {POLICY_GROUP}"),
                "ValidatingWebhookConfiguration",
                resource,
            );
        }
        match (review.operation, review.object) {
            (Operation::Create | Operation::Update, Some(object)) if resource.sub_resource.is_empty() => {
                let stored = self.stored.load();
                review_policy(PolicyReview { object, old: review.old_object, stored: &stored })
            }
            // Whatever is wrong with it, it may go; and a status is not for us to refuse.
            _ => ReviewOutcome::untouched(),
        }
    }
}

impl Door for Policies {
    async fn handle(&self, call: Call) -> DoorReply {
        answer(self, &self.metrics, &call).await
    }
}
