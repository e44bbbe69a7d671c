//! `POST /validate/policies`: validates reviser's own custom resources.

mod dropped_nulls;
mod review;

use std::sync::Arc;
use std::time::Instant;

use arc_swap::ArcSwap;
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;

use super::admission::{self, Decoded, Operation, Review};
use super::envelope::Unreadable;
use super::{RevisionMetrics, unreadable};
use crate::domain::{POLICY_GROUP, PolicyKind};
use crate::json::Value;
use crate::patch::Patch;
use crate::server::{Call, Door, DoorReply};
use crate::service::Outcome;

/// The documents that the API server holds, in any order, as last watched. Empty for a server that does not
/// watch them.
pub type StoredPolicies = Arc<ArcSwap<Vec<Value<'static>>>>;

/// The door for admission reviews of policies.
#[derive(Clone, Debug)]
pub struct Policies {
    stored: StoredPolicies,
    metrics: RevisionMetrics,
}

impl Policies {
    pub const PATH: &'static str = "/validate/policies";

    /// The label of this door in metrics.
    pub const NAME: &'static str = "policies";

    /// A door that validates each document together with the `stored` ones.
    pub fn new(stored: StoredPolicies, metrics: RevisionMetrics) -> Self {
        Self { stored, metrics }
    }

    fn reply(&self, call: &Call) -> Result<DoorReply, Unreadable> {
        let started = Instant::now();
        let body = admission::parse(&call.body)?;
        let Decoded { head, content } = admission::decode(&body)?;
        let outcome = content.map_or_else(Outcome::refused, |review| self.review(&review));
        Ok(admission::reply(&head, outcome, &self.metrics, started))
    }

    fn review(&self, review: &Review<'_>) -> Outcome<Patch<'static>> {
        let resource = &review.resource;
        if resource.group != POLICY_GROUP || PolicyKind::by_plural(&resource.resource).is_none() {
            return admission::unexpected_resource(
                "validates",
                &format!("the policies of {POLICY_GROUP}"),
                "ValidatingWebhookConfiguration",
                resource,
            );
        }
        match (review.operation, review.object) {
            (Operation::Create | Operation::Update, Some(object)) if resource.sub_resource.is_empty() => {
                review::review(object, review.old_object, &self.stored.load())
                    .unwrap_or_else(Outcome::refused)
            }
            // A deletion or a status is always accepted.
            _ => Outcome::unchanged(),
        }
    }
}

impl Door for Policies {
    fn handle(&self, call: Call) -> BoxFuture<'_, DoorReply> {
        async move { self.reply(&call).unwrap_or_else(|error| unreadable(&error, &call)) }.boxed()
    }
}
