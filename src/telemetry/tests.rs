//! From an event to what is in the log.

use std::{
    fmt, io,
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use proptest::prelude::*;
use tracing::{debug, info, subscriber::with_default, warn};

use super::*;

/// Longer than any test takes: only what must be written at once is written.
pub(super) const NEVER: Duration = Duration::from_hours(1);

/// Where a log goes, write by write.
#[derive(Clone, Default)]
pub(super) struct Sink(Arc<Mutex<Vec<Vec<u8>>>>);

impl Sink {
    pub(super) fn writes(&self) -> Vec<String> {
        self.0.lock().unwrap().iter().map(|bytes| String::from_utf8(bytes.clone()).unwrap()).collect()
    }

    pub(super) fn text(&self) -> String {
        self.writes().concat()
    }
}

impl io::Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().map_err(|_poisoned| io::ErrorKind::Other)?.push(bytes.to_vec());
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn instant() -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_micros(1_796_022_000_123_456)
}

/// For lines that are made elsewhere.
pub(super) const LOOK: Look = Look { format: LogFormat::Text, colour: false, clock: instant };

fn log_of(format: LogFormat, filter: &str, colour: bool, events: impl FnOnce()) -> String {
    let sink = Sink::default();
    let look = Look { format, colour, clock: instant };
    let writer = Writer::new(sink.clone(), look);
    let guard = LogGuard(Arc::clone(&writer));
    let lines = Lines { look, writer };
    with_default(subscriber(&filter.parse().unwrap(), lines), events);
    drop(guard);
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
fn lines_that_were_dropped_are_told_in_the_format_of_the_others() {
    let line = LOOK.dropped(7);
    assert_eq!(line, "2026-11-30T07:00:00.123456Z  WARN dropped lines of the log count=7\n");
    let event: serde_json::Value =
        serde_json::from_str(&Look { format: LogFormat::Json, ..LOOK }.dropped(7)).unwrap();
    let expected = serde_json::json!({
        "timestamp": "2026-11-30T07:00:00.123456Z", "level": "WARN", "target": "reviser::telemetry::line",
        "message": "dropped lines of the log", "count": 7,
    });
    assert_eq!(event, expected);
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
fn no_key_is_there_twice() {
    let said = "from a panic";
    let log = log_of(LogFormat::Json, "info", false, || {
        info!(
            message = said,
            level = "a",
            timestamp = "b",
            target = "c",
            field.level = "d",
            "field.field.level" = "e",
            fields.level = "f",
            "panic"
        );
    });
    assert_eq!(log.matches("\":\"").count(), 11, "{log}");
    let event: serde_json::Value = serde_json::from_str(&log).unwrap();
    for (key, value) in [
        ("level", "INFO"),
        ("field.level", "a"),
        ("field.timestamp", "b"),
        ("field.target", "c"),
        ("field.field.level", "d"),
        ("field.field.field.level", "e"),
        ("fields.level", "f"),
    ] {
        assert_eq!(event[key], value, "{key} in {log}");
    }
    assert_eq!(event.as_object().unwrap().len(), 11);
    let mut messages = [event["message"].as_str().unwrap(), event["field.message"].as_str().unwrap()];
    messages.sort_unstable();
    assert_eq!(messages, ["from a panic", "panic"]);
    let event = json(|| info!(message = 5, r#message = true, x = 1));
    assert_eq!((event["message"].as_str(), event["field.message"].as_str()), (Some("5"), Some("true")));
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

#[test]
fn lines_of_many_threads_stay_whole_and_in_order() {
    const THREADS: usize = 8;
    // Few enough that there is room for all of them at once.
    const EVENTS: usize = 1000;
    let sink = Sink::default();
    let look = Look { format: LogFormat::Json, colour: false, clock: SystemTime::now };
    let writer = Writer::with_pause(sink.clone(), look, Duration::from_millis(1));
    let guard = LogGuard(Arc::clone(&writer));
    let lines = Lines { look, writer };
    let dispatch = tracing::Dispatch::new(subscriber(&LogFilter::default(), lines));
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let dispatch = &dispatch;
            scope.spawn(move || {
                tracing::dispatcher::with_default(dispatch, || {
                    for number in 0..EVENTS {
                        if number % 97 == 0 {
                            warn!(thread, number, "now");
                        } else {
                            info!(thread, number, filling = "x".repeat(number % 300), "soon");
                        }
                    }
                });
            });
        }
    });
    drop(guard);
    let mut next = [0; THREADS];
    for line in sink.text().lines() {
        let event: serde_json::Value = serde_json::from_str(line).unwrap();
        let thread = usize::try_from(event["thread"].as_u64().unwrap()).unwrap();
        assert_eq!(event["number"], next[thread], "of thread {thread}");
        next[thread] += 1;
    }
    assert_eq!(next, [EVENTS; THREADS]);
    assert!(sink.writes().iter().all(|write| write.ends_with('\n')));
}

#[test]
fn a_warning_takes_along_what_was_said_before() {
    let sink = Sink::default();
    let writer = Writer::with_pause(sink.clone(), LOOK, NEVER);
    let _guard = LogGuard(Arc::clone(&writer));
    let lines = Lines { look: LOOK, writer };
    with_default(subscriber(&LogFilter::default(), lines), || {
        info!("first");
        eventually(|| sink.writes().len() == 1);
        info!("second");
        info!("third");
        assert_eq!(sink.writes().len(), 1, "only the first is on its own");
        warn!("fourth");
        eventually(|| sink.writes().len() == 2);
    });
    let batches = sink.writes();
    assert_eq!(batches.len(), 2);
    let words: Vec<_> = batches[1].lines().filter_map(|line| line.rsplit(' ').next()).collect();
    assert_eq!(words, ["second", "third", "fourth"]);
}

/// Logs while it is being logged.
struct Talkative;

impl fmt::Display for Talkative {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("be")?;
        info!("four");
        f.write_str("fore")
    }
}

/// Runs itself as another process, because a process has one log and one panic hook.
#[test]
fn what_a_process_said_is_on_its_stderr_when_it_has_ended() {
    const CHILD: &str = "REVISER_TEST_LOG_CHILD";
    const NAME: &str = "telemetry::tests::what_a_process_said_is_on_its_stderr_when_it_has_ended";
    if std::env::var_os(CHILD).is_some() {
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
    let child = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", NAME, "--nocapture"])
        .env(CHILD, "1")
        .output()
        .unwrap();
    assert!(child.status.success(), "{child:?}");
    let log = String::from_utf8(child.stderr).unwrap();
    let events: Vec<serde_json::Value> =
        log.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let messages: Vec<_> = events.iter().map(|event| event["message"].as_str().unwrap()).collect();
    assert_eq!(messages, ["one", "two", "panic", "three", "four", "five"]);
    assert_eq!(events[5]["value"], "before");
    assert_eq!(events[2]["payload"], "oh\nno 1");
    assert!(events[2]["location"].as_str().unwrap().contains("tests.rs"));
}

pub(super) fn eventually(condition: impl Fn() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(10);
    while !condition() {
        assert!(Instant::now() < deadline, "it did not come to that");
        std::thread::yield_now();
    }
}
