//! The Work door under simulated and recorded histories of Karmada, with one checker for both.
//!
//! * `api`: an API server with Works and bindings that sends every write to the door, as Karmada's does.
//! * `karmada`: Karmada's binding and execution controllers.
//! * `checker`: the invariants after every write.
//! * `planner`: what the elected replica touches in such histories.
//! * `refusals`: denied Works claim nothing.
//! * `histories`: random histories of users, clusters, faults and restarts.
//! * `actions`: all actions of rules, through compiled policies.
//! * `unbound`: Works that Karmada makes without a binding.
//! * `replay`: recorded requests of a real Karmada, sent to a server process.

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
