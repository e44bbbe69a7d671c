//! The clusters that `check` tries policies for.

use std::collections::{BTreeMap, BTreeSet};

use crate::app::trial::KnownClusters;
use crate::domain::{ClusterName, Schedule, TargetCluster};
use crate::engine::{ClusterPattern, PolicySet};
use crate::policy;

/// Made-up clusters that no rule names, with their replicas. The first has the most replicas, so it hosts the
/// allocations.
const MADE_UP: [(&str, i64); 2] = [("sample-1", 2), ("sample-2", 1)];

/// How many named clusters a made-up one is renamed to.
const MAX_RENAMED: usize = 10;

#[derive(Debug)]
pub(super) struct TrialClusters {
    pub(super) schedule: Schedule,
    made_up: BTreeSet<ClusterName>,
    /// Whether the schedule is that of `--clusters`.
    pub(super) is_given: bool,
    /// Whether flags describe the clusters, so that missing labels and fields are findings.
    pub(super) are_described: bool,
}

impl TrialClusters {
    /// The clusters of `given` (`--clusters`), else those in the state files, else those that the policies
    /// name, one for each pattern that matches none of these, and two more.
    pub(super) fn new(given: &Schedule, known: &KnownClusters, set: &PolicySet) -> Self {
        if !given.clusters().is_empty() {
            return Self {
                schedule: given.clone(),
                made_up: BTreeSet::new(),
                is_given: true,
                are_described: known.is_given(),
            };
        }
        let in_files = known.names();
        let are_described = !in_files.is_empty();
        let named: BTreeSet<ClusterName> = if are_described {
            in_files
        } else {
            policy::named_clusters(set).into_iter().chain(known.labelled().cloned()).collect()
        };
        let mut clusters: BTreeMap<ClusterName, i64> = named.iter().map(|name| (name.clone(), 1)).collect();
        let mut made_up = BTreeSet::new();
        if are_described {
            // The cluster with the most replicas hosts the allocations.
            clusters.values_mut().take(1).for_each(|replicas| *replicas = 2);
        } else {
            let matching = names_for_patterns(set, &named).into_iter().map(|name| (name, 1));
            let unnamed =
                MADE_UP.iter().filter_map(|(name, replicas)| Some((ClusterName::new(*name)?, *replicas)));
            for (name, replicas) in matching.chain(unnamed) {
                if !named.contains(&name) {
                    made_up.insert(name.clone());
                }
                clusters.insert(name, replicas);
            }
        }
        let clusters = clusters.into_iter().map(|(name, replicas)| TargetCluster { name, replicas });
        // Cannot fail: the names are the keys of a map.
        let schedule = Schedule::new(clusters.collect()).unwrap_or_default();
        Self { schedule, made_up, is_given: false, are_described }
    }

    /// Named clusters, each with a schedule in which it has swapped replicas with the made-up cluster `name`.
    pub(super) fn in_place_of(&self, name: &ClusterName) -> Vec<(ClusterName, Schedule)> {
        let replicas = self.schedule.replicas_of(name).unwrap_or_default();
        let others = self.schedule.clusters().iter().filter(|entry| !self.is_made_up(&entry.name));
        let swapped = |other: &TargetCluster| {
            let mut clusters = self.schedule.clusters().to_vec();
            for entry in &mut clusters {
                if entry.name == *name {
                    entry.replicas = other.replicas;
                } else if entry.name == other.name {
                    entry.replicas = replicas;
                }
            }
            Some((other.name.clone(), Schedule::new(clusters).ok()?))
        };
        others.take(MAX_RENAMED).filter_map(swapped).collect()
    }

    /// Whether neither a flag nor a policy names the cluster.
    pub(super) fn is_made_up(&self, name: &ClusterName) -> bool {
        self.made_up.contains(name)
    }
}

/// A name for each pattern with wildcards that matches none of `named`.
fn names_for_patterns(set: &PolicySet, named: &BTreeSet<ClusterName>) -> BTreeSet<ClusterName> {
    let mut names = BTreeSet::new();
    for rule in set.policies.iter().flat_map(|policy| &policy.rules) {
        let is_excluded =
            |name: &ClusterName| rule.target.exclude.iter().any(|pattern| pattern.matches(name));
        let wanted = rule.target.names.iter().map(|pattern| (pattern, true));
        for (pattern, is_wanted) in wanted.chain(rule.target.exclude.iter().map(|pattern| (pattern, false))) {
            let fits = |name: &&ClusterName| pattern.matches(name) && !(is_wanted && is_excluded(name));
            if pattern.name().is_none() && !named.iter().any(|name| fits(&name)) {
                names.extend(matching_name(pattern));
            }
        }
    }
    names
}

fn matching_name(pattern: &ClusterPattern) -> Option<ClusterName> {
    ClusterName::new(pattern.0.replace('*', "sample").replace('?', "1"))
}
