//! Kubernetes' admission protocol: `AdmissionReview`, `admission.k8s.io/v1`, from an API server to a webhook.
//!
//! Decoding goes in the two steps of [`interpreter`](super::interpreter): [`decode`] fails only where there is no review
//! of this version or no uid to answer to ([`Unreadable`]), everything else that is wrong is a
//! [`Failure`](crate::domain::Failure) beside the [`Head`], and [`encode`] needs that head.
//!
//! What comes of a failure is not the same as there. An API server takes `allowed: false` as the word on the write, and
//! asks its configuration's `failurePolicy` if there is no HTTP 200. So [`decision`] tells two sorts of failure apart:
//! a request or an object that is wrong is denied, and the user reads why; what is our fault becomes a [`Fault`].
//!
//! `oldObject` is not what is asked about, and a user can't mend it: the cure for a stored object that we can't read
//! is the very update that replaces it. So one that is no map, holds a name twice or is too deep is as good as none.
//!
//! Source: kubernetes/api v0.36.2 `admission/v1/types.go`; kubernetes/apiserver v0.36.2
//! `pkg/admission/plugin/webhook/request/admissionreview.go` and `pkg/endpoints/filters/warning.go`.

mod decode;
mod encode;
mod fault;

#[cfg(test)]
mod tests;

pub use decode::{Decoded, Head, Operation, Resource, Review, Subject, decode, parse};
pub use encode::{MAX_WARNING_BYTES, Verdict, encode};
pub use fault::{Fault, decision};

pub use super::envelope::Unreadable;

/// `apiVersion` of the envelope.
pub const API_VERSION: &str = "admission.k8s.io/v1";

/// `kind` of the envelope.
pub const KIND: &str = "AdmissionReview";
