//! `POST /interpret`: Karmada's interpreter client.

use std::sync::Arc;
use std::time::Instant;

use http::StatusCode;

use crate::domain::Failure;
use crate::protocol::interpreter::{self, Head, Unreadable};
use crate::server::{Call, Door, DoorReply};
use crate::service::{Outcome, Service};

/// The door for Karmada's `ResourceInterpreterContext`.
#[derive(Clone, Debug)]
pub struct Interpreter {
    service: Arc<Service>,
}

impl Interpreter {
    /// Where Karmada posts to.
    pub const PATH: &'static str = "/interpret";

    /// The label of this door in metrics.
    pub const NAME: &'static str = "interpret";

    /// A door to `service`.
    pub fn new(service: Arc<Service>) -> Self {
        Self { service }
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
            Err(failure) => Outcome { answer: Err(failure.clone()), applied: Vec::new() },
        };
        let body = interpreter::encode(&head, &outcome.answer);
        log(&head, &outcome.applied, outcome.answer.as_ref().err(), started);
        DoorReply {
            status: StatusCode::OK,
            body: body.into(),
            operation: head.operation.unwrap_or(DoorReply::UNKNOWN_OPERATION),
            outcome: outcome.answer.as_ref().map_or_else(|failure| failure.code().reason(), |_| "ok"),
        }
    }
}

/// The answer where there is no uid to answer to.
fn unreadable(error: &Unreadable, call: &Call) -> DoorReply {
    let message = error.to_string();
    tracing::warn!(error = message, bytes = call.body.len(), "refused a request without a uid");
    DoorReply::refusal(StatusCode::BAD_REQUEST, "BadRequest", &message)
}

/// The one line of a request. Never holds anything of a body but names and, in a failure, the value that is wrong.
fn log(head: &Head<'_>, applied: &[String], failure: Option<&Failure>, started: Instant) {
    let operation = head.operation.unwrap_or(DoorReply::UNKNOWN_OPERATION);
    let duration_us = u64::try_from(started.elapsed().as_micros()).unwrap_or(u64::MAX);
    let subject = &head.subject;
    let (uid, kind, namespace) = (clip(&head.uid), clip(&subject.kind), clip(&subject.namespace));
    let (name, cluster) = (clip(&subject.name), clip(&subject.cluster));
    macro_rules! line {
        ($level:ident, $outcome:expr, $($error:tt)*) => {
            tracing::$level!(
                uid,
                operation,
                kind,
                namespace,
                name,
                cluster,
                rules = applied.join(","),
                outcome = $outcome,
                duration_us,
                $($error)*
                "answered"
            )
        };
    }
    match failure {
        None => line!(info, "ok",),
        Some(failure) => line!(warn, failure.code().reason(), error = failure.message(),),
    }
}

/// The beginning of a text that a caller chose, for the log.
fn clip(text: &str) -> &str {
    const LONGEST: usize = 256;
    &text[..text.floor_char_boundary(LONGEST)]
}
