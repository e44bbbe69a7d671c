//! What is served where, and how a request gets to its door.
//!
//! The doors come first, by one function from request to answer: they carry the load, and the layers of a
//! routing library cost more than all that is done here. Everything else is axum's.

use std::{
    fmt,
    sync::Arc,
    time::{Duration, Instant},
};

use axum::{Router, routing::get};
use http::{
    HeaderMap, HeaderValue, Method, Request, Response, StatusCode, Uri, Version, header, request::Parts,
};
use hyper::body::Incoming;
use hyper_util::{rt::TokioExecutor, server::conn::auto};
use prometheus_client::{encoding::text, registry::Registry};
use tower::ServiceExt as _;
use tracing::{debug, error, info};

use super::{
    Call, DoorReply, Doors, Lifecycle, Limits, Metrics,
    body::{self, BodyError, BodyLimits},
    budget::{MemoryBudget, OutOfMemory, Reservation},
    door::Mount,
    health::Health,
    reply::{self, Body},
    timeout,
};

/// The type of what Prometheus is given.
const OPEN_METRICS: HeaderValue =
    HeaderValue::from_static("application/openmetrics-text; version=1.0.0; charset=utf-8");

/// Of a body that is refused, this many times the limit is taken in for the client to see the answer.
const DISCARD_FACTOR: usize = 4;

/// The largest head of an HTTP/2 request.
const MAX_HEADER_LIST: u32 = 16 << 10;

/// The requests that may be in flight on one HTTP/2 connection.
const MAX_STREAMS: u32 = 100;

/// The bytes that a client may send on one HTTP/2 stream before they are read.
const STREAM_WINDOW: u32 = 256 << 10;

/// All that a port serves.
pub(super) struct Site {
    doors: Doors,
    /// What is served besides the doors.
    router: Router,
    limits: Arc<Limits>,
    memory: MemoryBudget,
    metrics: Metrics,
    lifecycle: Lifecycle,
    http: auto::Builder<TokioExecutor>,
}

impl Site {
    pub(super) fn new(
        doors: Doors,
        health: Arc<Health>,
        registry: Option<Arc<Registry>>,
        limits: Arc<Limits>,
        metrics: Metrics,
        lifecycle: Lifecycle,
    ) -> Self {
        let mut http = auto::Builder::new(TokioExecutor::new());
        http.http2()
            .max_header_list_size(MAX_HEADER_LIST)
            .max_concurrent_streams(MAX_STREAMS)
            .initial_stream_window_size(STREAM_WINDOW);
        let memory = MemoryBudget::new(limits.memory_budget, metrics.memory_used());
        Self { doors, router: router(health, registry), limits, memory, metrics, lifecycle, http }
    }

    pub(super) fn http(&self) -> &auto::Builder<TokioExecutor> {
        &self.http
    }

    pub(super) fn limits(&self) -> &Limits {
        &self.limits
    }

    pub(super) fn metrics(&self) -> &Metrics {
        &self.metrics
    }

    pub(super) fn lifecycle(&self) -> &Lifecycle {
        &self.lifecycle
    }

    /// The answer to a request whose head was there at `arrival`.
    pub(super) async fn answer(&self, request: Request<Incoming>, arrival: Instant) -> Response<Body> {
        if let Some((mount, target)) = self.doors.find(request.uri().path()) {
            let target = target.map(Box::from);
            return self.answer_door(mount, target, request, arrival).await;
        }
        let (head, mut body) = request.into_parts();
        // The body is none of the router's business: a refused one is dealt with below.
        let asked = Request::from_parts(head.clone(), axum::body::Body::empty());
        let answered = self.router.clone().oneshot(asked).await.unwrap_or_else(|never| match never {});
        let (mut answer, content) = answered.into_parts();
        let content = axum::body::to_bytes(content, usize::MAX).await.unwrap_or_default();
        if answer.status.is_client_error() {
            log_refused(&head, answer.status);
            self.settle(&head, &mut body, &mut answer.headers, false).await;
        }
        Response::from_parts(answer, Body::new(content))
    }

