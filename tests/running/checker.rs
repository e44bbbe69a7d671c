//! The invariants of an allocation, checked on a log of requests and replies.
//! The states of a workload do not overlap in time (the checker verifies it), so each state has one answer.
//! Requests about the same state may overlap. A lost reply proves nothing: its request may have been
//! answered, so no invariant depends on a lost reply.

use std::collections::{BTreeMap, BTreeSet};

use crate::history::{Ask, History};
use crate::hosting::Hosting;

/// A request and its reply.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) ask: Ask,
    /// When it was sent, as an event number.
    pub(crate) sent: u64,
    /// When its reply arrived, or the client gave up.
    pub(crate) ended: u64,
    pub(crate) reply: Reply,
}

#[derive(Clone, Debug)]
pub(crate) enum Reply {
    Answered(Hosting),
    /// An invalid reply.
    Wrong(String),
    /// The connection closed before the reply.
    Lost,
}

/// An invariant that does not hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// A reply that is invalid, or changes a field that it must not.
    Wrong { workload: usize, state: usize, problem: String },
    /// Requests about different states overlapped: the log proves nothing.
    Overlap { workload: usize, state: usize },
    /// More than one cluster hosts.
    Several { workload: usize, state: usize, hosts: Vec<&'static str> },
    /// All clusters have a reply, and none hosts.
    NoHost { workload: usize, state: usize },
    /// One cluster has replies of both kinds.
    Changed { workload: usize, state: usize, cluster: &'static str },
    /// The host is not in the schedule.
    NotListed { workload: usize, state: usize, cluster: &'static str },
    /// A cluster hosts although the schedule is empty.
    Nowhere { workload: usize, state: usize, cluster: &'static str },
    /// The host moved, although the old one is still scheduled and no pin requires the move.
    Moved { workload: usize, state: usize, from: &'static str, to: &'static str },
    /// The host is not the pinned cluster.
    NotPinned { workload: usize, state: usize, pin: &'static str, host: &'static str },
    /// The first host of a workload is not the first cluster with the most replicas.
    NotHeaviest { workload: usize, host: &'static str },
}

/// All violations in `log`.
pub(crate) fn check(history: &History, log: &[Entry]) -> Vec<Fault> {
    let mut faults = Vec::new();
    for workload in 0..history.workloads.len() {
        let mut states: BTreeMap<usize, Vec<&Entry>> = BTreeMap::new();
        for entry in log.iter().filter(|entry| entry.ask.workload == workload) {
            states.entry(entry.ask.state).or_default().push(entry);
        }
        let mut host = None;
        let mut ended = 0;
        let mut first = true;
        for (state, entries) in states {
            if entries.iter().any(|entry| entry.sent < ended) {
                faults.push(Fault::Overlap { workload, state });
            }
            ended = entries.iter().map(|entry| entry.ended).max().unwrap_or(ended);
            let now = check_state(history, workload, state, &entries, &mut faults);
            faults.extend(check_move(history, workload, state, host, now));
            if first && let (None, Some(host)) = (host, now) {
                faults.extend(check_first(history, workload, state, host));
            }
            // After a state without an observed host, neither the host nor the first choice can be checked.
            first &= now.is_none() && history.workloads[workload].states[state].clusters.is_empty();
            host = now;
        }
    }
    faults
}

/// The hosts in the replies about one state.
fn hosts(entries: &[&Entry]) -> BTreeSet<&'static str> {
    let hosts = entries.iter().filter(|entry| matches!(entry.reply, Reply::Answered(Hosting::Hosts)));
    hosts.map(|entry| entry.ask.cluster).collect()
}

/// Checks one state by itself. Returns its host.
fn check_state(
    history: &History,
    workload: usize,
    state: usize,
    entries: &[&Entry],
    faults: &mut Vec<Fault>,
) -> Option<&'static str> {
    let schedule = &history.workloads[workload].states[state];
    let (hosts, mut elsewhere) = (hosts(entries), BTreeSet::new());
    for entry in entries {
        match &entry.reply {
            Reply::Wrong(problem) => faults.push(Fault::Wrong { workload, state, problem: problem.clone() }),
            Reply::Answered(Hosting::Elsewhere) => drop(elsewhere.insert(entry.ask.cluster)),
            Reply::Answered(Hosting::Hosts) | Reply::Lost => {}
        }
    }
    faults.extend(hosts.intersection(&elsewhere).map(|cluster| Fault::Changed { workload, state, cluster }));
    if hosts.len() > 1 {
        faults.push(Fault::Several { workload, state, hosts: hosts.iter().copied().collect() });
    }
    for cluster in hosts.iter().copied().filter(|cluster| !schedule.lists(cluster)) {
        faults.push(if schedule.clusters.is_empty() {
            Fault::Nowhere { workload, state, cluster }
        } else {
            Fault::NotListed { workload, state, cluster }
        });
    }
    let all_told = schedule.clusters.iter().all(|(cluster, _)| elsewhere.contains(cluster));
    if hosts.is_empty() && all_told && !schedule.clusters.is_empty() {
        faults.push(Fault::NoHost { workload, state });
    }
    let host = hosts.first().copied()?;
    if let Some(pin) = schedule.pinned().filter(|pin| *pin != host) {
        faults.push(Fault::NotPinned { workload, state, pin, host });
    }
    Some(host)
}

/// Checks a state against the state before it.
fn check_move(
    history: &History,
    workload: usize,
    state: usize,
    before: Option<&'static str>,
    now: Option<&'static str>,
) -> Option<Fault> {
    let schedule = &history.workloads[workload].states[state];
    let (from, to) = (before?, now?);
    let may = from == to || !schedule.lists(from) || schedule.pinned() == Some(to);
    (!may).then_some(Fault::Moved { workload, state, from, to })
}

/// Checks the first choice for a workload without a pin.
fn check_first(history: &History, workload: usize, state: usize, host: &'static str) -> Option<Fault> {
    let schedule = &history.workloads[workload].states[state];
    let most = schedule.clusters.iter().map(|(_, replicas)| *replicas).max()?;
    let heaviest = schedule.clusters.iter().find(|(_, replicas)| *replicas == most)?.0;
    (schedule.pinned().is_none() && host != heaviest).then_some(Fault::NotHeaviest { workload, host })
}

/// The hosts by workload and state, as far as the log shows them.
pub(crate) fn all_hosts(log: &[Entry]) -> BTreeMap<(usize, usize), BTreeSet<&'static str>> {
    let mut states: BTreeMap<(usize, usize), Vec<&Entry>> = BTreeMap::new();
    for entry in log {
        states.entry((entry.ask.workload, entry.ask.state)).or_default().push(entry);
    }
    states.into_iter().map(|(state, entries)| (state, hosts(&entries))).collect()
}

/// The largest number of requests in flight at one time.
pub(crate) fn most_at_a_time(log: &[Entry]) -> usize {
    let mut events: Vec<(u64, bool)> =
        log.iter().flat_map(|entry| [(entry.sent, true), (entry.ended, false)]).collect();
    events.sort_unstable();
    let mut now = 0_usize;
    let counts = events.into_iter().map(|(_, begins)| {
        now = if begins { now + 1 } else { now - 1 };
        now
    });
    counts.max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::{State, Workload};

    /// A schedule and a pin.
    type Given = (&'static [(&'static str, i64)], Option<&'static str>);

    /// Checks a workload with these states and replies, one after the other.
    fn faults(states: &[Given], replies: &[(usize, &'static str, Hosting)]) -> Vec<Fault> {
        let (history, log) = logged(states, replies);
        check(&history, &log)
    }

    fn logged(states: &[Given], replies: &[(usize, &'static str, Hosting)]) -> (History, Vec<Entry>) {
        let states: Vec<State> =
            states.iter().map(|(clusters, pin)| State { clusters: clusters.to_vec(), pin: *pin }).collect();
        let history = History { workloads: vec![Workload::new("Rollout", "ns", "app", states)] };
        let entry = |(number, (state, cluster, hosting)): (usize, &(usize, &'static str, Hosting))| Entry {
            ask: Ask { workload: 0, state: *state, cluster },
            sent: 2 * number as u64,
            ended: 2 * number as u64 + 1,
            reply: Reply::Answered(*hosting),
        };
        (history, replies.iter().enumerate().map(entry).collect())
    }

    use Hosting::{Elsewhere, Hosts};

    const BOTH: &[(&str, i64)] = &[("a", 3), ("b", 1)];
    const WORKLOAD: usize = 0;

    #[test]
    fn a_valid_log_has_no_faults() {
        let states = [
            (BOTH, None),
            (&[("a", 1), ("b", 3)], None),
            (&[("b", 3), ("c", 9)], None),
            (&[], None),
            (BOTH, Some("a")),
            (BOTH, Some("elsewhere")),
        ];
        let replies = [
            (0, "b", Elsewhere),
            (0, "a", Hosts),
            (0, "c", Elsewhere),
            (0, "a", Hosts),
            (1, "a", Hosts),
            (1, "b", Elsewhere),
            (2, "b", Elsewhere),
            (2, "c", Hosts),
            (2, "a", Elsewhere),
            (3, "a", Elsewhere),
            (3, "b", Elsewhere),
            (4, "a", Hosts),
            (4, "b", Elsewhere),
            (5, "a", Hosts),
        ];
        assert_eq!(faults(&states, &replies), []);
    }

    #[test]
    fn two_hosts_are_a_fault() {
        let found = faults(&[(BOTH, None)], &[(0, "a", Hosts), (0, "b", Hosts)]);
        assert_eq!(found, [Fault::Several { workload: WORKLOAD, state: 0, hosts: vec!["a", "b"] }]);
    }

    #[test]
    fn no_host_is_a_fault_once_all_clusters_replied() {
        let replies = [(0, "a", Elsewhere), (0, "b", Elsewhere)];
        assert_eq!(faults(&[(BOTH, None)], &replies[..1]), []);
        assert_eq!(faults(&[(BOTH, None)], &replies), [Fault::NoHost { workload: WORKLOAD, state: 0 }]);
    }

    #[test]
    fn an_unnecessary_move_is_a_fault() {
        let replies = [(0, "a", Hosts), (1, "b", Hosts)];
        let moved = [Fault::Moved { workload: WORKLOAD, state: 1, from: "a", to: "b" }];
        assert_eq!(faults(&[(BOTH, None), (&[("b", 9), ("a", 0)], None)], &replies), moved);
        assert_eq!(faults(&[(BOTH, None), (BOTH, Some("elsewhere"))], &replies), moved);
        assert_eq!(faults(&[(BOTH, None), (BOTH, Some("b"))], &replies), []);
        assert_eq!(faults(&[(BOTH, None), (&[("b", 0)], None)], &replies), []);
    }

    #[test]
    fn an_answer_that_changes_within_a_state_is_a_fault() {
        let found = faults(&[(BOTH, None)], &[(0, "a", Hosts), (0, "a", Elsewhere)]);
        assert_eq!(found, [Fault::Changed { workload: WORKLOAD, state: 0, cluster: "a" }]);
    }

    #[test]
    fn an_unscheduled_host_is_a_fault() {
        let found = faults(&[(BOTH, None), (&[("b", 1)], None)], &[(0, "a", Hosts), (1, "a", Hosts)]);
        assert_eq!(found, [Fault::NotListed { workload: WORKLOAD, state: 1, cluster: "a" }]);
        let found = faults(&[(BOTH, None), (&[], None)], &[(0, "a", Hosts), (1, "a", Hosts)]);
        assert_eq!(found, [Fault::Nowhere { workload: WORKLOAD, state: 1, cluster: "a" }]);
    }

    #[test]
    fn an_ignored_pin_or_weight_is_a_fault() {
        let found = faults(&[(BOTH, Some("b"))], &[(0, "a", Hosts)]);
        assert_eq!(found, [Fault::NotPinned { workload: WORKLOAD, state: 0, pin: "b", host: "a" }]);
        let found = faults(&[(&[("a", 3), ("b", 3)], None)], &[(0, "b", Hosts)]);
        assert_eq!(found, [Fault::NotHeaviest { workload: WORKLOAD, host: "b" }]);
        assert_eq!(faults(&[(&[], None), (BOTH, None)], &[(0, "a", Elsewhere), (1, "b", Hosts)]).len(), 1);
    }

    #[test]
    fn an_invalid_reply_and_overlapping_states_are_faults() {
        let (history, mut log) =
            logged(&[(BOTH, None), (BOTH, Some("a"))], &[(0, "a", Hosts), (1, "a", Hosts)]);
        assert_eq!(most_at_a_time(&log), 1);
        log[0].ended = 3;
        assert_eq!(check(&history, &log), [Fault::Overlap { workload: WORKLOAD, state: 1 }]);
        assert_eq!(most_at_a_time(&log), 2);
        log[0].ended = 1;
        log[1].reply = Reply::Wrong("so".to_owned());
        let wrong = Fault::Wrong { workload: WORKLOAD, state: 1, problem: "so".to_owned() };
        assert_eq!(check(&history, &log), [wrong]);
        log[1].reply = Reply::Lost;
        assert_eq!(check(&history, &log), []);
    }
}
