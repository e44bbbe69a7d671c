//! The way of lines to where the log goes, which may be a pipe that nobody reads.
//!
//! Who logs only puts its line into a buffer, and never waits for a write: the threads that answer requests
//! must not stand still because of the log. One thread of the writer's own, the flusher, writes what is in the
//! buffer: at once after a pause and whenever something is urgent, otherwise all that came within [`PAUSE`]
//! together, since a write costs more than making the line. All lines go through that one buffer, in the order
//! they came in. A process that is killed loses what it said in its last [`PAUSE`], and what a sink that is
//! stuck would not take.
//!
//! What the sink does not take waits, up to [`MAX_PENDING_BYTES`]. Lines beyond that are dropped and counted,
//! and a line in their place says how many. Only who ends the process waits for the sink, and no longer than
//! [`END_PATIENCE`].

use std::{
    io::{self, Write},
    mem,
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    thread,
    time::{Duration, Instant},
};

use super::line::Look;

/// How long a line waits at most while the sink takes what it is given.
const PAUSE: Duration = Duration::from_millis(20);

/// How much waits until its pause is over; more is written before.
const MAX_BATCH_BYTES: usize = 256 * 1024;

/// How much waits at most while the sink takes nothing. As much again can be with the flusher.
const MAX_PENDING_BYTES: usize = 4 * 1024 * 1024;

/// How long the end of the process waits for the sink at most.
const END_PATIENCE: Duration = Duration::from_secs(1);

/// How long to wait before the next look at a pipe that is full and does not make its writers wait.
const FULL_PIPE_PAUSE: Duration = Duration::from_millis(1);

/// Takes lines from all threads. When it is dropped, the flusher writes what is left, and ends.
pub(super) struct Writer(Arc<Shared>);

/// What the writer and its flusher both have.
struct Shared {
    pause: Duration,
    look: Look,
    /// Locked for a moment only, never while something is written.
    pending: Mutex<Pending>,
    /// There is something for the flusher to do.
    news: Condvar,
    /// A batch was written.
    written: Condvar,
    /// Locked while something is written, by the flusher if there is one. Locked before `pending`.
    sink: Mutex<Sink>,
}

#[derive(Default)]
struct Pending {
    lines: Vec<u8>,
    /// How many lines were dropped after those.
    dropped: u64,
    /// Not to wait until the pause is over.
    hurry: bool,
    /// How many batches were taken from here, and how many of them are written.
    taken: u64,
    written: u64,
    last_write: Option<Instant>,
    flusher: Flusher,
    /// The process is about to end: every line could be the last.
    closed: bool,
    /// Somebody waited in vain, and nothing was written since.
    stuck: bool,
}

#[derive(Default, Clone, Copy, PartialEq, Eq)]
enum Flusher {
    /// Whoever brings a line writes it.
    #[default]
    Missing,
    /// Waits for a line.
    Idle,
    /// Looks at what is pending before it is idle.
    Busy,
    /// To write what is left and end.
    Dismissed,
}

struct Sink {
    out: Box<dyn Write + Send>,
    batch: Vec<u8>,
    /// A write failed in the middle of a line.
    torn: bool,
}

impl Writer {
    pub(super) fn new(out: impl Write + Send + 'static, look: Look) -> Arc<Self> {
        Self::with_pause(out, look, PAUSE)
    }

    pub(super) fn with_pause(out: impl Write + Send + 'static, look: Look, pause: Duration) -> Arc<Self> {
        let writer = Self::without_flusher(out, look, pause);
        lock(&writer.0.pending).flusher = Flusher::Busy;
        let shared = Arc::clone(&writer.0);
        if thread::Builder::new()
            .name("log".to_owned())
            .spawn(move || shared.flush_until_dismissed())
            .is_err()
        {
            lock(&writer.0.pending).flusher = Flusher::Missing;
        }
        writer
    }

    fn without_flusher(out: impl Write + Send + 'static, look: Look, pause: Duration) -> Arc<Self> {
        Arc::new(Self(Arc::new(Shared {
            pause,
            look,
            pending: Mutex::default(),
            news: Condvar::new(),
            written: Condvar::new(),
            sink: Mutex::new(Sink { out: Box::new(out), batch: Vec::new(), torn: false }),
        })))
    }

    /// Takes a whole line, its end included. One that is `urgent` is not kept waiting for others.
    pub(super) fn line(&self, line: &str, urgent: bool) {
        let mut pending = lock(&self.0.pending);
        pending.push(line);
        let hurry = urgent || pending.closed || pending.lines.len() > MAX_BATCH_BYTES;
        if pending.closed {
            self.0.finish(pending);
        } else {
            self.0.wake(pending, hurry);
        }
    }