    async fn answer_door(
        &self,
        mount: &Mount,
        target: Option<Box<str>>,
        request: Request<Incoming>,
        arrival: Instant,
    ) -> Response<Body> {
        let mut measurement = self.metrics.measure(mount.name, arrival);
        let deadline = request.uri().query().and_then(timeout::from_query);
        let deadline = deadline.and_then(|timeout| arrival.checked_add(timeout));
        // Held until the reply is ready.
        let mut memory = self.memory.reservation();
        let body = self.read_body(request, arrival, &mut memory).await;
        let reply = match body {
            Ok(body) => {
                mount.handle(Call { body, deadline, target }).await.unwrap_or_else(|| after_panic(mount.name))
            }
            Err((reason, response)) => {
                measurement.finish(DoorReply::UNKNOWN_OPERATION, reason);
                return response;
            }
        };
        let DoorReply { status, body, operation, outcome } = reply;
        measurement.finish(operation, outcome);
        debug!(door = mount.name, operation, outcome, status = status.as_u16(), "answered");
        reply::answer(status, reply::JSON, body)
    }

    /// The body of a request that a door may get; otherwise the answer that says why it may not, and the
    /// reason that the answer gives.
    async fn read_body(
        &self,
        request: Request<Incoming>,
        arrival: Instant,
        memory: &mut Reservation,
    ) -> Result<bytes::Bytes, (&'static str, Response<Body>)> {
        let (head, mut body) = request.into_parts();
        let refusal = if head.method != Method::POST {
            Refusal::method(&head.method, "POST")
        } else if !is_json(&head.headers) {
            let message = "the body has to be JSON, and Content-Type application/json".to_owned();
            Refusal::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "UnsupportedMediaType", message)
        } else {
            let limits = BodyLimits {
                max_bytes: self.limits.max_body_bytes,
                arrival,
                timeout: self.limits.body_timeout,
            };
            match body::read(&mut body, limits, memory).await {
                Ok(body) => return Ok(body),
                Err(error) => Refusal::body(&error, &self.limits),
            }
        };
        let reason = refusal.reason;
        Err((reason, self.refuse(&head, &mut body, refusal).await))
    }

    /// Makes the answer of `refusal`, once its client is in a position to read it.
    async fn refuse(&self, head: &Parts, body: &mut Incoming, refusal: Refusal) -> Response<Body> {
        let Refusal { status, reason, message, allow, closes } = refusal;
        log_refused(head, status);
        let mut response = reply::refusal(status, reason, &message);
        if let Some(allow) = allow {
            response.headers_mut().insert(header::ALLOW, HeaderValue::from_static(allow));
        }
        self.settle(head, body, response.headers_mut(), closes).await;
        response
    }

    /// Reads and drops the rest of a refused body, so that its client sees the answer. Announces in the
    /// answer that the connection is closed if the body is too long for that.
    async fn settle(&self, head: &Parts, body: &mut Incoming, answer: &mut HeaderMap, closes: bool) {
        let limit = self.limits.max_body_bytes.saturating_mul(DISCARD_FACTOR);
        let keeps = !closes && body::discard(&head.headers, body, limit).await;
        // HTTP/2 has no such header: there, only the stream is given up.
        if !keeps && head.version != Version::HTTP_2 {
            answer.insert(header::CONNECTION, HeaderValue::from_static("close"));
        }
    }
}

/// A wrong path, method or content type is the first thing that goes wrong in an installation.
fn log_refused(head: &Parts, status: StatusCode) {
    const LONGEST: usize = 256;
    let path = head.uri.path();
    let path = &path[..path.floor_char_boundary(LONGEST)];
    info!(method = %head.method, path, status = status.as_u16(), "refused");
}

