//! The invariants of an allocation, checked on a log of requests and replies.
//!
//! What can be demanded: the states of a workload do not overlap in time (the checker makes sure of it), so a state has
//! one answer, which no request about another state can change meanwhile. Within a state all requests overlap as they
//! like. A reply that was lost proves nothing, but its request may have been answered all the same, so
//! nothing is demanded that only a reply could show.

use std::collections::{BTreeMap, BTreeSet};

use crate::history::{Ask, History};
use crate::reply::Placement;

/// One request and what came of it.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) ask: Ask,
    /// When it was sent, by a clock that counts events.
    pub(crate) sent: u64,
    /// When its reply arrived, or was given up.
    pub(crate) ended: u64,
    pub(crate) reply: Reply,
}

#[derive(Clone, Debug)]
pub(crate) enum Reply {
    Placed(Placement),
    /// There was one, but it is none that may be given.
    Wrong(String),
    /// The connection ended before it.
    Lost,
}

/// An invariant that does not hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// A reply that is no answer, or changes what it must not.
    Wrong { workload: usize, state: usize, problem: String },
    /// Requests about different states were under way at the same time: the log proves nothing.
    Overlap { workload: usize, state: usize },
    /// More than one cluster hosts.
    Several { workload: usize, state: usize, hosts: Vec<&'static str> },
    /// All clusters were replies, and none that it hosts.
    NoHost { workload: usize, state: usize },
    /// A cluster got both replies.
    Changed { workload: usize, state: usize, cluster: &'static str },
    /// A cluster hosts that the schedule does not list.
    NotListed { workload: usize, state: usize, cluster: &'static str },
    /// A cluster hosts, and the workload is scheduled nowhere.
    Nowhere { workload: usize, state: usize, cluster: &'static str },
    /// Another cluster hosts than before, while that one is still scheduled and no pin says so.
    Moved { workload: usize, state: usize, from: &'static str, to: &'static str },
    /// Another cluster hosts than the pin says.
    NotPinned { workload: usize, state: usize, pin: &'static str, host: &'static str },
    /// The first host of a workload is not the first of those with the most replicas.
    NotHeaviest { workload: usize, host: &'static str },
}

/// Everything in `log` that breaks an invariant.
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
            // Nothing is known of the host after a state that none was seen in, nor of the first choice.
            first &= now.is_none() && history.workloads[workload].states[state].clusters.is_empty();
            host = now;
        }
    }
    faults
}

/// The clusters that host, for one state.
fn hosts(entries: &[&Entry]) -> BTreeSet<&'static str> {
    let hosts = entries.iter().filter(|entry| matches!(entry.reply, Reply::Placed(Placement::Hosts)));
    hosts.map(|entry| entry.ask.cluster).collect()
}

/// One state by itself. Gives its host.
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
            Reply::Placed(Placement::Elsewhere) => drop(elsewhere.insert(entry.ask.cluster)),
            Reply::Placed(Placement::Hosts) | Reply::Lost => {}
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
    let all_replied = schedule.clusters.iter().all(|(cluster, _)| elsewhere.contains(cluster));
    if hosts.is_empty() && all_replied && !schedule.clusters.is_empty() {
        faults.push(Fault::NoHost { workload, state });
    }
    let host = hosts.first().copied()?;
    if let Some(pin) = schedule.pinned().filter(|pin| *pin != host) {
        faults.push(Fault::NotPinned { workload, state, pin, host });
    }
    Some(host)
}

/// One state and the one before it.
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

/// The first choice for a workload, where there is no pin to make it.
fn check_first(history: &History, workload: usize, state: usize, host: &'static str) -> Option<Fault> {
    let schedule = &history.workloads[workload].states[state];
    let most = schedule.clusters.iter().map(|(_, replicas)| *replicas).max()?;
    let heaviest = schedule.clusters.iter().find(|(_, replicas)| *replicas == most)?.0;
    (schedule.pinned().is_none() && host != heaviest).then_some(Fault::NotHeaviest { workload, host })
}

/// The host of each state of each workload, where the log shows it.
pub(crate) fn all_hosts(log: &[Entry]) -> BTreeMap<(usize, usize), BTreeSet<&'static str>> {
    let mut states: BTreeMap<(usize, usize), Vec<&Entry>> = BTreeMap::new();
    for entry in log {
        states.entry((entry.ask.workload, entry.ask.state)).or_default().push(entry);
    }
    states.into_iter().map(|(state, entries)| (state, hosts(&entries))).collect()
}

