//! The server as its callers see it: over real connections, with certificates issued for the test.

#![expect(
    clippy::panic,
    clippy::unwrap_used,
    reason = "clippy lets tests do so, but does not take the helpers of a test for one"
)]

mod admiralty_manifests;
mod architecture;
mod crds;
mod definitions;
mod health;
mod http;
mod installation;
mod limits;
mod manifests;
mod policies_doc;
mod policies_manifest;
mod reload;
mod repository;
mod samples;
mod shutdown;
#[path = "../support/spawned/server.rs"]
mod spawned;
mod strategic;
mod support;
mod tls;
mod validation;
mod works_manifest;
