//! Answers that are the server's own.

use bytes::Bytes;
use http::{HeaderValue, Response, StatusCode, header};
use http_body_util::Full;

use crate::json::write_string;

/// The body of every answer: there at once, and as a whole.
pub(super) type Body = Full<Bytes>;

pub(super) const JSON: HeaderValue = HeaderValue::from_static("application/json");
pub(super) const TEXT: HeaderValue = HeaderValue::from_static("text/plain; charset=utf-8");

/// The `metav1.Status` that says why there is no other answer.
pub(super) fn status_body(status: StatusCode, reason: &str, message: &str) -> Bytes {
    let mut body = String::with_capacity(128 + message.len());
    body.push_str(r#"{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"#);
    write_string(message, &mut body);
    body.push_str(r#","reason":"#);
    write_string(reason, &mut body);
    body.push_str(r#","code":"#);
    body.push_str(status.as_str());
    body.push('}');
    body.into()
}

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
pub(super) fn refusal(status: StatusCode, reason: &str, message: &str) -> Response<Body> {
    answer(status, JSON, status_body(status, reason, message))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_is_one_that_kubernetes_can_read() {
        let body = status_body(StatusCode::NOT_FOUND, "NotFound", "no \"/x\" here\n");
        let status: k8s_openapi::apimachinery::pkg::apis::meta::v1::Status =
            serde_json::from_slice(&body).unwrap();
        assert_eq!(status.code, Some(404));
        assert_eq!(status.reason.as_deref(), Some("NotFound"));
        assert_eq!(status.message.as_deref(), Some("no \"/x\" here\n"));
        assert_eq!(status.status.as_deref(), Some("Failure"));
    }
}
