//! From an event to a line on stderr.

use std::io::{self, Read as _, Write as _};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};

use proptest::prelude::*;
use tracing::subscriber::with_default;
use tracing::{debug, info, warn};
use tracing_subscriber::fmt::format::Writer;

use super::*;

/// Collects a log.
#[derive(Clone, Default)]
struct Sink(Arc<Mutex<Vec<u8>>>);

impl Sink {
    fn text(&self) -> String {
        String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
    }
}

impl io::Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().map_err(|_poisoned| io::ErrorKind::Other)?.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn instant(line: &mut Writer<'_>) -> fmt::Result {
    line.write_str("2026-11-30T07:00:00.123456Z")
}

fn log_of(format: LogFormat, filter: &str, colour: bool, events: impl FnOnce()) -> String {
    let sink = Sink::default();
    let lines = sink.clone();
    let timer: fn(&mut Writer<'_>) -> fmt::Result = instant;
    let line = Line { format, colour, timer };
    with_default(subscriber(&filter.parse().unwrap(), line, move || lines.clone()), events);
    sink.text()
}

fn json(events: impl FnOnce()) -> serde_json::Value {
    let log = log_of(LogFormat::Json, "trace", false, events);
    assert_eq!(log.matches('\n').count(), 1, "{log}");
    serde_json::from_str(&log).unwrap()
}

fn text(events: impl FnOnce()) -> String {
    log_of(LogFormat::Text, "trace", false, events)
}

fn greeting() {
    info!(uid = "a-1", "answered");
    debug!("not for everybody");
}

#[test]
fn text_is_plain_unless_it_may_be_coloured() {
    let plain = log_of(LogFormat::Text, "info", false, greeting);
    assert_eq!(plain, "2026-11-30T07:00:00.123456Z  INFO answered uid=a-1\n");
    let coloured = log_of(LogFormat::Text, "info", true, greeting);
    assert!(coloured.contains("\u{1b}[32mINFO\u{1b}[0m answered uid=a-1\n"), "{coloured:?}");
    assert!(!log_of(LogFormat::Json, "info", true, greeting).contains('\u{1b}'));
}

#[test]
fn json_has_the_fields_beside_the_message() {
    let log = log_of(LogFormat::Json, "info", false, greeting);
    let expected = r#"{"timestamp":"2026-11-30T07:00:00.123456Z","level":"INFO","target":"reviser::telemetry::tests","message":"answered","uid":"a-1"}"#;
    assert_eq!(log, format!("{expected}\n"));
}

#[test]
fn the_filter_takes_levels_and_directives() {
    assert!(!log_of(LogFormat::Text, "info", false, greeting).contains("not for everybody"));
    let directives = "error,reviser=debug";
    assert!(log_of(LogFormat::Text, directives, false, greeting).contains("DEBUG not for everybody"));
    assert_eq!(log_of(LogFormat::Text, "off", false, greeting), "");
    for wrong in ["", "reviser=loud", "info,=,", "loud", "info,reviser", "reviser=", "info,reviser= "] {
        assert!(wrong.parse::<LogFilter>().is_err(), "{wrong}");
    }
    assert!("yaml".parse::<LogFormat>().is_err());
}

#[test]
fn values_keep_their_types_in_json() {
    let event = json(|| {
        info!(small = -1_i8, large = u64::MAX, ratio = 1e300, nan = f64::NAN, yes = true, debug = ?Some("x"), display = %7, none = None::<u8>);
    });
    let expected = serde_json::json!({
        "timestamp": "2026-11-30T07:00:00.123456Z", "level": "INFO", "target": "reviser::telemetry::tests",
        "small": -1, "large": u64::MAX, "ratio": 1e300, "nan": "NaN", "yes": true,
        "debug": "Some(\"x\")", "display": "7",
    });
    assert_eq!(event, expected);
}

#[test]
fn an_error_is_told_with_its_causes() {
    let error = LogOptionError("outer".to_owned());
    let inner = InitFailure(error);
    let event = json(|| info!(error = &inner as &(dyn std::error::Error + 'static), "failed"));
    assert_eq!(event["error"], "failed to start: outer");
}

#[derive(Debug, thiserror::Error)]
#[error("failed to start")]
struct InitFailure(#[source] LogOptionError);

#[test]
fn a_field_that_is_named_like_a_key_of_the_line_gets_a_prefix() {
    let event = json(|| {
        info!(message = "first", level = "a", timestamp = "b", target = "c", fields.level = "d", "second");
    });
    let mut messages = [event["message"].as_str().unwrap(), event["field.message"].as_str().unwrap()];
    messages.sort_unstable();
    assert_eq!(messages, ["first", "second"]);
    for (key, value) in [
        ("level", "INFO"),
        ("field.level", "a"),
        ("field.timestamp", "b"),
        ("field.target", "c"),
        ("fields.level", "d"),
    ] {
        assert_eq!(event[key], value, "{key} in {event}");
    }
    assert_eq!(event.as_object().unwrap().len(), 9);
    let event = json(|| info!(message = 5, x = 1));
    assert_eq!(event["message"], "5", "a message is text");
}

#[test]
fn the_message_of_text_is_before_the_fields() {
    let line = text(|| info!(uid = "a-1", message = "answered", count = 2));
    assert!(line.ends_with(" INFO answered uid=a-1 count=2\n"), "{line}");
    let line = text(|| info!(r#type = "x"));
    assert!(line.ends_with(" INFO type=x\n"), "{line}");
}

#[test]
fn text_quotes_what_is_not_a_plain_word() {
    for (value, expected) in [
        ("apps/v1", "apps/v1"),
        ("größe", "größe"),
        ("", r#""""#),
        ("two words", r#""two words""#),
        ("a=b", r#""a=b""#),
        (r#"say "x""#, r#""say \"x\"""#),
        (r"back\slash", r#""back\\slash""#),
        ("a\n2026 ERROR forged", r#""a\n2026 ERROR forged""#),
        ("\r\t\u{1b}[2J", r#""\r\t\u{1b}[2J""#),
        ("\u{9b}x", r#""\u{9b}x""#),
        ("\u{202e}x", r#""\u{202e}x""#),
        ("\u{2028}x", r#""\u{2028}x""#),
    ] {
        for line in
            [text(|| info!(value, "m")), text(|| info!(%value, "m")), text(|| info!(value = %value, "m"))]
        {
            assert_eq!(line, format!("2026-11-30T07:00:00.123456Z  INFO m value={expected}\n"));
        }
    }
    let line = text(|| warn!("two\nlines \"{}\"", 1));
    assert_eq!(line, "2026-11-30T07:00:00.123456Z  WARN two\\nlines \\\"1\\\"\n");
}

proptest! {
    #[test]
    fn any_value_comes_back_from_a_json_line(value in "\\PC*|[\0-\u{9f}\"\\\\]*|(?s).*") {
        let event = json(|| info!(plain = value, display = %value, "{value}"));
        for key in ["plain", "display", "message"] {
            prop_assert_eq!(event[key].as_str(), Some(value.as_str()));
        }
    }

    #[test]
    fn any_value_leaves_text_one_line(value in "[\0-\u{9f}\"\\\\= a]*|(?s).*") {
        let line = text(|| info!(plain = value, debug = ?value, "{value}"));
        prop_assert_eq!(line.chars().filter(|&character| character.is_control()).count(), 1);
        prop_assert!(line.ends_with('\n'));
    }
}

/// Reports an error where it should print itself.
struct Unprintable;

impl fmt::Display for Unprintable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("be")?;
        Err(fmt::Error)
    }
}

impl fmt::Debug for Unprintable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[test]
fn a_value_that_cannot_be_printed_is_no_panic() {
    let line = text(|| info!(display = %Unprintable, debug = ?Unprintable, "m"));
    assert_eq!(line, "2026-11-30T07:00:00.123456Z  INFO m display=be debug=be\n");
}

/// Logs while it is logged.
struct Talkative;

impl fmt::Display for Talkative {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("be")?;
        info!("four");
        f.write_str("fore")
    }
}

const CHILD: &str = "REVISER_TEST_LOG_CHILD";

/// This program again, running the test `name` alone as a child process: a process has one log and one panic
/// hook.
fn child(name: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", &format!("telemetry::tests::{name}"), "--nocapture"]).env(CHILD, "1");
    command
}

fn is_child() -> bool {
    std::env::var_os(CHILD).is_some()
}

fn events(log: &str) -> Vec<serde_json::Value> {
    log.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn what_a_process_said_is_on_its_stderr_when_it_has_ended() {
    if is_child() {
        let guard = init(LogFormat::Json, &LogFilter::default()).unwrap();
        assert!(init(LogFormat::Json, &LogFilter::default()).is_err());
        info!("one");
        info!("two");
        let panicked = std::thread::spawn(|| panic!("oh\nno {}", 1)).join();
        assert!(panicked.is_err());
        info!("three");
        info!(value = %Talkative, "five");
        drop(guard);
        return;
    }
    let child = child("what_a_process_said_is_on_its_stderr_when_it_has_ended").output().unwrap();
    assert!(child.status.success(), "{child:?}");
    let events = events(&String::from_utf8(child.stderr).unwrap());
    let messages: Vec<_> = events.iter().map(|event| event["message"].as_str().unwrap()).collect();
    assert_eq!(messages, ["one", "two", "panic", "three", "four", "five"]);
    assert_eq!(events[5]["value"], "before");
    assert_eq!(events[2]["payload"], "oh\nno 1");
    assert!(events[2]["location"].as_str().unwrap().contains("tests.rs"));
    let timestamp = events[0]["timestamp"].as_str().unwrap();
    assert!(timestamp.len() == 27 && timestamp.parse::<jiff::Timestamp>().is_ok(), "{timestamp}");
}

#[test]
fn lines_of_many_threads_stay_whole_and_in_order() {
    const THREADS: usize = 8;
    const EVENTS: usize = 500;
    if is_child() {
        let _guard = init(LogFormat::Json, &LogFilter::default()).unwrap();
        std::thread::scope(|scope| {
            for thread in 0..THREADS {
                scope.spawn(move || {
                    for number in 0..EVENTS {
                        info!(thread, number, filling = "x".repeat(number % 300), "said");
                    }
                });
            }
        });
        return;
    }
    let child = child("lines_of_many_threads_stay_whole_and_in_order").output().unwrap();
    assert!(child.status.success());
    let mut next = [0; THREADS];
    for event in events(&String::from_utf8(child.stderr).unwrap()) {
        let thread = usize::try_from(event["thread"].as_u64().unwrap()).unwrap();
        assert_eq!(event["number"], next[thread], "of thread {thread}");
        next[thread] += 1;
    }
    assert_eq!(next, [EVENTS; THREADS]);
}

/// Says `lines` lines, and then on stdout that it has.
fn say(lines: usize) {
    for number in 0..lines {
        info!(number, filling = "x".repeat(100), "said");
    }
    let mut out = io::stdout();
    out.write_all(b"\nsaid\n").unwrap();
    out.flush().unwrap();
}

/// Starts a child whose stderr is a pipe, and waits until it has said everything.
fn unread(name: &str) -> std::process::Child {
    let mut child =
        child(name).stdout(Stdio::piped()).stderr(Stdio::piped()).stdin(Stdio::piped()).spawn().unwrap();
    let mut seen = Vec::new();
    let mut byte = [0];
    while !seen.ends_with(b"\nsaid\n") {
        assert_eq!(child.stdout.as_mut().unwrap().read(&mut byte).unwrap(), 1, "it ended before");
        seen.extend(byte);
    }
    child
}

#[test]
fn lines_that_find_no_room_are_dropped_and_counted() {
    // More than what the queue, the batch and a pipe hold.
    const LINES: usize = QUEUED_LINES + 4000;
    if is_child() {
        let guard = init(LogFormat::Json, &LogFilter::default()).unwrap();
        say(LINES);
        // Until the other side reads.
        io::stdin().read_exact(&mut [0]).unwrap();
        drop(guard);
        return;
    }
    let mut child = unread("lines_that_find_no_room_are_dropped_and_counted");
    let mut log = String::new();
    child.stdin.take().unwrap().write_all(b"\n").unwrap();
    child.stderr.take().unwrap().read_to_string(&mut log).unwrap();
    assert!(child.wait().unwrap().success());
    let events = events(&log);
    let said: Vec<_> = events.iter().filter_map(|event| event["number"].as_u64()).collect();
    assert!(said.len() >= QUEUED_LINES && said.is_sorted());
    let dropped: Vec<_> =
        events.iter().filter(|event| event["message"] == "dropped lines of the log").collect();
    let count: u64 = dropped.iter().map(|event| event["count"].as_u64().unwrap()).sum();
    assert!(count > 0 && dropped.iter().all(|event| event["level"] == "WARN"), "{dropped:?}");
    assert_eq!(said.len() as u64 + count, LINES as u64);
}

#[test]
fn a_stderr_that_nobody_reads_does_not_hold_up_the_end() {
    if is_child() {
        let guard = init(LogFormat::Text, &LogFilter::default()).unwrap();
        say(QUEUED_LINES + 4000);
        drop(guard);
        return;
    }
    let mut child = unread("a_stderr_that_nobody_reads_does_not_hold_up_the_end");
    assert!(child.wait().unwrap().success());
    let mut rest = String::new();
    child.stdout.take().unwrap().read_to_string(&mut rest).unwrap();
    assert!(!rest.contains("Failed to send"), "stdout is for results: {rest}");
}
