//! Which cluster of a schedule hosts an allocation.

use crate::domain::{ClusterName, Schedule};

/// How the first cluster of an allocation is chosen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AllocationStrategy {
    /// The cluster with the most replicas; of several, the first in the binding. Also when all have none.
    #[default]
    HighestWeight,
}

/// The cluster that hosts an allocation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    pub cluster: ClusterName,
    pub reason: AllocationReason,
}

/// Why a cluster hosts an allocation, strongest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AllocationReason {
    /// The template names the cluster.
    Pinned,
    /// The ledger names it, and it is still scheduled.
    Sticky,
    /// The Work there records that it hosts the allocation; the ledger has no entry.
    Found,
    /// [`AllocationStrategy::HighestWeight`]
    HighestWeight,
}

/// Chooses the cluster of an allocation:
///
/// 1. `pinned`, if it is scheduled;
/// 2. `current`, from the ledger, if it is still scheduled, whatever the weights are now;
/// 3. the one that `strategy` chooses.
///
/// `None` if the workload is not scheduled to any cluster.
pub fn allocate(
    strategy: AllocationStrategy,
    schedule: &Schedule,
    pinned: Option<&ClusterName>,
    current: Option<&ClusterName>,
) -> Option<Choice> {
    let scheduled = |cluster: &&ClusterName| schedule.lists(cluster);
    let (cluster, reason) = if let Some(pinned) = pinned.filter(scheduled) {
        (pinned, AllocationReason::Pinned)
    } else if let Some(current) = current.filter(scheduled) {
        (current, AllocationReason::Sticky)
    } else {
        match strategy {
            AllocationStrategy::HighestWeight => {
                // Not `max_by_key`, which gives the last of several.
                let heaviest = schedule
                    .clusters()
                    .iter()
                    .reduce(|best, next| if next.replicas > best.replicas { next } else { best })?;
                (&heaviest.name, AllocationReason::HighestWeight)
            }
        }
    };
    Some(Choice { cluster: cluster.clone(), reason })
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use proptest::prelude::*;

    use super::AllocationStrategy::HighestWeight;
    use super::*;
    use crate::domain::TargetCluster;

    fn cluster(name: &str) -> ClusterName {
        ClusterName::new(name).unwrap()
    }

    fn schedule(clusters: &[(&str, i64)]) -> Schedule {
        let targets =
            clusters.iter().map(|&(name, replicas)| TargetCluster { name: cluster(name), replicas });
        Schedule::new(targets.collect()).unwrap()
    }

    fn choose(
        clusters: &[(&str, i64)],
        pinned: Option<&str>,
        current: Option<&str>,
    ) -> Option<(String, AllocationReason)> {
        allocate(
            HighestWeight,
            &schedule(clusters),
            pinned.map(cluster).as_ref(),
            current.map(cluster).as_ref(),
        )
        .map(|choice| (choice.cluster.to_string(), choice.reason))
    }

    #[test]
    fn the_heaviest_hosts_it_and_of_equals_the_first() {
        let heaviest = |name: &str| Some((name.to_owned(), AllocationReason::HighestWeight));
        assert_eq!(choose(&[("x", 3), ("z", 1)], None, None), heaviest("x"));
        assert_eq!(choose(&[("x", 1), ("z", 3)], None, None), heaviest("z"));
        assert_eq!(choose(&[("z", 2), ("x", 2)], None, None), heaviest("z"));
        assert_eq!(choose(&[("b", 0), ("a", 0), ("c", 0)], None, None), heaviest("b"));
        assert_eq!(choose(&[("a", 1), ("b", 5), ("c", 5)], None, None), heaviest("b"));
        assert_eq!(choose(&[], Some("x"), Some("z")), None);
    }

    #[test]
    fn a_pin_wins_then_where_it_is_and_neither_unless_scheduled() {
        let both = &[("x", 3), ("z", 1)];
        assert_eq!(choose(both, Some("z"), Some("x")), Some(("z".to_owned(), AllocationReason::Pinned)));
        assert_eq!(choose(both, Some("gone"), Some("z")), Some(("z".to_owned(), AllocationReason::Sticky)));
        assert_eq!(
            choose(both, Some("gone"), Some("gone")),
            Some(("x".to_owned(), AllocationReason::HighestWeight))
        );
    }

    const NAMES: &[&str] = &["a", "b", "c", "d"];

    fn any_schedule() -> impl Strategy<Value = Schedule> {
        (Just(NAMES.to_vec()).prop_shuffle(), proptest::collection::vec(0i64..4, 0..=NAMES.len())).prop_map(
            |(names, weights)| {
                let pairs: Vec<(&str, i64)> = names.into_iter().zip(weights).collect();
                schedule(&pairs)
            },
        )
    }

    proptest! {
        /// Over any history of schedules and pins: one host at most, always a scheduled one; it moves only
        /// when its cluster has left the schedule or a pin says so; and the same state gets the same answer.
        #[test]
        fn the_host_moves_only_when_it_must(
            history in proptest::collection::vec((any_schedule(), proptest::option::of(proptest::sample::select(NAMES))), 1..20),
        ) {
            let mut current: Option<ClusterName> = None;
            for (schedule, pin) in history {
                let pinned = pin.map(cluster);
                let choice = allocate(HighestWeight, &schedule, pinned.as_ref(), current.as_ref());
                prop_assert_eq!(&choice, &allocate(HighestWeight, &schedule, pinned.as_ref(), current.as_ref()));
                let Some(choice) = choice else {
                    prop_assert!(schedule.clusters().is_empty());
                    continue;
                };
                prop_assert!(schedule.lists(&choice.cluster));
                let pin_counts = pinned.as_ref().is_some_and(|pin| schedule.lists(pin));
                if let Some(current) = current.as_ref().filter(|current| schedule.lists(current) && !pin_counts) {
                    prop_assert_eq!(&choice.cluster, current);
                }
                // Asked again once the ledger holds the choice, nothing changes.
                prop_assert_eq!(allocate(HighestWeight, &schedule, pinned.as_ref(), Some(&choice.cluster)).map(|again| again.cluster), Some(choice.cluster.clone()));
                current = Some(choice.cluster);
            }
        }

        /// Without pin and history, no cluster has more replicas than the host, and no cluster before it has
        /// as many.
        #[test]
        fn the_first_choice_is_the_first_of_the_heaviest(schedule in any_schedule()) {
            let Some(choice) = allocate(HighestWeight, &schedule, None, None) else { return Ok(()); };
            let weights: HashMap<&str, i64> = schedule.clusters().iter().map(|target| (target.name.as_str(), target.replicas)).collect();
            let host = weights[choice.cluster.as_str()];
            let before = schedule.clusters().iter().take_while(|target| target.name != choice.cluster);
            prop_assert!(before.map(|target| target.replicas).all(|replicas| replicas < host));
            prop_assert!(weights.values().all(|&replicas| replicas <= host));
        }
    }
}
