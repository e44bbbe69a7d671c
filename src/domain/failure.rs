//! Why a request is refused or fails, independent of the protocol.

use std::fmt;

use crate::json::Pointer;

/// Longest message, in bytes, that a reply carries, unless a failure says otherwise.
pub const MAX_MESSAGE_BYTES: usize = 1023;

/// The class of a [`Failure`]; each protocol maps it in one place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Code {
    /// The request itself is wrong.
    BadRequest,
    /// The object, or what a rule makes of it, is wrong.
    Unprocessable,
    /// A rule needs the schedule of an object that Karmada delivers without a binding, so that it has none.
    Unscheduled,
    /// Other replicas changed the ledger in each attempt.
    Conflict,
    /// The ledger or the state can't be used, or lacks what is needed. A retry can help.
    Unavailable,
    /// The caller's deadline has passed.
    DeadlineExceeded,
    /// A bug of reviser.
    Internal,
}

impl Code {
    /// The HTTP status code that Kubernetes uses for this.
    pub const fn status(self) -> u16 {
        match self {
            Self::BadRequest => 400,
            Self::Conflict => 409,
            Self::Unprocessable | Self::Unscheduled => 422,
            Self::Internal => 500,
            Self::Unavailable => 503,
            Self::DeadlineExceeded => 504,
        }
    }

    /// The `reason` of a `metav1.Status`, and the label in metrics.
    pub const fn reason(self) -> &'static str {
        match self {
            Self::BadRequest => "BadRequest",
            Self::Conflict => "Conflict",
            Self::Unprocessable | Self::Unscheduled => "Invalid",
            Self::Internal => "InternalError",
            Self::Unavailable => "ServiceUnavailable",
            Self::DeadlineExceeded => "Timeout",
        }
    }
}

/// A refusal or an error, with a message for the user who has to fix it.
///
/// The message reads `<Kind>/<name> rule "r" cluster "c": <pointer>: <problem>; <advice>`, as far as each is
/// known. Everything before the pointer is the [`context`](Self::context), which a caller adds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    code: Code,
    context: Option<String>,
    problem: String,
    /// Longest message, in bytes.
    limit: usize,
}

impl Failure {
    pub fn new(code: Code, problem: impl Into<String>) -> Self {
        Self { code, context: None, problem: problem.into(), limit: MAX_MESSAGE_BYTES }
    }

    /// The request itself is wrong.
    pub fn bad_request(problem: impl Into<String>) -> Self {
        Self::new(Code::BadRequest, problem)
    }

    /// The object, or what a rule makes of it, is wrong.
    pub fn unprocessable(problem: impl Into<String>) -> Self {
        Self::new(Code::Unprocessable, problem)
    }

    /// A rule needs the schedule of an object that has none.
    pub fn unscheduled(problem: impl Into<String>) -> Self {
        Self::new(Code::Unscheduled, problem)
    }

    /// The ledger or the state can't be used, or lacks what is needed.
    pub fn unavailable(problem: impl Into<String>) -> Self {
        Self::new(Code::Unavailable, problem)
    }

    pub fn code(&self) -> Code {
        self.code
    }

    /// The same failure, with a message of up to `limit` bytes.
    #[must_use]
    pub fn up_to(self, limit: usize) -> Self {
        Self { limit, ..self }
    }

    /// The message, shortened to [`MAX_MESSAGE_BYTES`], or what [else](Self::up_to) is the limit, in the
    /// middle, so that the advice at its end stays.
    pub fn message(&self) -> String {
        let message = match &self.context {
            Some(context) => format!("{context}: {}", self.problem),
            None => self.problem.clone(),
        };
        shorten(message, self.limit)
    }

    /// The same failure, with ` (detail)` at its end.
    #[must_use]
    pub fn with_detail(self, detail: impl fmt::Display) -> Self {
        Self { problem: format!("{} ({detail})", self.problem), ..self }
    }

    /// The same failure, with `place` in front of the place that its problem begins with.
    #[must_use]
    pub fn in_place(self, place: &Pointer) -> Self {
        Self { problem: format!("{place}{}", self.problem), ..self }
    }

    /// The same failure of something that is at `place` in a larger whole: the place that its problem begins
    /// with, if it begins with one, is to be read from there on.
    #[must_use]
    pub fn inside(self, place: &Pointer) -> Self {
        if self.problem.starts_with('/') { self.in_place(place) } else { self }
    }

    /// The same failure with this context, unless it has one already.
    #[must_use]
    pub fn context(self, context: impl fmt::Display) -> Self {
        Self { context: self.context.or_else(|| Some(context.to_string())), ..self }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message())
    }
}

impl std::error::Error for Failure {}

/// `text`, with its middle replaced by an ellipsis if it is longer than `limit` bytes.
pub fn shorten(text: String, limit: usize) -> String {
    const GAP: &str = " ... ";
    if text.len() <= limit {
        return text;
    }
    let keep = limit.saturating_sub(GAP.len());
    let (head, tail) = (text.floor_char_boundary(keep / 2), text.ceil_char_boundary(text.len() - keep / 2));
    format!("{}{GAP}{}", &text[..head], &text[tail..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_message_keeps_its_head_and_its_advice() {
        let failure =
            Failure::unprocessable(format!("problem {} advice", "é".repeat(2000))).context("Rollout/x");
        let message = failure.message();
        assert!(message.len() <= MAX_MESSAGE_BYTES);
        assert_eq!(failure.clone().context("Deployment/y").message(), message);
        assert!(message.starts_with("Rollout/x: problem é") && message.ends_with("é advice"), "{message}");
    }

    #[test]
    fn only_a_place_is_read_from_another_one_on() {
        let place = Pointer::of(["a", "0"]);
        let inside = |problem: &str| Failure::unprocessable(problem).context("x").inside(&place).message();
        assert_eq!(inside("/b: is missing"), "x: /a/0/b: is missing");
        assert_eq!(inside("no binding is of it"), "x: no binding is of it");
    }

    #[test]
    fn what_is_shortened_keeps_to_its_limit_and_what_fits_stays() {
        let text = "0123456789".repeat(2);
        assert_eq!(shorten(text.clone(), 20), text);
        assert_eq!(shorten(text.clone(), 13), "0123 ... 6789");
        assert_eq!(shorten(text, 0), " ... ");
    }
}
