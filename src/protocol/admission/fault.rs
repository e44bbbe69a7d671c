//! Which failures are an answer, and which are ours.

use crate::domain::{Code, Failure};

/// A failure that is our fault: no answer to the review, so that the configuration's `failurePolicy` decides.
///
/// Whoever sends it sends no `Retry-After` with it: API servers would try again by themselves, while a user waits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The HTTP status: 500, 503 or 504.
    pub status: u16,
    /// The `reason` of the `metav1.Status` that is the body. One of a closed set.
    pub reason: &'static str,
    /// What is wrong.
    pub failure: Failure,
}

/// Tells what to deny a review with from what is our fault.
pub fn decision(failure: Failure) -> Result<Failure, Fault> {
    let code = match failure.code() {
        Code::BadRequest | Code::Unprocessable | Code::Unscheduled => return Ok(failure),
        // A 409 says that the object itself was changed by somebody else, and it was not.
        Code::Conflict => Code::Unavailable,
        ours @ (Code::Unavailable | Code::DeadlineExceeded | Code::Internal) => ours,
    };
    Err(Fault { status: code.status(), reason: code.reason(), failure })
}
