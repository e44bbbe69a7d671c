//! The front doors: bytes through a protocol to the service and back, and the line in the log.
//!
//! One file a door. A door decides nothing: what a request means is the protocol's to say, what it gets the
//! service's, and what HTTP has to do with it the server's.

mod admission;
mod chaperons;
mod interpreter;
mod log;
mod metrics;
mod pods;
mod validate;
mod works;

pub use chaperons::PodChaperons;
pub use interpreter::Interpreter;
pub use metrics::RevisionMetrics;
pub use pods::Pods;
pub use validate::{Policies, StoredPolicies};
pub use works::Works;

use http::StatusCode;

use crate::server::{Call, DoorReply};

/// The answer where there is no uid to answer to.
fn unreadable(error: &dyn std::fmt::Display, call: &Call) -> DoorReply {
    let message = error.to_string();
    tracing::warn!(error = message, bytes = call.body.len(), "refused a request without a uid");
    DoorReply::refusal(StatusCode::BAD_REQUEST, "BadRequest", &message)
}
