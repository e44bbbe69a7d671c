//! What keeping JSON as it was written costs, beside `serde_json`: `cargo bench --bench json`.
//!
//! The captured Rollout request, compact as on the wire; the best of many rounds. docs/json.md has the
//! figures.

#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "it prints its result, and fails where it can't"
)]

use std::hint::black_box;
use std::time::{Duration, Instant};

use reviser::json::{Pointer, Text, Value};

const CAPTURED: &[u8] = include_bytes!("../../tests/data/captures/revise-replica-cluster-z-w31.json");

fn main() {
    let body = Value::parse(CAPTURED).unwrap().to_string();
    let body = body.as_bytes();
    let text = Text::parse(body).unwrap();
    let object = text.root().get("request").unwrap().unwrap().get("object").unwrap().unwrap();
    let replicas = Pointer::of(["spec", "replicas"]);
    println!(
        "request of {} bytes, object of {} bytes; time, and as a multiple of the first line",
        body.len(),
        object.text().len()
    );
    let floor = best(|| _ = black_box(serde_json::from_slice::<&serde_json::value::RawValue>(body).unwrap()));
    let line = |what: &str, time: Duration| {
        println!(
            "{what:<52} {:>8.2} us {:>6.2}",
            time.as_secs_f64() * 1e6,
            time.as_secs_f64() / floor.as_secs_f64()
        );
    };
    line("request to serde_json RawValue", floor);
    line("request to Text", best(|| drop(black_box(Text::parse(body).unwrap()))));
    line(
        "/spec/replicas of the object, looked up in it",
        best(|| _ = black_box(object.at(&replicas).unwrap())),
    );
    line("object to Value", best(|| drop(black_box(object.to_value().unwrap()))));
    let value = object.to_value().unwrap();
    line("Value cloned", best(|| drop(black_box(value.clone()))));
    line("Value to text", best(|| drop(black_box(value.to_string()))));
    let theirs = || serde_json::from_str::<serde_json::Value>(object.text()).unwrap();
    line("object to serde_json Value", best(|| drop(black_box(theirs()))));
    let their_value = theirs();
    line("serde_json Value cloned", best(|| drop(black_box(their_value.clone()))));
    line("serde_json Value to text", best(|| drop(black_box(their_value.to_string()))));
}

/// The shortest time that one call took, over many rounds of calls.
fn best(mut call: impl FnMut()) -> Duration {
    const CALLS: u32 = 200;
    let mut round = || {
        let start = Instant::now();
        for _ in 0..CALLS {
            call();
        }
        start.elapsed() / CALLS
    };
    (0..200).map(|_| round()).min().unwrap_or_default()
}
