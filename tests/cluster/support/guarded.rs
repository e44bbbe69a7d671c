//! A process that never outlives the tests.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Runs the program until it ends, and forwards signals named on standard input. When standard input closes,
/// the tests have ended: the program is killed, and the directory `$1` is removed.
///
/// What all tests of a binary share is never dropped, so another process has to notice that the binary is
/// gone.
const GUARD: &str = r#"
trap '' INT
exec 3<&0 4>&2 2>/dev/null
directory=$1
shift
"$@" 2>&4 3<&- 4>&- </dev/null &
program=$!
exec 4>&-
{
  while read -r signal; do kill -s "$signal" "$program"; done
  trap '' TERM
  kill -s KILL "$program"
  exit 3
} <&3 &
reader=$!
wait "$program"
code=$?
kill "$reader"
wait "$reader"
if [ $? = 3 ]; then
  # Another process may still be writing to it, or removing it too.
  for _ in 1 2 3; do rm -rf "$directory"; [ -e "$directory" ] || break; sleep 1; done
fi
exit "$code"
"#;

/// The longest time for a graceful stop.
const GRACE: Duration = Duration::from_secs(20);

/// A running program and its log.
#[derive(Debug)]
pub(crate) struct Guarded {
    pub(crate) name: &'static str,
    guard: Child,
    signals: ChildStdin,
    pub(crate) log: Arc<Mutex<Vec<String>>>,
}

impl Guarded {
    /// Starts `program`. `directory` is removed if the tests end without stopping it.
    pub(crate) fn start(name: &'static str, program: &Command, directory: &std::path::Path) -> Self {
        let mut guard = Command::new("sh");
        guard.args(["-c", GUARD, name]).arg(directory).arg(program.get_program()).args(program.get_args());
        guard.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut guard = guard.spawn().unwrap();
        let log = Arc::new(Mutex::new(Vec::new()));
        let into = Arc::clone(&log);
        let written = guard.stderr.take().unwrap();
        std::thread::spawn(move || {
            for line in BufReader::new(written).split(b'\n').map_while(Result::ok) {
                let line = String::from_utf8_lossy(&line).into_owned();
                into.lock().unwrap_or_else(PoisonError::into_inner).push(line);
            }
        });
        Self { name, signals: guard.stdin.take().unwrap(), guard, log }
    }

    /// The last lines of the log, for debugging.
    pub(crate) fn last_words(&self) -> String {
        let log = self.log.lock().unwrap_or_else(PoisonError::into_inner);
        let from = log.len().saturating_sub(40);
        format!("the last that {} wrote:\n{}", self.name, log[from..].join("\n"))
    }

    /// Panics if it has ended by itself.
    pub(crate) fn assert_runs(&mut self) {
        if let Some(status) = self.guard.try_wait().unwrap() {
            panic!("{} ended by itself, {status}; {}", self.name, self.last_words());
        }
    }

    /// Sends SIGTERM and waits for the end.
    pub(crate) fn stop(&mut self) {
        self.send("TERM");
        if !self.has_ended_within(GRACE) {
            self.kill();
        }
    }

    /// Sends SIGKILL and waits for the end.
    pub(crate) fn kill(&mut self) {
        self.send("KILL");
        assert!(self.has_ended_within(GRACE), "{} can't be killed", self.name);
    }

    fn send(&mut self, signal: &str) {
        // Fails if the guard has already ended.
        drop(writeln!(self.signals, "{signal}"));
    }

    fn has_ended_within(&mut self, time: Duration) -> bool {
        let deadline = Instant::now() + time;
        while self.guard.try_wait().unwrap().is_none() {
            if Instant::now() > deadline {
                return false;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        true
    }
}

impl Drop for Guarded {
    fn drop(&mut self) {
        if self.guard.try_wait().is_ok_and(|ended| ended.is_none()) {
            self.kill();
        }
    }
}
