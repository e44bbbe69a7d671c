//! The server's own metrics.

use std::{
    sync::Arc,
    time::{Instant, SystemTime, UNIX_EPOCH},
};

use prometheus_client::{
    encoding::EncodeLabelSet,
    metrics::{counter::Counter, family::Family, gauge::Gauge, histogram::Histogram, info::Info},
    registry::Registry,
};

/// Upper bounds of the buckets, in seconds: a revision takes tens of microseconds, a caller waits for ten
/// seconds at most by default.
const BUCKETS: [f64; 17] = [
    0.000_05, 0.000_1, 0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5,
    5.0, 10.0,
];

/// What a request is counted under.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RequestLabels {
    door: &'static str,
    operation: &'static str,
    outcome: &'static str,
}

/// What the duration of a request is counted under.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct DurationLabels {
    door: &'static str,
    operation: &'static str,
}

/// The server's own metrics. All copies count into the same.
#[derive(Clone, Debug)]
pub struct Metrics(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    requests: Family<RequestLabels, Counter>,
    durations: Family<DurationLabels, Histogram, fn() -> Histogram>,
    connections: Gauge,
    memory_used: Gauge,
    handshake_failures: Counter,
    certificate_not_after: Gauge,
}

impl Metrics {
    /// New metrics, registered in `registry` under the prefix `reviser_`.
    pub fn register(registry: &mut Registry) -> Self {
        let inner = Inner {
            requests: Family::default(),
            durations: Family::new_with_constructor(|| Histogram::new(BUCKETS)),
            connections: Gauge::default(),
            memory_used: Gauge::default(),
            handshake_failures: Counter::default(),
            certificate_not_after: Gauge::default(),
        };
        registry.register("reviser_requests", "Requests, by what came of them", inner.requests.clone());
        registry.register(
            "reviser_request_duration_seconds",
            "Time from the head of a request to its answer",
            inner.durations.clone(),
        );
        registry.register(
            "reviser_connections",
            "Connections that are open on the secure port",
            inner.connections.clone(),
        );
        registry.register(
            "reviser_memory_budget_used_bytes",
            "Memory that is reserved for the requests in flight",
            inner.memory_used.clone(),
        );
        registry.register(
            "reviser_tls_handshake_failures",
            "Connections to the secure port that ended before TLS was set up",
            inner.handshake_failures.clone(),
        );
        registry.register(
            "reviser_tls_certificate_not_after_seconds",
            "When the certificate of the server expires, in seconds since 1970",
            inner.certificate_not_after.clone(),
        );
        registry.register(
            "reviser_build",
            "What is running",
            Info::new([("version", env!("CARGO_PKG_VERSION"))]),
        );
        Self(Arc::new(inner))
    }

    /// Starts to measure a request that arrived at `arrival`.
    pub(super) fn measure(&self, door: &'static str, arrival: Instant) -> Measurement<'_> {
        Measurement { metrics: self, door, arrival, operation: "unknown", outcome: "cancelled" }
    }

    /// Counts a connection for as long as the result lives.
    pub(super) fn connection(&self) -> OpenConnection {
        self.0.connections.inc();
        OpenConnection(self.clone())
    }

    /// The gauge of reserved memory.
    pub(super) fn memory_used(&self) -> Gauge {
        self.0.memory_used.clone()
    }

    pub(super) fn count_handshake_failure(&self) {
        self.0.handshake_failures.inc();
    }

    pub(super) fn set_certificate_not_after(&self, not_after: SystemTime) {
        let seconds = not_after.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
        self.0.certificate_not_after.set(i64::try_from(seconds).unwrap_or(i64::MAX));
    }
}

/// A request that is being answered. Counted when dropped, whatever the reason; one that was never
/// [finished](Self::finish) is one whose client went away.
#[derive(Debug)]
pub(super) struct Measurement<'a> {
    metrics: &'a Metrics,
    door: &'static str,
    arrival: Instant,
    operation: &'static str,
    outcome: &'static str,
}

impl Measurement<'_> {
    /// Sets what the request is counted under.
    pub(super) fn finish(&mut self, operation: &'static str, outcome: &'static str) {
        self.operation = operation;
        self.outcome = outcome;
    }
}

impl Drop for Measurement<'_> {
    fn drop(&mut self) {
        let Self { metrics, door, arrival, operation, outcome } = *self;
        let inner = &metrics.0;
        inner.requests.get_or_create(&RequestLabels { door, operation, outcome }).inc();
        let elapsed = arrival.elapsed().as_secs_f64();
        inner.durations.get_or_create(&DurationLabels { door, operation }).observe(elapsed);
    }
}

/// A connection that is counted as open.
#[derive(Debug)]
pub(super) struct OpenConnection(Metrics);

impl Drop for OpenConnection {
    fn drop(&mut self) {
        self.0.0.connections.dec();
    }
}
