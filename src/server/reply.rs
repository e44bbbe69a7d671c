//! Answers that are the server's own.

use bytes::Bytes;
use http::{HeaderValue, Response, StatusCode, header};
use http_body_util::Full;

use super::status;

/// The body of every answer: there at once, and as a whole.
pub(super) type Body = Full<Bytes>;

pub(super) const JSON: HeaderValue = HeaderValue::from_static("application/json");
pub(super) const TEXT: HeaderValue = HeaderValue::from_static("text/plain; charset=utf-8");

/// An answer with this body.
pub(super) fn answer(
    status: StatusCode,
    content_type: HeaderValue,
    body: impl Into<Bytes>,
) -> Response<Body> {
    let mut response = Response::new(Full::new(body.into()));
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, content_type);
    response
}

/// An answer that says why there is no other.
pub(super) fn refusal(code: StatusCode, reason: &str, message: &str) -> Response<Body> {
    answer(code, JSON, status::body(code.as_u16(), reason, message))
}
