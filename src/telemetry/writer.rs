//! The way of lines to where the log goes: at once while there are few, in batches while there are many.
//!
//! A write costs more than making the line, and the thread that answers a request pays for both. So a line
//! that comes shortly after a write waits for others, for [`PAUSE`] at most, and a thread of the writer's own
//! writes them together. Nothing is dropped and nothing is overtaken: all lines go through one buffer, in the
//! order they came in. What a process loses that is killed is what its last [`PAUSE`] said below a warning.

use std::{
    io::{self, Write},
    mem,
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    thread,
    time::{Duration, Instant},
};

/// How long a line waits at most.
const PAUSE: Duration = Duration::from_millis(20);

/// How much waits at most. Whoever brings more writes it all, and waits for that.
const MAX_PENDING_BYTES: usize = 256 * 1024;

/// How long to wait before the next look at a pipe that is full and does not make its writers wait.
const FULL_PIPE_PAUSE: Duration = Duration::from_millis(1);

/// Takes lines from all threads.
pub(super) struct Writer {
    pause: Duration,
    /// Locked for a moment only, never while something is written.
    pending: Mutex<Pending>,
    /// Something is pending where nothing was, or the writer was closed.
    news: Condvar,
    /// Locked while something is written. Who holds both has locked this one first, or without waiting.
    sink: Mutex<Sink>,
}

#[derive(Default)]
struct Pending {
    lines: Vec<u8>,
    last_write: Option<Instant>,
    has_flusher: bool,
    closed: bool,
}

struct Sink {
    out: Box<dyn Write + Send>,
    batch: Vec<u8>,
    /// A write failed in the middle of a line.
    torn: bool,
}

impl Writer {
    pub(super) fn new(out: impl Write + Send + 'static) -> Arc<Self> {
        Self::with_pause(out, PAUSE)
    }

    pub(super) fn with_pause(out: impl Write + Send + 'static, pause: Duration) -> Arc<Self> {
        Arc::new(Self {
            pause,
            pending: Mutex::default(),
            news: Condvar::new(),
            sink: Mutex::new(Sink { out: Box::new(out), batch: Vec::new(), torn: false }),
        })
    }

    /// Takes a whole line, its end included. One that is `urgent` is written when this returns.
    pub(super) fn line(self: &Arc<Self>, line: &str, urgent: bool) {
        let mut pending = lock(&self.pending);
        let first = pending.lines.is_empty();
        pending.lines.extend_from_slice(line.as_bytes());
        if urgent || pending.closed || pending.lines.len() > MAX_PENDING_BYTES {
            drop(pending);
            self.flush();
        } else if first {
            // If there were others, somebody is on the way to write them already.
            let paused = pending.last_write.is_none_or(|last| last.elapsed() >= self.pause);
            // If the sink is busy, the flusher is better at waiting for it than a thread with work to do.
            if paused && let Ok(mut sink) = self.sink.try_lock() {
                sink.take(pending);
            } else {
                self.leave_to_flusher(pending);
            }
        }
    }

    /// Writes all that is pending.
    pub(super) fn flush(&self) {
        let mut sink = lock(&self.sink);
        sink.take(lock(&self.pending));
    }

    /// Writes all that is pending, and every later line at once.
    pub(super) fn close(&self) {
        lock(&self.pending).closed = true;
        self.news.notify_one();
        self.flush();
    }

    fn leave_to_flusher(self: &Arc<Self>, mut pending: MutexGuard<'_, Pending>) {
        let running = mem::replace(&mut pending.has_flusher, true);
        drop(pending);
        if running {
            self.news.notify_one();
            return;
        }
        let writer = Arc::clone(self);
        if thread::Builder::new().name("log".to_owned()).spawn(move || writer.flush_until_closed()).is_err() {
            lock(&self.pending).has_flusher = false;
            self.flush();
        }
    }

    fn flush_until_closed(&self) {
        let mut pending = lock(&self.pending);
        while !pending.closed {
            let left = pending.last_write.map(|last| self.pause.saturating_sub(last.elapsed()));
            if pending.lines.is_empty() {
                pending = self.news.wait(pending).unwrap_or_else(PoisonError::into_inner);
            } else if let Some(left) = left.filter(|left| !left.is_zero()) {
                let waited = self.news.wait_timeout(pending, left);
                pending = waited.unwrap_or_else(PoisonError::into_inner).0;
            } else {
                drop(pending);
                self.flush();
                pending = lock(&self.pending);
            }
        }
    }
}