/// How many requests were under way at the same time, at most.
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

    /// One workload with these states, and a log of the replies in them, in order.
    fn faults(states: &[Given], replies: &[(usize, &'static str, Placement)]) -> Vec<Fault> {
        let (history, log) = logged(states, replies);
        check(&history, &log)
    }

    fn logged(states: &[Given], replies: &[(usize, &'static str, Placement)]) -> (History, Vec<Entry>) {
        let states: Vec<State> =
            states.iter().map(|(clusters, pin)| State { clusters: clusters.to_vec(), pin: *pin }).collect();
        let history = History { workloads: vec![Workload::new("Rollout", "ns", "app", states)] };
        let entry = |(number, (state, cluster, replies)): (usize, &(usize, &'static str, Placement))| Entry {
            ask: Ask { workload: 0, state: *state, cluster },
            sent: 2 * number as u64,
            ended: 2 * number as u64 + 1,
            reply: Reply::Placed(*replies),
        };
        (history, replies.iter().enumerate().map(entry).collect())
    }

    use Placement::{Elsewhere, Hosts};

    const BOTH: &[(&str, i64)] = &[("a", 3), ("b", 1)];
    const WORKLOAD: usize = 0;

    #[test]
    fn a_log_in_which_all_is_well_has_no_faults() {
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
    fn two_hosts_are_seen() {
        let found = faults(&[(BOTH, None)], &[(0, "a", Hosts), (0, "b", Hosts)]);
        assert_eq!(found, [Fault::Several { workload: WORKLOAD, state: 0, hosts: vec!["a", "b"] }]);
    }

    #[test]
    fn a_missing_host_is_found_once_all_have_replied() {
        let replies = [(0, "a", Elsewhere), (0, "b", Elsewhere)];
        assert_eq!(faults(&[(BOTH, None)], &replies[..1]), []);
        assert_eq!(faults(&[(BOTH, None)], &replies), [Fault::NoHost { workload: WORKLOAD, state: 0 }]);
    }

    #[test]
    fn a_host_that_moves_without_need_is_seen() {
        let replies = [(0, "a", Hosts), (1, "b", Hosts)];
        let moved = [Fault::Moved { workload: WORKLOAD, state: 1, from: "a", to: "b" }];
        assert_eq!(faults(&[(BOTH, None), (&[("b", 9), ("a", 0)], None)], &replies), moved);
        assert_eq!(faults(&[(BOTH, None), (BOTH, Some("elsewhere"))], &replies), moved);
        assert_eq!(faults(&[(BOTH, None), (BOTH, Some("b"))], &replies), []);
        assert_eq!(faults(&[(BOTH, None), (&[("b", 0)], None)], &replies), []);
    }

    #[test]
    fn an_answer_that_changes_within_a_state_is_seen() {
        let found = faults(&[(BOTH, None)], &[(0, "a", Hosts), (0, "a", Elsewhere)]);
        assert_eq!(found, [Fault::Changed { workload: WORKLOAD, state: 0, cluster: "a" }]);
    }

    #[test]
    fn a_host_that_is_not_scheduled_is_seen() {
        let found = faults(&[(BOTH, None), (&[("b", 1)], None)], &[(0, "a", Hosts), (1, "a", Hosts)]);
        assert_eq!(found, [Fault::NotListed { workload: WORKLOAD, state: 1, cluster: "a" }]);
        let found = faults(&[(BOTH, None), (&[], None)], &[(0, "a", Hosts), (1, "a", Hosts)]);
        assert_eq!(found, [Fault::Nowhere { workload: WORKLOAD, state: 1, cluster: "a" }]);
    }

    #[test]
    fn a_pin_or_a_weight_that_is_not_followed_is_seen() {
        let found = faults(&[(BOTH, Some("b"))], &[(0, "a", Hosts)]);
        assert_eq!(found, [Fault::NotPinned { workload: WORKLOAD, state: 0, pin: "b", host: "a" }]);
        let found = faults(&[(&[("a", 3), ("b", 3)], None)], &[(0, "b", Hosts)]);
        assert_eq!(found, [Fault::NotHeaviest { workload: WORKLOAD, host: "b" }]);
        assert_eq!(faults(&[(&[], None), (BOTH, None)], &[(0, "a", Elsewhere), (1, "b", Hosts)]).len(), 1);
    }

    #[test]
    fn a_wrong_reply_and_states_that_overlap_are_seen() {
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
