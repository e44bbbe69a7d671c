//! The memory of a server under hostile requests.

use std::fs;
use std::time::Duration;

use bytes::Bytes;
use futures_util::{StreamExt as _, stream};
use http_body::Frame;
use http_body_util::{BodyExt as _, StreamBody};
use rustix::process::Signal;
use tokio::task::JoinSet;

use crate::crowd::Trust;
use crate::https::{Body, Client, Protocol, full, post};
use crate::process::Server;

const QUIET: [&str; 4] = ["--log-level", "warn,reviser::server=info", "--drain-seconds", "0"];

/// The shipped limit is 256 MiB.
const MAX_PEAK: usize = 200 << 20;

/// A reply is expected within the timeout of a webhook.
const TIMEOUT: Duration = Duration::from_secs(10);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn unfinished_bodies_do_not_exhaust_the_memory() {
    let trust = Trust::new();
    let server = trust.server("memory", &QUIET);
    let attacker = trust.connect(server.secure, Protocol::Http2).await.unwrap();
    let mut attack = JoinSet::new();
    for _ in 0..200 {
        let client = attacker.clone();
        attack.spawn(async move { client.send(post("/interpret", unfinished(7 << 20))).await });
    }
    let honest = trust.connect(server.secure, Protocol::Http2).await.unwrap();
    for _ in 0..20 {
        answered(&honest).await;
    }
    drop(attack);
    ended_within_the_peak(server);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_body_of_many_small_values_does_not_exhaust_the_memory() {
    let trust = Trust::new();
    let server = trust.server("memory", &QUIET);
    let client = trust.connect(server.secure, Protocol::Http1).await.unwrap();
    for count in [2_600_000, 500_000] {
        let steps = format!("{}{{}}", "{},".repeat(count));
        let reply = client.send(post("/interpret", full(request(&steps)))).await.unwrap();
        assert!([200, 413].contains(&reply.status.as_u16()), "{count}: {}", reply.status);
        answered(&client).await;
    }
    ended_within_the_peak(server);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_large_objects_at_once_do_not_exhaust_the_memory() {
    let trust = Trust::new();
    let server = trust.server("memory", &QUIET);
    let client = trust.connect(server.secure, Protocol::Http2).await.unwrap();
    let step = r#"{"type":"pause","properties":{"duration":"10m","pull":true}},"#;
    let steps = step.repeat((1200 << 10) / step.len());
    let body = Bytes::from(request(steps.trim_end_matches(',')));
    let mut requests = JoinSet::new();
    for _ in 0..12 {
        let (client, body) = (client.clone(), body.clone());
        requests.spawn(async move { client.send(post("/interpret", full(body))).await });
    }
    let mut answers = 0;
    while let Some(reply) = requests.join_next().await {
        let status = reply.unwrap().unwrap().status.as_u16();
        assert!([200, 503].contains(&status), "{status}");
        answers += usize::from(status == 200);
    }
    assert!(answers > 0);
    answered(&client).await;
    ended_within_the_peak(server);
}

/// A chunked body that stalls after `bytes`.
fn unfinished(bytes: usize) -> Body {
    let piece = Bytes::from(vec![b' '; 64 << 10]);
    let pieces = stream::iter(vec![piece.clone(); bytes / piece.len()]).chain(stream::pending());
    StreamBody::new(pieces.map(|piece| Ok(Frame::data(piece)))).boxed_unsync()
}

/// A `ReviseObject` request of a Rollout with these steps.
fn request(steps: &str) -> String {
    format!(
        r#"{{"apiVersion":"config.karmada.io/v1alpha1","kind":"ResourceInterpreterContext","request":{{"uid":"u",
        "kind":{{"group":"deploy.example.com","version":"v1alpha1","kind":"Rollout"}},"operation":"ReviseObject",
        "clusterName":"x","replicas":1,"targetClusters":[{{"name":"x","replicas":1}}],
        "object":{{"apiVersion":"deploy.example.com/v1alpha1","kind":"Rollout","metadata":{{"name":"r","namespace":"n"}},
        "spec":{{"strategy":{{"canary":{{"steps":[{steps}]}}}}}}}}}}}}"#
    )
}

/// Sends a small request, again after a 503, until it is answered within [`TIMEOUT`].
async fn answered(client: &Client) {
    let answer = async {
        loop {
            let reply = client.send(post("/interpret", full(request("{}")))).await.unwrap();
            match reply.status.as_u16() {
                503 => tokio::task::yield_now().await,
                status => return assert_eq!(status, 200),
            }
        }
    };
    tokio::time::timeout(TIMEOUT, answer).await.expect("a valid request is answered");
}

fn ended_within_the_peak(server: Server) {
    let status = fs::read_to_string(format!("/proc/{}/status", server.process.pid())).unwrap();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    let kib: usize = peak.trim().trim_end_matches(" kB").parse().unwrap();
    assert!(kib << 10 < MAX_PEAK, "{kib} KiB");
    assert_eq!(server.end(Signal::TERM).code, Some(0));
}
