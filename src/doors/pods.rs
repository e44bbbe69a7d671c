//! `POST /mutate/pods`: copies the transformations that a pod of an Admiralty source names to an annotation
//! that Admiralty sends to its targets.

use std::time::Instant;

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;

use super::admission::{self, Decoded, Operation, Review};
use super::envelope::Unreadable;
use super::{RevisionMetrics, unreadable};
use crate::domain::{
    ELECT_ANNOTATION, Failure, PROPOSED_TRANSFORMATION_ANNOTATION, SOURCE_POD_ANNOTATION,
    TRANSFORMATION_ANNOTATION, join_transformations,
};
use crate::engine::{self, Draft, ObjectSource};
use crate::json::{Pointer, Raw};
use crate::patch::Patch;
use crate::server::{Call, Door, DoorReply};
use crate::service::Outcome;

/// The door for admission reviews of pods.
#[derive(Clone, Debug)]
pub struct Pods {
    metrics: RevisionMetrics,
}

impl Pods {
    pub const PATH: &'static str = "/mutate/pods";

    /// The label of this door in metrics.
    pub const NAME: &'static str = "pods";

    pub fn new(metrics: RevisionMetrics) -> Self {
        Self { metrics }
    }

    fn reply(&self, call: &Call) -> Result<DoorReply, Unreadable> {
        let started = Instant::now();
        let body = admission::parse(&call.body)?;
        let Decoded { head, content } = admission::decode(&body)?;
        let outcome = content.map_or_else(Outcome::refused, |review| self::review(&review));
        Ok(admission::reply(&head, outcome, &self.metrics, started))
    }
}

impl Door for Pods {
    fn handle(&self, call: Call) -> BoxFuture<'_, DoorReply> {
        async move { self.reply(&call).unwrap_or_else(|error| unreadable(&error, &call)) }.boxed()
    }
}

fn review<'a>(review: &Review<'a>) -> Outcome<Patch<'a>> {
    let resource = &review.resource;
    if (resource.group.as_ref(), resource.resource.as_ref()) != ("", "pods") {
        return admission::unexpected_resource("revises", "pods", "MutatingWebhookConfiguration", resource);
    }
    match (review.operation, review.object) {
        (Operation::Create, Some(pod)) if resource.sub_resource.is_empty() => {
            let mut outcome = copy_transformations(pod);
            outcome.result =
                outcome.result.map_err(|failure| failure.context(format_args!("Pod/{}", review.name)));
            outcome
        }
        _ => Outcome::unchanged(),
    }
}

/// Copies the proposed transformations of a pod that Admiralty schedules. Refuses a pod that Admiralty has
/// saved already: the copy would not reach a target.
fn copy_transformations(pod: Raw<'_>) -> Outcome<Patch<'_>> {
    let annotations = Pointer::of(["metadata", "annotations"]);
    let Some(members) = pod.at(&annotations).ok().flatten() else { return Outcome::unchanged() };
    let text = |key: &str| members.get(key).ok()??.as_str().ok()?;
    let (Some(_), Some(proposed)) = (text(ELECT_ANNOTATION), text(PROPOSED_TRANSFORMATION_ANNOTATION)) else {
        return Outcome::unchanged();
    };
    let warnings = engine::transformation_name_warnings(&ObjectSource::Text(pod));
    let own = text(TRANSFORMATION_ANNOTATION).unwrap_or_default();
    let joined = join_transformations(&proposed, &own);
    if joined == own {
        return Outcome { warnings, ..Outcome::unchanged() };
    }
    if text(SOURCE_POD_ANNOTATION).is_some() {
        return Outcome::refused(Failure::unprocessable(format!(
            "{}: Admiralty has saved the pod already, so that its transformations would reach no target; give the webhook configuration of \
             reviser a name that sorts before Admiralty's, or remove this annotation from the pod",
            annotations.join(SOURCE_POD_ANNOTATION)
        )));
    }
    let patch = Draft::new(&ObjectSource::Text(pod)).and_then(|mut draft| {
        draft.set(&annotations.join(TRANSFORMATION_ANNOTATION), joined.into())?;
        Ok(draft.patch())
    });
    Outcome { warnings, ..patch.map_or_else(Outcome::refused, Outcome::of) }
}
