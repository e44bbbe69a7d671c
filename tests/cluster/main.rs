//! reviser in front of a real API server: etcd and kube-apiserver as processes, without containers.
//!
//! They are built by `tests/cluster/build`. Where they are not, each test says that it is left out, and why. `README.md` beside
//! this says how to write one.

#![expect(
    clippy::panic,
    clippy::unwrap_in_result,
    clippy::unwrap_used,
    reason = "clippy lets tests do so, but does not take the helpers of a test for one"
)]

mod admiralty;
mod connected;
mod definitions;
mod elected;
mod members;
#[path = "../support/process.rs"]
mod process;
mod server;
mod strict;
mod support;
mod validation;
mod works;
