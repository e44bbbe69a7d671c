//! What comes from outside, made wrong in random ways: patches, expressions and policy documents. Nothing may panic, overflow the
//! stack or take for ever, and the same input must give the same answer.
//!
//! `cargo test --test fuzz` tries some hundred inputs of each kind. `REVISER_TEST_FUZZ_SECONDS=600` goes on for so long, and
//! `REVISER_TEST_SEED` begins elsewhere; a failure prints the seed and the input.

#![expect(
    clippy::print_stderr,
    clippy::unwrap_in_result,
    clippy::unwrap_used,
    reason = "clippy lets tests do so, but does not take the helpers of a test for one"
)]

mod expressions;
mod mutate;
mod patches;
mod policies;
#[path = "../running/random.rs"]
mod random;

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::time::{Duration, Instant};

use random::Random;

/// The number of inputs without a given duration.
const INPUTS: u64 = 400;

/// The longest that one input may take, in a debug build on a machine that does other things too.
const LONGEST: Duration = Duration::from_secs(20);

fn variable(name: &str) -> Option<u64> {
    std::env::var(name).ok().and_then(|text| text.parse().ok())
}

/// Tries inputs that `make` makes of random numbers. `run` gives what came of one, as text.
fn fuzz(make: impl Fn(&mut Random) -> String, run: impl Fn(&str) -> String) {
    let seconds = variable("REVISER_TEST_FUZZ_SECONDS").map(Duration::from_secs);
    let first = variable("REVISER_TEST_SEED").unwrap_or(1);
    let begin = Instant::now();
    let mut tried = 0;
    for seed in first.. {
        let goes_on = seconds.map_or(tried < INPUTS, |seconds| begin.elapsed() < seconds);
        if !goes_on {
            break;
        }
        let input = make(&mut Random::new(seed));
        let started = Instant::now();
        let outcome = catch_unwind(AssertUnwindSafe(|| (run(&input), run(&input))));
        let took = started.elapsed();
        tried += 1;
        match outcome {
            Ok((once, again)) if once == again && took < LONGEST => {}
            Ok((once, again)) => {
                eprintln!("seed {seed}, {took:?}: {input}\n{once}\n{again}");
                assert_eq!(once, again, "the same input gave two answers");
                assert!(took < LONGEST, "it took {took:?}");
            }
            Err(panic) => {
                eprintln!("seed {seed}: {input}");
                resume_unwind(panic);
            }
        }
    }
    eprintln!("{tried} inputs in {:?}", begin.elapsed());
}
