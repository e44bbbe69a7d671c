//! The third way: HTTPS, with the reply checked as Karmada's client checks it.

use std::ffi::OsString;

use crate::case::Case;
use crate::karmada::{Asked, Verdict, verify};
use crate::line::{refused, replicas};
use crate::reply::Reply;
use crate::spawned::server::Spawned;
use crate::spawned::wire::{Certificates, ask, post};

/// The outcomes of the requests of a case, in order, from a server of its own.
pub(crate) fn lines(case: &Case, certificates: &Certificates) -> Vec<String> {
    let mut arguments: Vec<OsString> = vec!["--cert-dir".into(), certificates.directory().into()];
    if let Some(policy) = case.policy() {
        arguments.extend(["--policy".into(), policy.into()]);
    }
    let mut server = Spawned::start(arguments);
    let client = certificates.client(&[]);
    let line = |body: &String| {
        let bytes = ask(server.secure, &client, &post("/interpret?timeout=10s", body.as_bytes()));
        match Reply::parse(&bytes).and_then(|reply| verify(&Asked::of(body.as_bytes()), &reply)) {
            Ok(Verdict::Revised(patch)) => patch,
            Ok(Verdict::Replicas(count, requirements)) => replicas(count, requirements),
            Ok(Verdict::Refused(code, message)) => refused(code, &message),
            Err(broken) => broken.to_string(),
        }
    };
    let lines = case.requests.iter().map(line).collect();
    assert!(server.runs());
    lines
}
