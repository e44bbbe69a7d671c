//! The wire formats: bytes to and from the values of `domain`. No HTTP, no clock, no state.
//!
//! * [`admission`]: Kubernetes' `AdmissionReview`.
//! * [`interpreter`]: Karmada's `ResourceInterpreterContext`.
//! * [`status`]: the `metav1.Status` in which everything else that goes wrong is told.

pub mod admission;
mod envelope;
pub mod interpreter;
pub mod status;
