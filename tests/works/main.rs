//! The Work door under whole histories: what Karmada does with Works, simulated and recorded, and one checker over both.
//!
//! * `api`: an API server that holds Works and bindings and asks the door about every write, as Karmada's does.
//! * `karmada`: what Karmada's binding and execution controllers do with them.
//! * `checker`: what must hold after every write.
//! * `planner`: what the elected replica touches, among such histories.
//! * `refusals`: what is denied claims nothing.
//! * `histories`: random histories of users, clusters, faults and restarts.
//! * `actions`: all actions of rules, through compiled policies.
//! * `unbound`: Works that Karmada makes without a binding.
//! * `replay`: what a real Karmada sent, body by body against a server process.

#![expect(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    clippy::unwrap_in_result,
    reason = "clippy lets tests do so, but does not take the helpers of a test for one"
)]

mod actions;
mod api;
mod checker;
mod histories;
mod karmada;
mod planner;
mod refusals;
mod replay;
#[path = "../support/spawned/mod.rs"]
mod spawned;
mod unbound;
