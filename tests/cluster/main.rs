//! reviser in front of a real API server: etcd and kube-apiserver as processes, without containers.
//!
//! They are built by `tests/cluster/build`. Without them each test is skipped with a message. `README.md` in
//! this folder describes how to write a test.

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
