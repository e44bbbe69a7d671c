//! The timeouts of a connection.
//!
//! Each connection has one timer, which a request does not touch. When it fires, the activity since then
//! decides when it fires next. hyper's header timeout is not used: it sets a timer for each request, and it
//! counts the time between two requests as part of the head of the second one.

use std::{
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering::Relaxed},
    },
    task::{Context, Poll},
    time::{Duration, Instant},
};

use hyper::rt::{Read, ReadBufCursor, Write};
use tokio::sync::Semaphore;
use tokio::time::Sleep;

use super::{Limits, Phase};

/// How long a connection may be idle while the server stops. A client that just got an answer may be about to
/// send its next request.
const LINGER: Duration = Duration::from_millis(500);

/// How long a connection may be idle while others wait to be accepted, and how often that is checked.
const CROWDED: Duration = Duration::from_millis(500);

/// How long a graceful shutdown of a connection may take.
const RETIREMENT: Duration = Duration::from_secs(5);

/// The state of a connection, shared by its input, its requests and its [`Watchdog`].
#[derive(Debug)]
pub(super) struct Activity {
    start: Instant,
    /// When the last request was finished, in nanoseconds from `start`.
    idle_since: AtomicU64,
    in_flight: AtomicU32,
    served: AtomicBool,
    http2: AtomicBool,
    /// Whether something was read since the last request began or ended.
    reading: AtomicBool,
}

impl Activity {
    pub(super) fn new() -> Self {
        Self {
            start: Instant::now(),
            idle_since: AtomicU64::new(0),
            in_flight: AtomicU32::new(0),
            served: AtomicBool::new(false),
            http2: AtomicBool::new(false),
            reading: AtomicBool::new(false),
        }
    }

    /// Whether a part of a head was read, and the rest is missing. In HTTP/2 a part of a head looks like
    /// frames of no request, so the idle timeout covers it.
    fn is_reading_head(&self) -> bool {
        self.reading.load(Relaxed) && !self.is_busy() && !self.is_http2()
    }

    fn is_busy(&self) -> bool {
        self.in_flight.load(Relaxed) > 0
    }

    fn is_http2(&self) -> bool {
        self.http2.load(Relaxed)
    }

    fn idle_since(&self) -> Instant {
        self.start + Duration::from_nanos(self.idle_since.load(Relaxed))
    }
}

/// A request, from its head to its answer or its cancellation.
#[derive(Debug)]
pub(super) struct Exchange {
    activity: Arc<Activity>,
    /// When the head was read.
    pub(super) arrival: Instant,
}

impl Exchange {
    pub(super) fn begin(activity: &Arc<Activity>, http2: bool) -> Self {
        activity.in_flight.fetch_add(1, Relaxed);
        activity.reading.store(false, Relaxed);
        activity.http2.store(http2, Relaxed);
        activity.served.store(true, Relaxed);
        Self { activity: Arc::clone(activity), arrival: Instant::now() }
    }
}

impl Drop for Exchange {
    fn drop(&mut self) {
        let idle_since = u64::try_from(self.activity.start.elapsed().as_nanos()).unwrap_or(u64::MAX);
        self.activity.idle_since.store(idle_since, Relaxed);
        self.activity.reading.store(false, Relaxed);
        self.activity.in_flight.fetch_sub(1, Relaxed);
    }
}

/// Input and output of a connection, whose [`Activity`] shows when something was read.
#[derive(Debug)]
pub(super) struct Watched<T> {
    io: T,
    activity: Arc<Activity>,
}

impl<T> Watched<T> {
    pub(super) fn new(io: T, activity: Arc<Activity>) -> Self {
        Self { io, activity }
    }
}

impl<T: Read + Unpin> Read for Watched<T> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: ReadBufCursor<'_>,
    ) -> Poll<std::io::Result<()>> {
        let read = Pin::new(&mut self.io).poll_read(cx, buffer);
        // The end of the input counts too, without an effect.
        if read.is_ready() {
            self.activity.reading.store(true, Relaxed);
        }
        read
    }
}

