//! Two servers at one time, each with its own ledger in memory.

use std::sync::Arc;

use rustix::process::Signal;

use crate::checker::all_hosts;
use crate::crowd::{Clock, Crowd, Trust, assert_no_faults};
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
    assert_no_faults(&history, &one);
    assert_no_faults(&history, &other);
    // The first schedule of a workload gives both the same choice, and both see all later requests.
    let (one, other) = (all_hosts(&one), all_hosts(&other));
    assert!(
        one.iter().filter(|((_, state), hosts)| *state == 0 && !hosts.is_empty()).count()
            == history.workloads.len(),
        "{one:?}"
    );
    assert_eq!(one, other);
}
