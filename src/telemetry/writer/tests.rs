//! What of the lines gets where, and when.

use super::super::tests::{LOOK, NEVER, Sink as Kept, eventually};
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
    let writer = Writer::new(Stubborn { kept: kept.clone(), answers: answers.into() }, LOOK);
    writer.close();
    (kept, writer)
}

/// Takes nothing until it is opened, like a pipe that is full and not read.
#[derive(Clone, Default)]
struct Gate {
    kept: Kept,
    state: Arc<(Mutex<GateState>, Condvar)>,
}

#[derive(Default)]
struct GateState {
    open: bool,
    asked: bool,
}

impl Gate {
    fn open(&self) {
        lock(&self.state.0).open = true;
        self.state.1.notify_all();
    }

    fn asked(&self) -> bool {
        lock(&self.state.0).asked
    }
}

impl Write for Gate {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut state = lock(&self.state.0);
        state.asked = true;
        drop(self.state.1.wait_while(state, |state| !state.open));
        self.kept.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A writer whose pause never ends by itself, after its first line.
fn paused() -> (Kept, Arc<Writer>) {
    let kept = Kept::default();
    let writer = Writer::with_pause(kept.clone(), LOOK, NEVER);
    writer.line("first\n", false);
    eventually(|| kept.text() == "first\n");
    (kept, writer)
}

#[test]
fn a_line_after_a_pause_is_written_at_once() {
    let kept = Kept::default();
    let writer = Writer::with_pause(kept.clone(), LOOK, Duration::ZERO);
    for line in ["one\n", "two\n", "three\n"] {
        writer.line(line, false);
        eventually(|| kept.writes().last().is_some_and(|last| last == line));
    }
}

#[test]
fn a_line_right_after_a_write_is_written_by_itself_soon() {
    let kept = Kept::default();
    let writer = Writer::new(kept.clone(), LOOK);
    for round in 1..=5 {
        writer.line("urgent\n", true);
        writer.line("soon\n", false);
        eventually(|| kept.text() == "urgent\nsoon\n".repeat(round));
    }
}

#[test]
fn what_waits_is_written_together() {
    let (kept, writer) = paused();
    writer.line("two\n", false);
    writer.line("three\n", false);
    writer.close();
    assert_eq!(kept.writes(), ["first\n", "two\nthree\n"]);
}

#[test]
fn an_urgent_line_does_not_wait() {
    let (kept, writer) = paused();
    for round in 1..=3 {
        writer.line("one\n", false);
        writer.line("two\n", true);
        eventually(|| kept.text() == format!("first\n{}", "one\ntwo\n".repeat(round)));
    }
}

#[test]
fn too_much_does_not_wait() {
    let (kept, writer) = paused();
    let line = format!("{}\n", "x".repeat(1023));
    let count = MAX_BATCH_BYTES / line.len() + 1;
    for _ in 0..count {
        writer.line(&line, false);
    }
    eventually(|| kept.text() == format!("first\n{}", line.repeat(count)));
    assert_eq!(kept.writes().len(), 2);
}

#[test]
fn everything_is_there_after_the_end_and_later_lines_too() {
    let (kept, writer) = paused();
    writer.line("one\n", false);
    writer.line("two\n", false);
    writer.close();
    assert_eq!(kept.text(), "first\none\ntwo\n");
    writer.line("three\n", false);
    assert_eq!(kept.text(), "first\none\ntwo\nthree\n");
}

#[test]
fn the_flusher_writes_what_is_left_and_ends_with_the_writer() {
    let (kept, writer) = paused();
    let shared = Arc::clone(&writer.0);
    writer.line("left\n", false);
    drop(writer);
    eventually(|| Arc::strong_count(&shared) == 1);
    assert_eq!(kept.text(), "first\nleft\n");
}

#[test]
fn without_a_flusher_a_line_is_written_by_who_brings_it() {
    let kept = Kept::default();
    let writer = Writer::without_flusher(kept.clone(), LOOK, NEVER);
    for line in ["one\n", "two\n"] {
        writer.line(line, false);
        assert_eq!(kept.writes().last().unwrap(), line);
    }
    writer.close();
    writer.line("three\n", false);
    assert_eq!(kept.writes(), ["one\n", "two\n", "three\n"]);
}

#[test]
fn a_stuck_sink_holds_nobody_up_and_what_it_missed_is_told() {
    let gate = Gate::default();
    let writer = Writer::new(gate.clone(), LOOK);
    writer.line("first\n", true);
    eventually(|| gate.asked());
    let line = format!("{}\n", "x".repeat(1023));
    let fitting = MAX_PENDING_BYTES / line.len();
    for number in 0..fitting + 3 {
        writer.line(&line, number % 2 == 0);
    }
    writer.line("even a short one\n", true);
    assert_eq!(gate.kept.text(), "", "all came back while nothing was written");

    let started = Instant::now();
    writer.close();
    let close = started.elapsed();
    assert!(close >= END_PATIENCE && close < 5 * END_PATIENCE, "{close:?}");
    for _ in 0..100 {
        writer.line("later\n", true);
    }
    assert!(started.elapsed() < 10 * END_PATIENCE, "only the first waits for what is stuck");

    gate.open();
    let told = LOOK.dropped(104);
    assert!(told.contains("104") && told.ends_with('\n'), "{told}");
    eventually(|| gate.kept.text().ends_with(&told));
    assert_eq!(gate.kept.text(), format!("first\n{}{told}", line.repeat(fitting)));
    writer.line("again\n", false);
    assert_eq!(gate.kept.writes().last().unwrap(), "again\n");
}

#[test]
fn a_line_that_is_too_long_is_told_of_instead() {
    let (kept, writer) = paused();
    writer.line(&"x".repeat(MAX_PENDING_BYTES + 1), false);
    writer.close();
    assert_eq!(kept.writes(), ["first\n".to_owned(), LOOK.dropped(1)]);
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
