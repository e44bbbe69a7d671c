//! When an allocation may leave its cluster.

use std::time::Duration;

use super::*;
use crate::domain::{Hosts, TargetCluster};

fn cluster(name: &str) -> ClusterName {
    ClusterName::new(name).unwrap()
}

fn schedule(clusters: &[(&str, i64)]) -> Schedule {
    let targets = clusters.iter().map(|&(name, replicas)| TargetCluster { name: cluster(name), replicas });
    Schedule::new(targets.collect()).unwrap()
}

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(second).unwrap()
}

/// A Work in `name`; `hosts` says what its record says, if it has one, and `deleting` since when it is on its
/// way out.
fn work(name: &str, hosts: Option<&[&str]>, deleting: Option<i64>) -> Delivery {
    let hosts = hosts.map(|hosts| hosts.iter().map(|&host| host.to_owned()).collect());
    Delivery {
        cluster: cluster(name),
        hosts: hosts.map_or(Hosts::Unrecorded, Hosts::Recorded),
        deleting_since: deleting.map(at),
        preserves: false,
    }
}

const FOR_EVER: Handover = Handover::AfterRelease { timeout: None };
const A_MINUTE: Handover = Handover::AfterRelease { timeout: Some(Duration::from_mins(1)) };
const FORT: Option<&[&str]> = Some(&["fort"]);
const NOTHING: Option<&[&str]> = Some(&[]);

/// The case: who is scheduled, who is pinned, what the ledger holds.
struct Case {
    clusters: &'static [(&'static str, i64)],
    pinned: Option<&'static str>,
    entry: Option<&'static str>,
    /// The cluster that is asked for; by default one that nobody else speaks of.
    target: &'static str,
    handover: Handover,
    now: i64,
}

impl Case {
    const fn new(clusters: &'static [(&'static str, i64)], entry: Option<&'static str>) -> Self {
        Self { clusters, pinned: None, entry, target: "other", handover: FOR_EVER, now: 1000 }
    }

    const fn pinned(self, pinned: &'static str) -> Self {
        Self { pinned: Some(pinned), ..self }
    }

    const fn asked_for(self, target: &'static str) -> Self {
        Self { target, ..self }
    }

    const fn handover(self, handover: Handover) -> Self {
        Self { handover, ..self }
    }

    /// `in x`, `in x from y`, `x waits for y`, `nowhere` or `unread`.
    fn with(&self, deliveries: Deliveries<'_>) -> String {
        let (schedule, pinned, entry) =
            (schedule(self.clusters), self.pinned.map(cluster), self.entry.map(cluster));
        let target = cluster(self.target);
        let known = AllocationState {
            allocation: "fort",
            target: &target,
            schedule: &schedule,
            pinned: pinned.as_ref(),
            entry: entry.as_ref(),
            strategy: AllocationStrategy::HighestWeight,
            handover: self.handover,
            deliveries,
            preserves: false,
            now: at(self.now),
        };
        let settled = known.settle();
        match settled {
            Settled::Unread => "unread".to_owned(),
            Settled::Nowhere => "nowhere".to_owned(),
            Settled::In(choice, None) => format!("in {} {:?}", choice.cluster, choice.reason),
            Settled::In(choice, Some(event)) => {
                assert!(!event.waiting && event.to == choice.cluster);
                format!("in {} from {}", choice.cluster, event.from)
            }
            Settled::Waiting(event) => {
                assert!(event.waiting);
                format!("{} waits for {}", event.to, event.from)
            }
        }
    }

    fn with_works(&self, works: &[Delivery]) -> String {
        self.with(Deliveries::Read(works))
    }
}

const BOTH: &[(&str, i64)] = &[("x", 3), ("z", 1)];
const ONLY_Z: &[(&str, i64)] = &[("z", 4)];

#[test]
fn works_are_read_only_if_the_answer_depends_on_them() {
    for (case, answer) in [
        (Case::new(BOTH, Some("x")), "in x Sticky"),
        (Case::new(&[], Some("x")), "nowhere"),
        (Case::new(BOTH, None), "unread"),
        (Case::new(ONLY_Z, Some("x")), "unread"),
        (Case::new(BOTH, Some("x")).pinned("z"), "unread"),
        (Case::new(BOTH, Some("x")).pinned("x"), "in x Pinned"),
    ] {
        assert_eq!(case.with(Deliveries::Unread), answer);
    }
    assert_eq!(Case::new(ONLY_Z, Some("x")).with(Deliveries::Unreadable), "in z HighestWeight");
    assert_eq!(Case::new(BOTH, None).with(Deliveries::Unreadable), "in x HighestWeight");
}

#[test]
fn the_new_cluster_waits_until_the_work_in_the_old_one_is_gone() {
    let dropped = Case::new(ONLY_Z, Some("x"));
    for there in
        [work("x", FORT, None), work("x", None, None), work("x", NOTHING, None), work("x", FORT, Some(1))]
    {
        assert_eq!(dropped.with_works(&[work("z", NOTHING, None), there]), "z waits for x");
    }
    assert_eq!(dropped.with_works(&[work("z", NOTHING, None)]), "in z from x");
    assert_eq!(dropped.with_works(&[]), "in z from x");
}

#[test]
fn immediate_does_not_wait() {
    let dropped = Case::new(ONLY_Z, Some("x")).handover(Handover::Immediate);
    assert_eq!(dropped.with_works(&[work("x", FORT, None)]), "in z from x");
}

