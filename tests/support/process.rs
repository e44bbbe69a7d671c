//! The program as a process: run to its end, or as a server that a test stops.
//!
//! Its environment has only the variables that a test sets.

use std::{
    ffi::OsStr,
    io::{BufRead as _, BufReader, Read, Write as _},
    net::SocketAddr,
    process::{Child, Command, Stdio},
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    thread::JoinHandle,
    time::{Duration, Instant},
};

use rustix::process::{Pid, Signal, kill_process};

/// The deadline for anything that a test waits for.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);

/// The program with these arguments.
pub(crate) fn reviser<A: AsRef<OsStr>>(arguments: impl IntoIterator<Item = A>) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_reviser"));
    command.args(arguments).env_clear();
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// How a process ended.
#[derive(Debug)]
pub(crate) struct Done {
    /// The exit code; `None` if a signal ended it.
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// A process whose output is read continuously. Killed on drop if it is still running.
pub(crate) struct Process {
    child: Child,
    stdout: Option<JoinHandle<String>>,
    stderr: Option<JoinHandle<()>>,
    lines: Arc<Lines>,
}

/// The lines on stderr so far.
#[derive(Default)]
struct Lines {
    /// The lines, and whether stderr is closed.
    seen: Mutex<(Vec<String>, bool)>,
    news: Condvar,
}

impl Lines {
    /// Ignores poisoning: the lines are valid after a failed test.
    fn lock(&self) -> MutexGuard<'_, (Vec<String>, bool)> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Process {
    /// Starts `command`. `input` must fit in the buffer of a pipe.
    pub(crate) fn start(mut command: Command, input: &[u8]) -> Self {
        if !input.is_empty() {
            command.stdin(Stdio::piped());
        }
        let mut child = command.spawn().unwrap();
        if let Some(mut stdin) = child.stdin.take() {
            stdin.write_all(input).unwrap();
        }
        let stdout = child.stdout.take().map(|mut pipe| {
            std::thread::spawn(move || {
                let mut text = String::new();
                pipe.read_to_string(&mut text).unwrap();
                text
            })
        });
        let lines = Arc::new(Lines::default());
        let pipe = child.stderr.take().unwrap();
        let into = Arc::clone(&lines);
        let stderr = std::thread::spawn(move || {
            for line in BufReader::new(pipe).lines() {
                into.lock().0.push(line.unwrap());
                into.news.notify_all();
            }
            into.lock().1 = true;
            into.news.notify_all();
        });
        Self { child, stdout, stderr: Some(stderr), lines }
    }

    /// The lines on stderr so far.
    pub(crate) fn said(&self) -> Vec<String> {
        self.lines.lock().0.clone()
    }

    /// Waits for a line on stderr that satisfies `holds`, and returns the first one.
    pub(crate) fn says(&self, holds: impl Fn(&str) -> bool) -> String {
        let deadline = Instant::now() + PATIENCE;
        let mut seen = self.lines.lock();
        let mut looked_at = 0;
        loop {
            if let Some(line) = seen.0[looked_at..].iter().find(|line| holds(line)) {
                return line.clone();
            }
            looked_at = seen.0.len();
            let left = deadline.saturating_duration_since(Instant::now());
            assert!(!seen.1 && !left.is_zero(), "no such line on stderr:\n{}", seen.0.join("\n"));
            seen = self.lines.news.wait_timeout(seen, left).unwrap().0;
        }
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn signal(&self, signal: Signal) {
        kill_process(Pid::from_raw(self.pid().cast_signed()).unwrap(), signal).unwrap();
    }

    /// Waits until it ends; does not stop it.
    pub(crate) fn ended(mut self) -> Done {
        let deadline = Instant::now() + PATIENCE;
        let status = loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                break status;
            }
            assert!(Instant::now() < deadline, "it did not end:\n{}", self.said().join("\n"));
            std::thread::sleep(Duration::from_millis(2));
        };
        let stdout = self.stdout.take().map(|reading| reading.join().unwrap()).unwrap_or_default();
        self.stderr.take().unwrap().join().unwrap();
        let stderr = self.said().iter().flat_map(|line| [line, "\n"]).collect();
        Done { code: status.code(), stdout, stderr }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // Both fail if it has already ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A running server on its own ports.
pub(crate) struct Server {
    pub(crate) process: Process,
    pub(crate) secure: SocketAddr,
    pub(crate) admin: SocketAddr,
}

impl Server {
    /// Starts `reviser serve` on free local ports, without a drain time, with these arguments added.
    pub(crate) fn start<A: AsRef<OsStr>>(arguments: impl IntoIterator<Item = A>) -> Self {
        let mut command = reviser(["serve", "--bind-address", "127.0.0.1", "--secure-port", "0"]);
        command.args(["--admin-bind-address", "127.0.0.1:0"]).args(arguments);
        Self::start_from(command)
    }

    /// Starts `command` and waits until it serves.
    pub(crate) fn start_from(command: Command) -> Self {
        let process = Process::start(command, b"");
        let line = process.says(|line| line.contains("secure_address"));
        Self { secure: address(&line, "secure_address"), admin: address(&line, "admin_address"), process }
    }

    /// Sends `signal` and waits for its end.
    pub(crate) fn end(self, signal: Signal) -> Done {
        self.process.signal(signal);
        self.process.ended()
    }
}

/// The address in the field `name` of a line of the log, text or JSON.
pub(crate) fn address(line: &str, name: &str) -> SocketAddr {
    let (_, rest) = line.split_once(name).unwrap();
    let rest = rest.trim_start_matches(['"', ':', '=']);
    let end = rest.find(|c: char| c == '"' || c.is_whitespace()).unwrap_or(rest.len());
    rest[..end].parse().unwrap()
}
