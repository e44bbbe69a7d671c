//! Two servers at the same time, each with a ledger of its own in memory.

use std::sync::Arc;

use rustix::process::Signal;

use crate::checker::all_hosts;
use crate::crowd::{Clock, Crowd, Trust, assert_well};
use crate::history::History;

const ROUNDS: usize = 8;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_servers_with_the_same_history_agree_without_a_common_ledger() {
    let (trust, history) = (Arc::new(Trust::new()), Arc::new(History::any(11, ROUNDS, 3)));
    let play = async || {
        let server =
            trust.server("memory", &["--log-level", "warn,reviser::server=info", "--drain-seconds", "0"]);
        let crowd = Crowd::of(&server, &trust).await;
        let log = crowd.play_all(&history, 0..ROUNDS, &Clock::default()).await;
        drop(crowd);
        assert_eq!(server.end(Signal::TERM).code, Some(0));
        log
    };
    let (one, other) = tokio::join!(play(), play());
    assert_well(&history, &one);
    assert_well(&history, &other);
    // For the first schedule of a workload there is no history that could tell them apart; and since both have
    // seen all of it, there is none later either.
    let (one, other) = (all_hosts(&one), all_hosts(&other));
    assert!(
        one.iter().filter(|((_, state), hosts)| *state == 0 && !hosts.is_empty()).count()
            == history.workloads.len(),
        "{one:?}"
    );
    assert_eq!(one, other);
}