#[test]
fn a_timeout_counts_from_the_deletion_of_the_work() {
    let dropped = |now| Case { now, ..Case::new(ONLY_Z, Some("x")).handover(A_MINUTE) };
    let there = [work("x", FORT, Some(1000))];
    for (now, answer) in
        [(999, "z waits for x"), (1059, "z waits for x"), (1060, "in z from x"), (9999, "in z from x")]
    {
        assert_eq!(dropped(now).with_works(&there), answer, "{now}");
    }
    assert_eq!(dropped(9999).with_works(&[work("x", FORT, None)]), "z waits for x");
    assert_eq!(Case { now: 9999, ..Case::new(ONLY_Z, Some("x")) }.with_works(&there), "z waits for x");
    let unreadable = Delivery { deleting_since: Some(Timestamp::MAX), ..work("x", FORT, None) };
    assert_eq!(dropped(9999).with_works(&[unreadable]), "z waits for x");
}

#[test]
fn a_pin_waits_until_the_old_work_is_stored_without_it_or_on_its_way_out() {
    let moved = Case::new(BOTH, Some("x")).pinned("z");
    for (there, answer) in [
        (work("x", FORT, None), "z waits for x"),
        (work("x", None, None), "z waits for x"),
        (work("x", NOTHING, None), "in z from x"),
        (work("x", Some(&["other"]), None), "in z from x"),
        (work("x", FORT, Some(999)), "in z from x"),
    ] {
        assert_eq!(moved.with_works(&[there]), answer);
    }
    assert_eq!(moved.with_works(&[]), "in z from x");
    // Out of a cluster that is not scheduled any more: at once if its Work is stuck, else when it is.
    let dropped = Case::new(ONLY_Z, Some("x")).pinned("z");
    assert_eq!(dropped.with_works(&[work("x", FORT, Some(999))]), "in z from x");
    assert_eq!(dropped.with_works(&[work("x", FORT, None)]), "z waits for x");
}

#[test]
fn an_empty_ledger_is_filled_from_the_works() {
    let empty = Case::new(BOTH, None);
    assert_eq!(empty.with_works(&[]), "in x HighestWeight");
    assert_eq!(empty.with_works(&[work("x", NOTHING, None), work("z", FORT, None)]), "in z Found");
    assert_eq!(empty.with_works(&[work("z", FORT, Some(1))]), "in z Found");
    assert_eq!(empty.with_works(&[work("z", None, None)]), "in x HighestWeight");
    assert_eq!(empty.with_works(&[work("z", Some(&["other"]), None)]), "in x HighestWeight");
    // Not scheduled any more: it is handed over.
    assert_eq!(Case::new(ONLY_Z, None).with_works(&[work("x", FORT, None)]), "z waits for x");
    assert_eq!(Case::new(BOTH, None).pinned("x").with_works(&[work("z", FORT, None)]), "x waits for z");
    // A timeout has left one behind: the one that is not on its way out counts.
    assert_eq!(empty.with_works(&[work("x", FORT, Some(1)), work("z", FORT, None)]), "in z Found");
    assert_eq!(empty.with_works(&[work("y", FORT, None), work("z", FORT, None)]), "in z Found");
}

/// The ledger may be an old copy, or a Work have been on its way in when it was written.
#[test]
fn nobody_takes_up_what_another_works_hosts() {
    let sticky = Case::new(BOTH, Some("x")).asked_for("x");
    assert_eq!(sticky.with(Deliveries::Unread), "unread");
    assert_eq!(sticky.with(Deliveries::Unreadable), "in x Sticky");
    assert_eq!(sticky.with_works(&[]), "in x Sticky");
    assert_eq!(sticky.with_works(&[work("x", NOTHING, None), work("z", None, None)]), "in x Sticky");
    assert_eq!(sticky.with_works(&[work("x", NOTHING, None), work("z", FORT, None)]), "x waits for z");
    assert_eq!(sticky.with_works(&[work("z", FORT, Some(1))]), "x waits for z");
    // Who hosts it already keeps it: it does not move while its cluster is scheduled.
    assert_eq!(sticky.with_works(&[work("x", FORT, None), work("z", FORT, None)]), "in x Sticky");
    // For another cluster the answer is the same either way.
    assert_eq!(Case::new(BOTH, Some("x")).asked_for("z").with(Deliveries::Unread), "in x Sticky");
    // The old cluster has let go, and a third has not.
    let dropped = Case::new(ONLY_Z, Some("x")).asked_for("z");
    assert_eq!(dropped.with_works(&[work("y", FORT, None)]), "z waits for y");
    assert_eq!(dropped.with_works(&[work("y", FORT, None), work("z", FORT, None)]), "in z from x");
    let immediate = Case::new(BOTH, Some("x")).asked_for("x").handover(Handover::Immediate);
    assert_eq!(immediate.with_works(&[work("z", FORT, None)]), "in x Sticky");
    let timed = Case { now: 9999, ..Case::new(BOTH, Some("x")).asked_for("x").handover(A_MINUTE) };
    assert_eq!(timed.with_works(&[work("z", FORT, Some(1000))]), "in x Sticky");
    assert_eq!(timed.with_works(&[work("z", FORT, None)]), "x waits for z");
}

#[test]
fn what_stays_behind_is_told() {
    let schedule = schedule(ONLY_Z);
    let event = |preserves, works: &[Delivery]| {
        let known = AllocationState {
            allocation: "fort",
            target: &cluster("z"),
            schedule: &schedule,
            pinned: None,
            entry: Some(&cluster("x")),
            strategy: AllocationStrategy::HighestWeight,
            handover: FOR_EVER,
            deliveries: Deliveries::Read(works),
            preserves,
            now: at(0),
        };
        match known.settle() {
            Settled::In(_, Some(event)) | Settled::Waiting(event) => event.object_stays,
            other => panic!("{other:?}"),
        }
    };
    assert!(!event(false, &[work("x", FORT, None)]) && !event(false, &[]));
    assert!(event(true, &[]));
    assert!(event(false, &[Delivery { preserves: true, ..work("x", FORT, None) }]));
}
