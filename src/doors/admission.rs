//! What the doors for admission reviews have in common: all but what is reviewed.

use std::time::Instant;

use http::StatusCode;

use super::log::Line;
use super::{RevisionMetrics, unreadable};
use crate::domain::Failure;
use crate::protocol::admission::{self, Fault, Head, Resource, Review, Verdict};
use crate::server::{Call, DoorReply};
use crate::service::ReviewOutcome;

/// Says what comes of a review that could be read.
pub(super) trait Reviewer {
    /// What comes of `review`.
    fn review<'a>(&self, review: &Review<'a>, call: &Call) -> impl Future<Output = ReviewOutcome<'a>> + Send;
}

/// Answers a call with what `reviewer` says.
pub(super) async fn answer<R: Reviewer>(reviewer: &R, metrics: &RevisionMetrics, call: &Call) -> DoorReply {
    let started = Instant::now();
    let text = match admission::parse(&call.body) {
        Ok(text) => text,
        Err(error) => return unreadable(&error, call),
    };
    let decoded = match admission::decode(&text) {
        Ok(decoded) => decoded,
        Err(error) => return unreadable(&error, call),
    };
    let head = decoded.head;
    let ReviewOutcome { patch, warnings, applied, skipped, handovers, cluster } = match &decoded.review {
        Ok(review) => reviewer.review(review, call).await,
        Err(failure) => ReviewOutcome::refused(failure.clone()),
    };
    metrics.count(&skipped, &handovers);
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

/// What comes of a review that is not about these objects, and should not have been sent.
pub(super) fn misdirected(
    resource: &Resource<'_>,
    group: &str,
    plural: &str,
) -> Option<ReviewOutcome<'static>> {
    if (resource.group.as_ref(), resource.resource.as_ref()) == (group, plural) {
        return None;
    }
    let wanted = if group.is_empty() { plural.to_owned() } else { format!("{plural}.{group}") };
    Some(misdirected_to("revises", &wanted, "MutatingWebhookConfiguration", resource))
}

/// The same, for a door that does this to `wanted`, and is called for what a `configuration` says.
pub(super) fn misdirected_to(
    does: &str,
    wanted: &str,
    configuration: &str,
    resource: &Resource<'_>,
) -> ReviewOutcome<'static> {
    let named = if resource.group.is_empty() { "core" } else { resource.group.as_ref() };
    ReviewOutcome::ignored(format!(
        "reviser {does} {wanted} here and was asked about {} ({named}); mend the rules of the {configuration}",
        resource.resource
    ))
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
