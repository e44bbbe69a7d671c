//! Processes that are killed, or that reach a limit of the file size.
//!
//! The child process is this test binary, configured by environment variables.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdout, Command, Stdio};

use super::*;

const LEDGER: &str = "REVISER_TEST_LEDGER";
const START: &str = "REVISER_TEST_START";
/// The number of keys that the child writes in turn.
const KEYS: usize = 5;
/// Makes the child limit its file size to more than a new ledger needs, so that a later commit fails.
const LIMIT: &str = "REVISER_TEST_LIMIT";

/// The entries after the numbers below `end` were written, each under one of the keys.
fn numbers(end: usize) -> Model {
    (0..end).map(|number| (key(&(number % KEYS).to_string()), cluster(&number.to_string()))).collect()
}

/// With the environment variables, this is the child. Without them, it tests `numbers`.
#[test]
fn child_that_writes_until_it_is_killed() {
    let (Some(path), Ok(start)) = (std::env::var_os(LEDGER), std::env::var(START)) else {
        assert_eq!(numbers(KEYS + 1).get(&key("0")), Some(&cluster(&KEYS.to_string())));
        return;
    };
    let mut out = io::stdout();
    let limit = std::env::var(LIMIT).ok().map(|limit| limit.parse().unwrap());
    let ledger = FileLedger::open(&path).unwrap();
    limit_files(limit);
    for number in start.parse::<usize>().unwrap().. {
        let name = (number % KEYS).to_string();
        // Increasing length makes the file grow.
        let to = if limit.is_some() { "x".repeat(number * 100) } else { number.to_string() };
        let before = read(&ledger, &name);
        if let Err(error) = put(&ledger, &name, &to) {
            assert_eq!(read(&ledger, &name), before);
            writeln!(out, "\nfailed {}", error.source).unwrap();
            assert!(put(&ledger, &name, &to).is_err(), "there is no more room than before");
            limit_files(None);
            put(&ledger, &name, "with room").unwrap();
            assert_eq!(read(&ledger, &name), Some(cluster("with room")));
            return;
        }
        writeln!(out, "\ndone {number}").unwrap();
    }
}

/// Limits the file size of this process.
fn limit_files(bytes: Option<u64>) {
    use rustix::process::{Resource, getrlimit, setrlimit};

    let maximum = getrlimit(Resource::Fsize).maximum;
    setrlimit(Resource::Fsize, rustix::process::Rlimit { current: bytes, maximum }).unwrap();
}

fn read(ledger: &FileLedger, name: &str) -> Option<ClusterName> {
    block_on(ledger.read(&key(name), None)).expect("a usable ledger")
}

/// A child that writes numbers from `start`. Killed on drop.
struct Writing {
    child: Child,
    out: BufReader<ChildStdout>,
}

impl Writing {
    fn start(mut command: Command, path: &Path, start: usize) -> Self {
        let name = "state::file::tests::kill::child_that_writes_until_it_is_killed";
        let mut child = command
            .args([name, "--exact", "--nocapture"])
            .env(LEDGER, path)
            .env(START, start.to_string())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .expect("a child");
        let out = BufReader::new(child.stdout.take().expect("its output"));
        Self { child, out }
    }

    /// The next line that reports the result of a write; `None` at the end.
    fn next(&mut self) -> Option<String> {
        let mut lines = (&mut self.out).lines().map(|line| line.expect("text"));
        lines.find(|line| line.starts_with("done ") || line.starts_with("failed "))
    }

    /// The last number that the remaining output reports as done.
    fn last(&mut self) -> Option<usize> {
        std::iter::from_fn(|| self.next()).filter_map(|line| line.strip_prefix("done ")?.parse().ok()).last()
    }
}

impl Drop for Writing {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn this_program() -> Command {
    Command::new(std::env::current_exe().expect("the path of this program"))
}

#[test]
fn what_was_answered_survives_a_kill_and_at_most_one_more_swap() {
    let (_directory, path) = place_on_disk();
    let mut written = 0;
    for round in 0..20 {
        let mut writing = Writing::start(this_program(), &path, written);
        let mut done = 0;
        for _ in 0..=(round * 7 % 40) {
            done = writing.next().unwrap().strip_prefix("done ").unwrap().parse().unwrap();
        }
        writing.child.kill().unwrap();
        writing.child.wait().unwrap();
        // The child may have written more than was read of its output.
        done = writing.last().unwrap_or(done);
        let entries = found(&path);
        written = if entries == numbers(done + 2) { done + 2 } else { done + 1 };
        assert_eq!(entries, numbers(written), "round {round}, after {done}");
    }
    assert!(written > 300);
}

#[test]
fn a_ledger_is_held_as_long_as_its_process_lives() {
    let (_directory, path) = place_on_disk();
    let mut writing = Writing::start(this_program(), &path, 0);
    writing.next().unwrap();
    let error = FileLedger::open(&path).unwrap_err();
    assert!(matches!(error, OpenError::Held(_)), "{error}");
    drop(writing);
    FileLedger::open(&path).unwrap();
}

#[test]
fn a_file_that_may_not_grow_keeps_what_was_answered_and_is_written_again_once_it_may() {
    let (_directory, path) = place_on_disk();
    drop(FileLedger::open(&path).unwrap());
    let limit = fs::metadata(&path).unwrap().len() + 16 * 1024;
    // Without the trap, a write above the limit would kill the process.
    let mut limited = Command::new("sh");
    limited.args(["-c", r#"trap '' XFSZ; exec "$0" "$@""#]);
    limited.arg(std::env::current_exe().unwrap()).env(LIMIT, limit.to_string());
    let mut writing = Writing::start(limited, &path, 1);
    let mut done = 0;
    let failed = loop {
        let line = writing.next().unwrap();
        match line.strip_prefix("done ") {
            Some(number) => done = number.parse().unwrap(),
            None => break line,
        }
    };
    assert!(failed.contains("File too large"), "{failed}");
    assert!(writing.child.wait().unwrap().success());
    let mut expected: Model = (1..=done)
        .map(|number| (key(&(number % KEYS).to_string()), cluster(&"x".repeat(number * 100))))
        .collect();
    expected.insert(key(&((done + 1) % KEYS).to_string()), cluster("with room"));
    assert_eq!(found(&path), expected);
    drop(writing);
    put(&FileLedger::open(&path).unwrap(), "0", "later").unwrap();
}