impl Sink {
    fn take(&mut self, mut pending: MutexGuard<'_, Pending>) {
        if pending.lines.is_empty() {
            return;
        }
        pending.last_write = Some(Instant::now());
        mem::swap(&mut pending.lines, &mut self.batch);
        drop(pending);
        self.write();
        self.batch.clear();
        // One huge line must not stay in memory for good.
        self.batch.shrink_to(2 * MAX_PENDING_BYTES);
    }

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
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Nothing that is done under a lock leaves it half done.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::super::tests::{NEVER, Sink as Kept, eventually};
    use super::*;

    /// Takes a few bytes at a time, and has something to say about it in between.
    struct Stubborn {
        kept: Kept,
        answers: Vec<io::Result<usize>>,
    }

    impl Write for Stubborn {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let count = self.answers.pop().unwrap_or(Ok(bytes.len()))?;
            self.kept.write(&bytes[..count])
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn stubborn<const N: usize>(mut answers: [io::Result<usize>; N]) -> (Kept, Arc<Writer>) {
        answers.reverse();
        let kept = Kept::default();
        let writer = Writer::new(Stubborn { kept: kept.clone(), answers: answers.into() });
        writer.close();
        (kept, writer)
    }

    #[test]
    fn a_line_after_a_pause_is_written_at_once() {
        let kept = Kept::default();
        let writer = Writer::with_pause(kept.clone(), Duration::ZERO);
        for line in ["one\n", "two\n", "three\n"] {
            writer.line(line, false);
            assert_eq!(kept.writes().last().unwrap(), line);
        }
        assert!(!lock(&writer.pending).has_flusher);
    }

    #[test]
    fn a_line_right_after_a_write_is_written_by_itself_soon() {
        let kept = Kept::default();
        let writer = Writer::new(kept.clone());
        for round in 1..=5 {
            writer.line("urgent\n", true);
            writer.line("soon\n", false);
            eventually(|| kept.text() == "urgent\nsoon\n".repeat(round));
        }
        writer.close();
    }

    #[test]
    fn what_waits_is_written_together() {
        let kept = Kept::default();
        let writer = Writer::with_pause(kept.clone(), NEVER);
        for line in ["one\n", "two\n", "three\n"] {
            writer.line(line, false);
        }
        writer.close();
        assert_eq!(kept.writes(), ["one\n", "two\nthree\n"]);
    }

    #[test]
    fn too_much_waiting_is_written_by_who_brings_it() {
        let kept = Kept::default();
        let writer = Writer::with_pause(kept.clone(), NEVER);
        let line = format!("{}\n", "x".repeat(1023));
        for _ in 0..=MAX_PENDING_BYTES / line.len() {
            writer.line(&line, false);
        }
        assert_eq!(kept.writes().len(), 1);
        writer.line(&line, false);
        assert_eq!(kept.text().len(), MAX_PENDING_BYTES + 2 * line.len());
        assert_eq!(kept.writes().len(), 2);
        writer.close();
    }

    #[test]
    fn everything_is_there_after_the_end_and_later_lines_too() {
        let kept = Kept::default();
        let writer = Writer::with_pause(kept.clone(), NEVER);
        writer.line("one\n", false);
        writer.line("two\n", false);
        writer.close();
        assert_eq!(kept.text(), "one\ntwo\n");
        writer.line("three\n", false);
        assert_eq!(kept.text(), "one\ntwo\nthree\n");
    }

    #[test]
    fn the_flusher_ends_with_the_writer() {
        let writer = Writer::with_pause(Kept::default(), NEVER);
        writer.line("one\n", false);
        writer.line("two\n", false);
        assert!(Arc::strong_count(&writer) > 1, "the flusher is there");
        writer.close();
        eventually(|| Arc::strong_count(&writer) == 1);
    }

    #[test]
    fn a_write_that_takes_a_part_is_gone_on_with() {
        let (kept, writer) = stubborn([
            Ok(2),
            Err(io::ErrorKind::Interrupted.into()),
            Err(io::ErrorKind::WouldBlock.into()),
            Ok(1),
        ]);
        writer.line("one line\n", false);
        assert_eq!(kept.text(), "one line\n");
    }

    #[test]
    fn a_line_after_a_torn_one_is_whole() {
        let (kept, writer) =
            stubborn([Ok(2), Err(io::ErrorKind::StorageFull.into()), Err(io::ErrorKind::StorageFull.into())]);
        writer.line("one\n", false);
        writer.line("two\n", false);
        writer.line("three\n", false);
        assert_eq!(kept.text(), "on\nthree\n");
    }
}
