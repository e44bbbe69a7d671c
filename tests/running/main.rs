//! The running program under load: hundreds of requests at a time, over real connections to real processes,
//! with every request and reply logged and the log checked against the invariants of an allocation.

#![expect(
    clippy::panic,
    clippy::unwrap_used,
    reason = "clippy lets tests do so, but does not take the helpers of a test for one"
)]

mod checker;
mod crowd;
mod history;
mod hosting;
#[path = "../support/https.rs"]
mod https;
mod memory;
#[path = "../support/process.rs"]
mod process;
mod random;
mod replicas;
mod restart;
mod rolling;