impl<T: Write + Unpin> Write for Watched<T> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<std::io::Result<usize>> {
        Pin::new(&mut self.io).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Pin::new(&mut self.io).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Pin::new(&mut self.io).poll_shutdown(cx)
    }

    fn is_write_vectored(&self) -> bool {
        self.io.is_write_vectored()
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        pieces: &[std::io::IoSlice<'_>],
    ) -> Poll<std::io::Result<usize>> {
        Pin::new(&mut self.io).poll_write_vectored(cx, pieces)
    }
}

/// How a connection ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// Gracefully: the requests in flight are answered.
    Retire,
    /// It is dropped.
    Cut,
}

/// Decides when a connection has to end.
#[derive(Debug)]
pub(super) struct Watchdog {
    activity: Arc<Activity>,
    alarm: Pin<Box<Sleep>>,
    /// The permits for connections. Without a free one, others may wait to be accepted.
    permits: Arc<Semaphore>,
    header_timeout: Duration,
    idle_timeout: Duration,
    phase: Phase,
    /// Whether the alarm is set for a head that is not complete.
    awaits_head: bool,
    retired: bool,
}

impl Watchdog {
    pub(super) fn new(activity: Arc<Activity>, permits: Arc<Semaphore>, limits: &Limits) -> Self {
        Self {
            activity,
            alarm: Box::pin(tokio::time::sleep(limits.idle_timeout.min(CROWDED))),
            permits,
            header_timeout: limits.header_timeout,
            idle_timeout: limits.idle_timeout,
            phase: Phase::Serving,
            awaits_head: false,
            retired: false,
        }
    }

    /// Sets the phase of the server.
    pub(super) fn enter(&mut self, phase: Phase) {
        self.phase = phase;
        if phase == Phase::Stopping && !self.awaits_head {
            self.idle_timeout = LINGER;
            self.set_alarm(self.activity.idle_since() + LINGER);
        }
    }

    /// Must be polled after the connection, each time that is pending.
    pub(super) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Verdict> {
        if !self.retired && self.is_to_go() {
            return Poll::Ready(self.retire());
        }
        let awaits_head = self.activity.is_reading_head();
        if awaits_head != self.awaits_head {
            self.awaits_head = awaits_head;
            self.set_alarm(
                Instant::now()
                    + if awaits_head { self.header_timeout } else { CROWDED.min(self.idle_timeout) },
            );
        }
        while self.alarm.as_mut().poll(cx).is_ready() {
            if let Some(verdict) = self.on_alarm(Instant::now()) {
                return Poll::Ready(verdict);
            }
        }
        Poll::Pending
    }

    /// Whether the connection is shut down gracefully because of the phase: HTTP/2 as soon as the server
    /// drains, because its clients then open another connection; HTTP/1.1 with its last request, whose answer
    /// has `Connection: close`.
    fn is_to_go(&self) -> bool {
        match self.phase {
            Phase::Serving => false,
            Phase::Draining => self.activity.is_http2(),
            Phase::Stopping | Phase::Ended => self.activity.is_http2() || self.activity.is_busy(),
        }
    }

    fn on_alarm(&mut self, now: Instant) -> Option<Verdict> {
        if self.activity.is_busy() {
            self.set_alarm(now + if self.retired { RETIREMENT } else { CROWDED.min(self.idle_timeout) });
            return None;
        }
        if self.retired || self.awaits_head {
            return Some(Verdict::Cut);
        }
        let is_crowded = self.permits.available_permits() == 0;
        let idle_timeout = if is_crowded { self.idle_timeout.min(CROWDED) } else { self.idle_timeout };
        let limit = self.activity.idle_since() + idle_timeout;
        if now < limit {
            self.set_alarm(limit.min(now + CROWDED));
            return None;
        }
        // A connection without a request cannot be shut down gracefully, and loses nothing.
        Some(if self.activity.served.load(Relaxed) { self.retire() } else { Verdict::Cut })
    }

    fn retire(&mut self) -> Verdict {
        self.retired = true;
        self.set_alarm(Instant::now() + RETIREMENT);
        Verdict::Retire
    }

    fn set_alarm(&mut self, at: Instant) {
        self.alarm.as_mut().reset(at.into());
    }
}
