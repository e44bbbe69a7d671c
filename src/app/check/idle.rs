//! Warnings about transformations that an object names and that do not change it.

use std::collections::BTreeMap;

use super::samples::listed;
use crate::domain::{ClusterName, Schedule};
use crate::engine::IdleTransformation;

/// For one object in all clusters of `schedule`. A transformation is reported if it changes nothing in a
/// cluster that it has an entry for, or nothing in any cluster. Clusters that it has no entry for are not an
/// error by themselves.
pub(super) fn warnings(idle: &[IdleTransformation], schedule: &Schedule) -> Vec<String> {
    let mut by_transformation: BTreeMap<&str, BTreeMap<&str, Vec<ClusterName>>> = BTreeMap::new();
    for transformation in idle {
        let reasons = by_transformation.entry(&transformation.transformation).or_default();
        reasons.entry(transformation.reason).or_default().push(transformation.cluster.clone());
    }
    let mut warnings = Vec::new();
    for (transformation, reasons) in by_transformation {
        let is_everywhere = reasons.values().map(Vec::len).sum::<usize>() == schedule.clusters().len();
        for (reason, clusters) in reasons {
            let has_entry = idle.iter().any(|it| it.reason == reason && it.has_entry);
            if has_entry || is_everywhere {
                warnings.push(format!("{transformation} changes nothing in {}: {reason}", listed(&clusters)));
            }
        }
    }
    warnings
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::TargetCluster;

    #[test]
    fn clusters_without_an_entry_are_reported_only_if_all_are_unchanged() {
        let name = |name: &str| ClusterName::new(name).unwrap();
        let cluster = |it: &str| TargetCluster { name: name(it), replicas: 1 };
        let schedule = Schedule::new(vec![cluster("eu"), cluster("us"), cluster("asia")]).unwrap();
        let (none, same) =
            ("none of its entries is for this target", "what it writes for this target is there already");
        let idle = |cluster: &str, has_entry: bool| IdleTransformation {
            transformation: "TargetPodTransformation/gpu".to_owned(),
            cluster: name(cluster),
            has_entry,
            reason: if has_entry { same } else { none },
        };
        for (idle, expected) in [
            (vec![], vec![]),
            (vec![idle("us", false), idle("asia", false)], vec![]),
            (
                vec![idle("us", false), idle("asia", false), idle("eu", false)],
                vec![format!("TargetPodTransformation/gpu changes nothing in us, asia, eu: {none}")],
            ),
            (
                vec![idle("eu", true), idle("us", false)],
                vec![format!("TargetPodTransformation/gpu changes nothing in eu: {same}")],
            ),
            (
                vec![idle("eu", true), idle("us", true), idle("asia", false)],
                vec![
                    format!("TargetPodTransformation/gpu changes nothing in asia: {none}"),
                    format!("TargetPodTransformation/gpu changes nothing in eu, us: {same}"),
                ],
            ),
        ] {
            assert_eq!(warnings(&idle, &schedule), expected);
        }
    }
}
