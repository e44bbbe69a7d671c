//! The front doors: one HTTPS path each, from the bytes of a request to the bytes of its reply.
//!
//! A door decodes the request, collects what the answer depends on, lets the engine decide, commits the
//! ledger changes and encodes the reply. The steps that doors share are in
//! [`Service`](crate::service::Service). The wire format of a door lives beside it: [`admission`] for the
//! four webhooks of API servers, [`interpreter`] for Karmada.

pub mod admission;
mod envelope;
pub mod interpreter;
mod log;
mod metrics;
mod podchaperons;
mod pods;
mod policies;
mod works;

#[cfg(test)]
mod tests;

pub use interpreter::Interpreter;
pub use metrics::RevisionMetrics;
pub use podchaperons::PodChaperons;
pub use pods::Pods;
pub use policies::{Policies, StoredPolicies};
pub use works::{WorkReview, Works, review_work};

use http::StatusCode;

use crate::server::{Call, DoorReply};
use envelope::Unreadable;

/// The reply to a request without a readable uid: HTTP 400, because no reply of its protocol can be made.
fn unreadable(error: &Unreadable, call: &Call) -> DoorReply {
    let message = error.to_string();
    tracing::warn!(error = message, bytes = call.body.len(), "refused a request without a uid");
    DoorReply::refusal(StatusCode::BAD_REQUEST, "BadRequest", &message)
}
