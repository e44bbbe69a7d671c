//! What a connection is up to, and when that has gone on for too long.
//!
//! One timer a connection, which the usual request never touches: it is set when the connection begins, and
//! when it goes off, what has happened meanwhile says when to look again. hyper's own header timeout is not
//! used for two reasons: it sets up a timer for each request, and it counts the time between two requests as
//! the time that the head of the second one takes.

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

/// While the server stops, a connection that has been quiet for this long is taken to be idle: a client that
/// has just got an answer may be about to send its next request.
const LINGER: Duration = Duration::from_millis(500);

/// How long a connection may be idle while others wait to be accepted, and how often that is checked.
const CROWDED: Duration = Duration::from_millis(500);

/// How long a connection that was asked to end may take to do so.
const RETIREMENT: Duration = Duration::from_secs(5);

/// What a connection is up to; shared between its input, its requests and its [`Watchdog`].
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

    /// Whether a part of a head is there, and the rest is not. In HTTP/2 that can't be told from frames
    /// that belong to no request, so there it is for the idle limit to end it.
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

/// A request, from its head to its answer, or to where it is given up.
#[derive(Debug)]
pub(super) struct Exchange {
    activity: Arc<Activity>,
    /// When the head was there.
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
        // At the end of the input too, but there is nobody left then to whom it would matter.
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

/// What is to become of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// It is to end in good order: what is in flight is answered.
    Retire,
    /// It is to be dropped.
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

    /// Takes note of the phase that the server is in.
    pub(super) fn enter(&mut self, phase: Phase) {
        self.phase = phase;
        if phase == Phase::Stopping && !self.awaits_head {
            self.idle_timeout = LINGER;
            self.set_alarm(self.activity.idle_since() + LINGER);
        }
    }

    /// Is to be polled each time the connection has been, and had nothing more to do.
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

    /// Whether the connection has to end, and can be told so: HTTP/2 as soon as the server drains, as its
    /// clients then take the next request elsewhere, HTTP/1.1 when the request that it is busy with is the
    /// last one. `Connection: close` is for the answers to say, and idle connections have time to linger.
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
        // What has never served is not in a state to end in good order, nor has it anything to lose.
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