/// What is served besides the doors: probes, metrics, and the word that there is nothing else. Nothing here
/// is asked for often, so that it may cost what a routing library costs.
fn router(health: Arc<Health>, registry: Option<Arc<Registry>>) -> Router {
    let readyz = move |uri: Uri| async move {
        let (status, text) = health.readiness(uri.query().is_some_and(is_verbose));
        reply::answer(status, reply::TEXT, text)
    };
    let mut router = Router::new()
        .route("/livez", get(async || reply::answer(StatusCode::OK, reply::TEXT, "ok")))
        .route("/readyz", get(readyz));
    if let Some(registry) = registry {
        let metrics = async move || {
            let mut text = String::new();
            text::encode(&mut text, &registry).unwrap_or_else(|fmt::Error| unreachable!("a String takes it"));
            reply::answer(StatusCode::OK, OPEN_METRICS, text)
        };
        router = router.route("/metrics", get(metrics));
    }
    router
        .fallback(async |uri: Uri| {
            let message = format!("there is nothing at {:?}", uri.path());
            reply::refusal(StatusCode::NOT_FOUND, "NotFound", &message)
        })
        .method_not_allowed_fallback(async |method: Method| {
            let message = format!("{method} is not possible here; GET, HEAD is");
            reply::refusal(StatusCode::METHOD_NOT_ALLOWED, "MethodNotAllowed", &message)
        })
}

impl fmt::Debug for Site {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Site").field("doors", &self.doors).finish_non_exhaustive()
    }
}

/// What the caller of a door that panicked gets.
fn after_panic(door: &'static str) -> DoorReply {
    error!(door, "a request made the server panic");
    let status = StatusCode::INTERNAL_SERVER_ERROR;
    let message = "failed to answer: a bug of the server, which its log tells more about";
    DoorReply { outcome: "panic", ..DoorReply::refusal(status, "InternalError", message) }
}

/// Why a request does not get to where it wanted.
struct Refusal {
    status: StatusCode,
    reason: &'static str,
    message: String,
    /// The methods that would do.
    allow: Option<&'static str>,
    /// Whether the rest of the body is not worth waiting for.
    closes: bool,
}

impl Refusal {
    fn new(status: StatusCode, reason: &'static str, message: String) -> Self {
        Self { status, reason, message, allow: None, closes: false }
    }

    fn method(method: &Method, allow: &'static str) -> Self {
        let message = format!("{method} is not possible here; {allow} is");
        let status = StatusCode::METHOD_NOT_ALLOWED;
        Self { allow: Some(allow), ..Self::new(status, "MethodNotAllowed", message) }
    }

    fn body(error: &BodyError, limits: &Limits) -> Self {
        match error {
            BodyError::TooLarge => Self::new(
                StatusCode::PAYLOAD_TOO_LARGE,
                "RequestEntityTooLarge",
                format!("the body is longer than {} bytes", limits.max_body_bytes),
            ),
            BodyError::TimedOut => Self {
                closes: true,
                ..Self::new(
                    StatusCode::REQUEST_TIMEOUT,
                    "Timeout",
                    format!("the body was not there within {}", Seconds(limits.body_timeout)),
                )
            },
            BodyError::Memory(OutOfMemory::Exhausted) => Self {
                closes: true,
                ..Self::new(
                    StatusCode::SERVICE_UNAVAILABLE,
                    "ServiceUnavailable",
                    "other requests use the memory budget; try again, or raise --memory-budget".to_owned(),
                )
            },
            BodyError::Memory(OutOfMemory::TooLarge { needed, total }) => Self::new(
                StatusCode::PAYLOAD_TOO_LARGE,
                "RequestEntityTooLarge",
                format!(
                    "the request needs about {needed} bytes of memory, more than the budget of {total}; send a smaller object, or raise --memory-budget"
                ),
            ),
            BodyError::Broken(error) => Self {
                closes: true,
                ..Self::new(
                    StatusCode::BAD_REQUEST,
                    "BadRequest",
                    format!("failed to read the body: {error}"),
                )
            },
        }
    }
}

/// A duration in words.
struct Seconds(Duration);

impl fmt::Display for Seconds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} seconds", self.0.as_secs_f64())
    }
}

/// Whether the body is said to be JSON. Parameters, such as a charset, say nothing that matters here.
fn is_json(headers: &HeaderMap) -> bool {
    headers.get(header::CONTENT_TYPE).is_some_and(|value| {
        let kind = value.as_bytes().split(|byte| *byte == b';').next().unwrap_or_default();
        kind.trim_ascii().eq_ignore_ascii_case(b"application/json")
    })
}

fn is_verbose(query: &str) -> bool {
    query.split('&').any(|pair| pair == "verbose" || pair.starts_with("verbose="))
}
