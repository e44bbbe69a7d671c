//! `POST /interpret`: Karmada's interpreter client.

use std::sync::Arc;
use std::time::Instant;

use http::StatusCode;

use super::log::Line;
use super::{RevisionMetrics, unreadable};
use crate::protocol::interpreter;
use crate::server::{Call, Door, DoorReply};
use crate::service::{Outcome, Service, SkippedRule};

/// The door for Karmada's `ResourceInterpreterContext`.
#[derive(Clone, Debug)]
pub struct Interpreter {
    service: Arc<Service>,
    metrics: RevisionMetrics,
}

impl Interpreter {
    /// Where Karmada posts to.
    pub const PATH: &'static str = "/interpret";

    /// The label of this door in metrics.
    pub const NAME: &'static str = "interpret";

    /// A door to `service`.
    pub fn new(service: Arc<Service>, metrics: RevisionMetrics) -> Self {
        Self { service, metrics }
    }
}

impl Door for Interpreter {
    async fn handle(&self, call: Call) -> DoorReply {
        let started = Instant::now();
        let text = match interpreter::parse(&call.body) {
            Ok(text) => text,
            Err(error) => return unreadable(&error, &call),
        };
        let decoded = match interpreter::decode(&text) {
            Ok(decoded) => decoded,
            Err(error) => return unreadable(&error, &call),
        };
        let head = decoded.head;
        let outcome = match &decoded.question {
            Ok(question) => self.service.answer(question, call.deadline).await,
            Err(failure) => Outcome::plain(Err(failure.clone())),
        };
        self.metrics.count(&outcome.skipped, &outcome.handovers);
        let warnings: Vec<String> =
            outcome.skipped.iter().map(SkippedRule::to_string).chain(outcome.warnings.clone()).collect();
        let body = interpreter::encode(&head, &outcome.answer);
        Line {
            uid: &head.uid,
            operation: head.operation.unwrap_or(DoorReply::UNKNOWN_OPERATION),
            kind: &head.subject.kind,
            namespace: &head.subject.namespace,
            name: &head.subject.name,
            cluster: &head.subject.cluster,
            applied: &outcome.applied,
            dry_run: None,
            warnings: &warnings,
            failure: outcome.answer.as_ref().err(),
            started,
        }
        .write();
        DoorReply {
            status: StatusCode::OK,
            body: body.into(),
            operation: head.operation.unwrap_or(DoorReply::UNKNOWN_OPERATION),
            outcome: outcome.answer.as_ref().map_or_else(|failure| failure.code().reason(), |_| "ok"),
        }
    }
}
