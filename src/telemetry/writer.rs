//! Writing the log from a thread of its own.
//!
//! A write to a pipe costs more than a request does, and is paid for by whoever logs. So lines are put into a
//! buffer, and a thread writes what has come together in a few milliseconds in one go.

use std::{
    io::{self, Write},
    mem,
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    thread,
    time::Duration,
};

use tracing_subscriber::fmt::MakeWriter;

/// How long a line waits for others to be written with.
const GATHER: Duration = Duration::from_millis(5);

/// How much may wait to be written. What is more is dropped, and counted: a server whose log nobody reads any
/// more goes on answering.
const MAX_WAITING: usize = 4 << 20;

/// A buffer that has grown beyond this is given back once it is written.
const MAX_KEPT: usize = 64 << 10;

/// How long to wait for somebody to read the log, at the end.
const FLUSH_TIMEOUT: Duration = Duration::from_secs(1);

/// Takes the lines.
#[derive(Clone, Debug)]
pub(super) struct LineWriter {
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    waiting: Mutex<Waiting>,
    /// Something came, or is wanted.
    came: Condvar,
    /// Something was written.
    written: Condvar,
}

#[derive(Debug, Default)]
struct Waiting {
    lines: Vec<u8>,
    dropped: u64,
    /// Bytes that ever came, and of those the ones that are written.
    total_came: u64,
    total_written: u64,
    /// Whether somebody waits for all to be written.
    hurry: bool,
}

impl LineWriter {
    /// Starts the thread that writes to `target`. It ends with the process.
    pub(super) fn start(target: impl Write + Send + 'static) -> io::Result<Self> {
        let shared = Arc::new(Shared::default());
        let thread = thread::Builder::new().name("log".to_owned());
        thread.spawn({
            let shared = Arc::clone(&shared);
            move || shared.write_to(target)
        })?;
        Ok(Self { shared })
    }

    /// Waits until all that came so far is written, but not for ever.
    pub(super) fn flush(&self) {
        let mut waiting = self.shared.lock();
        let target = waiting.total_came;
        waiting.hurry = true;
        self.shared.came.notify_one();
        let missing = |waiting: &mut Waiting| waiting.total_written < target;
        let _ = self.shared.written.wait_timeout_while(waiting, FLUSH_TIMEOUT, missing);
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn write_to(&self, mut target: impl Write) -> ! {
        let mut lines = Vec::new();
        loop {
            let nothing = |waiting: &mut Waiting| waiting.lines.is_empty() && !waiting.hurry;
            let waiting = self.came.wait_while(self.lock(), nothing).unwrap_or_else(PoisonError::into_inner);
            let calm = |waiting: &mut Waiting| !waiting.hurry;
            let gathered = self.came.wait_timeout_while(waiting, GATHER, calm);
            let (mut waiting, _timeout) = gathered.unwrap_or_else(PoisonError::into_inner);
            mem::swap(&mut lines, &mut waiting.lines);
            waiting.hurry = false;
            let (dropped, came) = (mem::take(&mut waiting.dropped), waiting.total_came);
            drop(waiting);

            // There is nobody to tell that nothing can be told.
            let _ = target.write_all(&lines);
            if dropped > 0 {
                let _ = writeln!(
                    target,
                    "{dropped} lines of the log are lost: they came faster than they were read"
                );
            }
            let _ = target.flush();
            lines.clear();
            if lines.capacity() > MAX_KEPT {
                lines = Vec::new();
            }
            self.lock().total_written = came;
            self.written.notify_all();
        }
    }
}

impl Write for LineWriter {
    /// Takes `line` as a whole.
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        let mut waiting = self.shared.lock();
        if waiting.lines.len() + line.len() > MAX_WAITING {
            waiting.dropped += 1;
            return Ok(line.len());
        }
        let first = waiting.lines.is_empty();
        waiting.lines.extend_from_slice(line);
        waiting.total_came += u64::try_from(line.len()).unwrap_or(u64::MAX);
        drop(waiting);
        if first {
            self.shared.came.notify_one();
        }
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl MakeWriter<'_> for LineWriter {
    type Writer = Self;

    fn make_writer(&self) -> Self {
        self.clone()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::{Receiver, Sender, channel};

    use super::*;

    /// Passes on what is written, once it may.
    struct Target {
        gate: Receiver<()>,
        written: Sender<Vec<u8>>,
    }

    impl Write for Target {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.gate.recv().map_err(io::Error::other)?;
            self.written.send(bytes.to_vec()).map_err(io::Error::other)?;
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn start() -> (LineWriter, Sender<()>, Receiver<Vec<u8>>) {
        let (open, gate) = channel();
        let (written, read) = channel();
        (LineWriter::start(Target { gate, written }).unwrap(), open, read)
    }

    #[test]
    fn every_line_of_every_thread_is_written_whole() {
        let (writer, open, read) = start();
        for _ in 0..1000 {
            open.send(()).unwrap();
        }
        thread::scope(|scope| {
            for name in ["a", "b", "c"] {
                let mut writer = writer.clone();
                scope.spawn(move || {
                    for number in 0..500 {
                        writer.write_all(format!("{name} {number}\n").as_bytes()).unwrap();
                    }
                });
            }
        });
        writer.flush();
        let text = String::from_utf8(read.try_iter().flatten().collect()).unwrap();
        assert_eq!(text.lines().count(), 1500);
        for name in ["a", "b", "c"] {
            let own: Vec<_> = text.lines().filter(|line| line.starts_with(name)).collect();
            let wanted: Vec<_> = (0..500).map(|number| format!("{name} {number}")).collect();
            assert_eq!(own, wanted);
        }
    }

    #[test]
    fn a_log_that_nobody_reads_holds_up_nobody_and_says_what_it_lost() {
        let (writer, open, read) = start();
        let line = [b'x'; 1 << 10];
        // One batch can be with the target, and one can wait.
        let count = 2 * MAX_WAITING / line.len() + 1;
        for _ in 0..count {
            writer.clone().write_all(&line).unwrap();
        }
        for _ in 0..1000 {
            open.send(()).unwrap();
        }
        writer.flush();
        let text = String::from_utf8(read.try_iter().flatten().collect()).unwrap();
        let (_, told) = text.rsplit_once('x').unwrap();
        let lost: usize = told.split(' ').next().unwrap().parse().unwrap();
        assert_eq!(text.matches('x').count() / line.len() + lost, count);
        assert!(lost > 0 && told.contains("lines of the log are lost"), "{told}");
    }
}
