//! Stderr behind the queue of `tracing_appender`, and the count of the lines that found no room in it.

use std::fmt;
use std::io::{self, BufWriter, Write};
use std::mem;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::{Duration, Instant};

use tracing::warn;
use tracing_appender::non_blocking::{ErrorCounter, WorkerGuard};

/// How many bytes of waiting lines are written by one system call.
const BATCH_BYTES: usize = 64 * 1024;

/// How long the end of the process waits for a stderr that takes nothing.
const PATIENCE: Duration = Duration::from_secs(1);
const POLL: Duration = Duration::from_millis(5);

/// Where the worker thread writes. It calls `flush` whenever no line is left in its queue.
pub(super) struct Stderr {
    out: BufWriter<io::Stderr>,
    drops: Drops,
}

impl Stderr {
    pub(super) fn new() -> (Self, Drops) {
        let drops = Drops::default();
        (Self { out: BufWriter::with_capacity(BATCH_BYTES, io::stderr()), drops: drops.clone() }, drops)
    }
}

impl Write for Stderr {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.out.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        // Before the write, which may block: at this moment the queue has room for the line.
        self.drops.report();
        self.out.flush()
    }
}

/// How many lines were dropped, and how many of those have been reported.
#[derive(Clone, Default)]
pub(super) struct Drops(Arc<Counts>);

#[derive(Default)]
struct Counts {
    dropped: OnceLock<ErrorCounter>,
    reported: AtomicUsize,
}

impl Drops {
    /// Sets the counter of dropped lines, which exists only once the writer has been handed over.
    pub(super) fn watch(&self, dropped: ErrorCounter) {
        let _ = self.0.dropped.set(dropped);
    }

    fn unreported(&self) -> usize {
        let dropped = self.0.dropped.get().map_or(0, ErrorCounter::dropped_lines);
        dropped.saturating_sub(self.0.reported.load(Ordering::Relaxed))
    }

    fn report(&self) {
        let count = self.unreported();
        if count > 0 {
            warn!(count, "dropped lines of the log");
            self.0.reported.fetch_add(count, Ordering::Relaxed);
        }
    }
}

/// Writes the lines that are left when it is dropped. It waits for stderr no longer than about a second.
#[must_use = "without it the last lines of the log are lost"]
pub struct LogGuard {
    worker: Option<WorkerGuard>,
    drops: Drops,
}

impl LogGuard {
    pub(super) fn new(worker: WorkerGuard, drops: Drops) -> Self {
        Self { worker: Some(worker), drops }
    }
}

impl fmt::Debug for LogGuard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LogGuard").finish_non_exhaustive()
    }
}

impl Drop for LogGuard {
    fn drop(&mut self) {
        let deadline = Instant::now() + PATIENCE;
        while self.drops.unreported() > 0 && Instant::now() < deadline {
            thread::sleep(POLL);
        }
        if self.drops.unreported() > 0 {
            // With a full queue `WorkerGuard` prints to stdout, which may be the same pipe that nobody reads.
            mem::forget(self.worker.take());
        }
    }
}
