//! Servers restarted on one ledger file.

use std::sync::Arc;

use rustix::process::Signal;

use crate::checker::Reply;
use crate::crowd::{Clock, Crowd, Trust, assert_no_faults};
use crate::history::History;
use crate::process::Server;

const QUIET: [&str; 4] = ["--log-level", "warn,reviser::server=info", "--drain-seconds", "0"];

const ROUNDS: usize = 12;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_graceful_restart_keeps_every_allocation() {
    let (trust, history) = (Arc::new(Trust::new()), Arc::new(History::any(11, ROUNDS, 1)));
    let (ledger, clock) = (trust.file_ledger(), Clock::default());
    let mut log = Vec::new();
    for rounds in [0..ROUNDS / 2, ROUNDS / 2..ROUNDS] {
        let server = trust.server(&ledger, &QUIET);
        let crowd = Crowd::of(&server, &trust).await;
        log.extend(crowd.play_all(&history, rounds, &clock).await);
        drop(crowd);
        let done = server.end(Signal::TERM);
        assert_eq!((done.code, done.stdout.as_str()), (Some(0), ""));
    }
    assert_no_faults(&history, &log);
}

/// The process is killed in the middle of a round: some clients have a reply, the others send their request
/// again, as Karmada does. Replies from before the kill stay valid.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_killed_under_load_keeps_every_answered_allocation() {
    let (trust, history) = (Arc::new(Trust::new()), Arc::new(History::any(11, ROUNDS, 2)));
    let (ledger, clock) = (trust.file_ledger(), Clock::default());
    let mut log = Vec::new();
    let mut killed = 0;
    let mut begin = 0;
    for (kill, after) in [(0, 30), (3, 3), (6, 150), (7, 1)] {
        let server = Arc::new(trust.server(&ledger, &QUIET));
        let crowd = Crowd::of(&server, &trust).await;
        log.extend(crowd.play_all(&history, begin..kill, &clock).await);
        let victim = Arc::clone(&server);
        let interrupted = crowd.play(&history, kill, &clock, move |answered| {
            if answered == after {
                victim.process.signal(Signal::KILL);
            }
        });
        let interrupted = interrupted.await;
        killed += interrupted.iter().filter(|entry| matches!(entry.reply, Reply::Lost)).count();
        log.extend(interrupted);
        drop(crowd);
        let done = Arc::into_inner(server).map(|server: Server| server.process.ended()).unwrap();
        assert_eq!(done.code, None, "{}", done.stderr);
        begin = kill;
    }
    assert!(killed > 400, "only {killed} replies were lost, so the kill hit too few requests");
    let server = trust.server(&ledger, &QUIET);
    log.extend(Crowd::of(&server, &trust).await.play_all(&history, begin..ROUNDS, &clock).await);
    assert_no_faults(&history, &log);
    assert_eq!(server.end(Signal::TERM).code, Some(0));
}
