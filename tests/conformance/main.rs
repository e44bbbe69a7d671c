//! What callers hold reviser to, as rules that run: applied to what came over the wire, never to our own
//! types.
//!
//! See `README.md` beside this file for what was ported from where, and what was not.

#![expect(
    clippy::panic,
    clippy::unwrap_used,
    reason = "clippy lets tests do so, but does not take the helpers of a test for one"
)]

mod admission;
mod admission_rules;
mod bad_requests;
mod bad_works;
mod captures;
mod go;
mod http2;
mod karmada;
mod policies;
mod reply;
mod rules;
#[path = "../support/spawned/mod.rs"]
mod spawned;
mod work_captures;

use std::ffi::OsString;
use std::sync::Arc;

use rustls::ClientConfig;

use karmada::{Asked, Verdict, verify};
use reply::{Broken, Reply};
use spawned::server::Spawned;
use spawned::wire::{Certificates, ask, post};

/// A server with the built-in policy, and a client that trusts it.
struct Site {
    server: Spawned,
    certificates: Certificates,
    client: Arc<ClientConfig>,
}

impl Site {
    fn start() -> Self {
        Self::with([] as [&str; 0])
    }

    /// A site whose server gets these arguments, too.
    fn with(arguments: impl IntoIterator<Item = impl Into<OsString>>) -> Self {
        let certificates = Certificates::issue();
        let own = ["--cert-dir".into(), certificates.directory().into()];
        let server = Spawned::start(own.into_iter().chain(arguments.into_iter().map(Into::into)));
        let client = certificates.client(&[]);
        Self { server, certificates, client }
    }

    /// The reply to a request, of whatever status.
    fn send(&self, request: &[u8]) -> Result<Reply, Broken> {
        Reply::parse(&ask(self.server.secure, &self.client, request))
    }

    /// What Karmada makes of the reply to this body.
    fn interpret(&self, body: &[u8]) -> Result<Verdict, Broken> {
        let reply = self.send(&post("/interpret?timeout=10s", body))?;
        verify(&Asked::of(body), &reply)
    }

    /// What an API server makes of the reply to this body.
    fn admit(&self, body: &[u8]) -> Result<admission::Verdict, Broken> {
        self.admit_at("/mutate/works?timeout=10s", body)
    }

    /// What an API server makes of the reply of the door at `path` to this body.
    fn admit_at(&self, path: &str, body: &[u8]) -> Result<admission::Verdict, Broken> {
        let reply = self.send(&post(path, body))?;
        admission::verify(&admission::Asked::of(body), &reply)
    }
}
