//! `POST /mutate/podchaperons/{target}`: the API server of one of Admiralty's targets. The path says which: nothing in the
//! object does.

use std::sync::Arc;

use super::RevisionMetrics;
use super::admission::{Reviewer, answer, misdirected};
use crate::domain::{ADMIRALTY_GROUP, ClusterName, Failure, GroupVersionKind, POD_CHAPERON, Workload};
use crate::json::{Pointer, Raw};
use crate::protocol::admission::{Operation, Review};
use crate::server::{Call, Door, DoorReply};
use crate::service::{ChaperonReview, ReviewOutcome, Service};

/// The door for admission reviews of `PodChaperon`s.
#[derive(Clone, Debug)]
pub struct PodChaperons {
    service: Arc<Service>,
    metrics: RevisionMetrics,
}

impl PodChaperons {
    /// Where the API server posts to.
    pub const PATH: &'static str = "/mutate/podchaperons/{target}";

    /// The label of this door in metrics.
    pub const NAME: &'static str = "podchaperons";

    /// A door to `service`.
    pub fn new(service: Arc<Service>, metrics: RevisionMetrics) -> Self {
        Self { service, metrics }
    }
}

impl Reviewer for PodChaperons {
    async fn review<'a>(&self, review: &Review<'a>, call: &Call) -> ReviewOutcome<'a> {
        if let Some(ignored) = misdirected(&review.resource, ADMIRALTY_GROUP, "podchaperons") {
            return ignored;
        }
        let (Operation::Create, Some(object), true) =
            (review.operation, review.object, review.resource.sub_resource.is_empty())
        else {
            // The pod is made of what is created; what is written later changes nothing of it.
            return ReviewOutcome::untouched();
        };
        if is_being_deleted(&object) {
            return ReviewOutcome::untouched();
        }
        let Some(target) = call.target.as_deref().and_then(ClusterName::new) else {
            let problem = "the path names no target; mend the URL of the webhook configuration";
            return ReviewOutcome::refused(Failure::bad_request(problem));
        };
        let workload = Workload {
            gvk: GroupVersionKind {
                group: ADMIRALTY_GROUP.to_owned(),
                version: review.resource.version.clone().into_owned(),
                kind: POD_CHAPERON.to_owned(),
            },
            namespace: namespace(review, &object),
            name: review.name.clone().into_owned(),
        };
        let review = ChaperonReview { workload: &workload, object, target: &target, dry_run: review.dry_run };
        self.service.review_chaperon(review, call.deadline).await
    }
}

/// The namespace is in the path of what the API server was asked; the object need not say it.
fn namespace(review: &Review<'_>, object: &Raw<'_>) -> String {
    if !review.namespace.is_empty() {
        return review.namespace.clone().into_owned();
    }
    let own = object.at(&Pointer::of(["metadata", "namespace"])).ok().flatten();
    own.and_then(|own| own.as_str().ok()?).unwrap_or_default().into_owned()
}

fn is_being_deleted(object: &Raw<'_>) -> bool {
    let since = object.at(&Pointer::of(["metadata", "deletionTimestamp"]));
    since.ok().flatten().is_some_and(|since| !since.is_null())
}

impl Door for PodChaperons {
    async fn handle(&self, call: Call) -> DoorReply {
        answer(self, &self.metrics, &call).await
    }
}
