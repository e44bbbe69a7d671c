//! Kubernetes' admission protocol: `AdmissionReview`, `admission.k8s.io/v1`, from an API server to a webhook.
//!
//! Decoding has two steps, so that the uid is echoed whenever it can be read. [`decode`] fails only if the
//! body is no review of this version or has no uid ([`Unreadable`]). Everything else that is wrong is a
//! [`Failure`] beside the [`Head`], and [`encode`] needs that head.
//!
//! An API server takes `allowed: false` as the decision about the write. Without an HTTP 200 it applies the
//! `failurePolicy` of the webhook configuration. So a request or an object that is wrong is denied, and a
//! failure of this server is answered with its HTTP status.
//!
//! An `oldObject` that is no map, repeats a name or is nested too deep is treated as missing: the update
//! under review is what replaces it.
//!
//! Source: kubernetes/api v0.36.2 `admission/v1/types.go`; kubernetes/apiserver v0.36.2
//! `pkg/admission/plugin/webhook/request/admissionreview.go` and `pkg/endpoints/filters/warning.go`.

mod decode;
mod encode;

#[cfg(test)]
mod tests;

use std::time::Instant;

use http::StatusCode;

pub use self::decode::{Operation, Resource, Review, decode, parse};
pub use self::encode::{MAX_WARNING_BYTES, Response, encode};
pub use super::envelope::{Decoded, Head, Unreadable};

use super::RevisionMetrics;
use super::log;
use crate::domain::{Code, Failure};
use crate::patch::Patch;
use crate::server::DoorReply;
use crate::service::Outcome;

/// `apiVersion` of the envelope.
pub const API_VERSION: &str = "admission.k8s.io/v1";

/// `kind` of the envelope.
pub const KIND: &str = "AdmissionReview";

/// The reply to a review; counts it and writes its log line.
pub(super) fn reply(
    head: &Head<'_>,
    outcome: Outcome<Patch<'_>>,
    metrics: &RevisionMetrics,
    started: Instant,
) -> DoorReply {
    metrics.count(&outcome);
    log::answered(head, &outcome, started);
    let (response, outcome) = match outcome.result {
        Ok(patch) => (Response::Allowed { patch, warnings: outcome.warnings }, "ok"),
        Err(failure) => {
            if let Some(code) = http_error(failure.code()) {
                return unanswered(head, code, &failure);
            }
            let reason = failure.code().reason();
            (Response::Denied(failure), reason)
        }
    };
    DoorReply {
        status: StatusCode::OK,
        body: encode(head, &response).into(),
        operation: head.operation,
        outcome,
    }
}

/// The class of the HTTP error that answers a failure of this server; `None` for a failure that denies the
/// write.
pub(super) fn http_error(code: Code) -> Option<Code> {
    match code {
        Code::BadRequest | Code::Unprocessable | Code::Unscheduled => None,
        // A 409 would say that the object was changed by another client, and only the ledger was.
        Code::Conflict => Some(Code::Unavailable),
        Code::Unavailable | Code::DeadlineExceeded | Code::Internal => Some(code),
    }
}

/// No `Retry-After`: an API server would retry by itself while its user waits.
fn unanswered(head: &Head<'_>, code: Code, failure: &Failure) -> DoorReply {
    let status = StatusCode::from_u16(code.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    DoorReply { operation: head.operation, ..DoorReply::refusal(status, code.reason(), &failure.message()) }
}

/// The outcome for a review of another resource than `expected`: the object is unchanged, and a warning names
/// the `configuration` to change. `action` is what the door does to its objects.
pub(super) fn unexpected_resource(
    action: &str,
    expected: &str,
    configuration: &str,
    resource: &Resource<'_>,
) -> Outcome<Patch<'static>> {
    let group = if resource.group.is_empty() { "core" } else { resource.group.as_ref() };
    Outcome::warned(format!(
        "reviser {action} {expected} here and was asked about {} ({group}); fix the rules of the {configuration}",
        resource.resource
    ))
}