    /// Waits until all that is pending is written, but not for ever. Later lines are waited for in the same way.
    pub(super) fn close(&self) {
        let mut pending = lock(&self.0.pending);
        pending.closed = true;
        self.0.finish(pending);
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        let mut pending = lock(&self.0.pending);
        if pending.flusher != Flusher::Missing {
            pending.flusher = Flusher::Dismissed;
            drop(pending);
            self.0.news.notify_one();
        }
    }
}

impl Pending {
    fn push(&mut self, line: &str) {
        // After a line that was dropped there is no other before that is told, or the gap would be anywhere.
        if self.dropped > 0 || self.lines.len() + line.len() > MAX_PENDING_BYTES {
            self.dropped += 1;
        } else {
            self.lines.extend_from_slice(line.as_bytes());
        }
    }

    fn is_empty(&self) -> bool {
        self.lines.is_empty() && self.dropped == 0
    }
}

impl Shared {
    /// Has what is pending written. A wake-up costs a system call, so there is none that is not needed.
    fn wake(&self, mut pending: MutexGuard<'_, Pending>, hurry: bool) {
        let news = hurry && !pending.hurry;
        pending.hurry |= hurry;
        match pending.flusher {
            Flusher::Missing => {
                drop(pending);
                self.write();
                return;
            }
            Flusher::Idle => pending.flusher = Flusher::Busy,
            Flusher::Busy | Flusher::Dismissed if news => {}
            Flusher::Busy | Flusher::Dismissed => return,
        }
        drop(pending);
        self.news.notify_one();
    }

    /// Has what is pending written, and waits for that unless the sink is stuck.
    fn finish(&self, pending: MutexGuard<'_, Pending>) {
        let last = pending.taken + u64::from(!pending.is_empty());
        if pending.is_empty() {
            drop(pending);
        } else {
            self.wake(pending, true);
        }
        let deadline = Instant::now() + END_PATIENCE;
        let mut pending = lock(&self.pending);
        while pending.written < last && !pending.stuck {
            let left = deadline.saturating_duration_since(Instant::now());
            pending.stuck = left.is_zero();
            let waited = self.written.wait_timeout(pending, left);
            pending = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    fn flush_until_dismissed(&self) {
        let mut pending = lock(&self.pending);
        loop {
            let left = pending.last_write.map(|last| self.pause.saturating_sub(last.elapsed()));
            let dismissed = pending.flusher == Flusher::Dismissed;
            if pending.is_empty() {
                if dismissed {
                    return;
                }
                pending.flusher = Flusher::Idle;
                pending = self.news.wait(pending).unwrap_or_else(PoisonError::into_inner);
            } else if let Some(left) = left.filter(|left| !left.is_zero() && !pending.hurry && !dismissed) {
                pending.flusher = Flusher::Busy;
                let waited = self.news.wait_timeout(pending, left);
                pending = waited.unwrap_or_else(PoisonError::into_inner).0;
            } else {
                drop(pending);
                self.write();
                pending = lock(&self.pending);
            }
        }
    }

    /// Writes all that is pending.
    fn write(&self) {
        let mut sink = lock(&self.sink);
        let mut pending = lock(&self.pending);
        pending.last_write = Some(Instant::now());
        pending.taken += 1;
        pending.hurry = false;
        mem::swap(&mut pending.lines, &mut sink.batch);
        let dropped = mem::take(&mut pending.dropped);
        drop(pending);
        if dropped > 0 {
            sink.batch.extend_from_slice(self.look.dropped(dropped).as_bytes());
        }
        sink.write();
        let mut pending = lock(&self.pending);
        pending.written += 1;
        pending.stuck = false;
        drop(pending);
        self.written.notify_all();
    }
}

impl Sink {
    /// Writes the batch. If that fails there is nobody to tell; only the next line must not go on where half
    /// of this one ended.
    fn write(&mut self) {
        if self.torn {
            self.batch.insert(0, b'\n');
        }
        let mut written = 0;
        while written < self.batch.len() {
            match self.out.write(&self.batch[written..]) {
                Ok(count) if count > 0 => written += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                // Somebody who shares stderr made it non-blocking: wait, as a write otherwise would.
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => thread::sleep(FULL_PIPE_PAUSE),
                _ => break,
            }
        }
        if let Some(&last) = self.batch[..written].last() {
            self.torn = last != b'\n';
        }
        self.batch.clear();
        // What piled up once must not stay in memory for good.
        self.batch.shrink_to(2 * MAX_BATCH_BYTES);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Nothing that is done under a lock leaves it half done.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
