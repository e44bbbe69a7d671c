//! Compares the clusters of two rules.

use super::labels;
use crate::domain::ClusterName;
use crate::engine::{ClusterPattern, TargetClusters};

/// Whether two rules apply to a common cluster.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Overlap {
    /// No common cluster is possible.
    No,
    /// That depends on labels, fields or names that the documents do not contain.
    Perhaps,
    /// At least one: this cluster, or any cluster.
    Yes(Option<String>),
}

/// The overlap of the clusters of two rules.
pub(super) fn overlap(a: &TargetClusters, b: &TargetClusters) -> Overlap {
    let named = by_name(a, b);
    if named == Overlap::No || labels::contradiction(a.labels.iter().chain(&b.labels)).is_some() {
        return Overlap::No;
    }
    let selects_alike = a.labels == b.labels && a.fields == b.fields;
    if selects_alike { named } else { Overlap::Perhaps }
}

fn by_name(a: &TargetClusters, b: &TargetClusters) -> Overlap {
    let both = [a, b];
    let literals = both.into_iter().flat_map(|target| &target.names).filter_map(ClusterPattern::name);
    let is_for = |name: &ClusterName| both.iter().all(|target| allows(target, name));
    let mut names: Vec<ClusterName> = literals.filter(is_for).collect();
    names.sort();
    if let Some(name) = names.into_iter().next() {
        return Overlap::Yes(Some(name.as_str().to_owned()));
    }
    let all_excluded = both
        .into_iter()
        .flat_map(|target| &target.exclude)
        .any(|pattern| pattern.0.bytes().all(|b| b == b'*'));
    let open = |target: &'_ TargetClusters| target.names.is_empty();
    match (open(a), open(b)) {
        _ if all_excluded => Overlap::No,
        (true, true) => Overlap::Yes(None),
        // Only names with wildcards remain. The others have been compared.
        (true, false) | (false, true) => {
            let mut globs =
                both.into_iter().flat_map(|target| &target.names).filter(|it| it.name().is_none());
            let excluded = |glob: &ClusterPattern| both.iter().any(|target| target.exclude.contains(glob));
            let mut left = globs.by_ref().filter(|glob| !excluded(glob));
            left.next().map_or(Overlap::No, |_| Overlap::Yes(None))
        }
        (false, false) => {
            let globs = |target: &'_ TargetClusters| -> Vec<ClusterPattern> {
                target.names.iter().filter(|it| it.name().is_none()).cloned().collect()
            };
            let (ours, theirs) = (globs(a), globs(b));
            let any = |test: fn(&str, &str) -> bool| {
                ours.iter().any(|ours| theirs.iter().any(|theirs| test(&ours.0, &theirs.0)))
            };
            if any(|ours, theirs| ours == theirs) {
                Overlap::Yes(None)
            } else if any(can_meet) {
                Overlap::Perhaps
            } else {
                Overlap::No
            }
        }
    }
}

/// Whether `target` selects the cluster by its name.
fn allows(target: &TargetClusters, name: &ClusterName) -> bool {
    let matches = |pattern: &ClusterPattern| pattern.matches(name);
    !target.exclude.iter().any(matches) && (target.names.is_empty() || target.names.iter().any(matches))
}

/// Whether a name can match both patterns. Only the text before the first and after the last wildcard is
/// compared.
fn can_meet(a: &str, b: &str) -> bool {
    const WILD: [char; 2] = ['*', '?'];
    let head = |text: &'_ str| text.split(WILD).next().unwrap_or_default().to_owned();
    let tail = |text: &'_ str| text.rsplit(WILD).next().unwrap_or_default().to_owned();
    let (heads, tails) = ((head(a), head(b)), (tail(a), tail(b)));
    (heads.0.starts_with(&heads.1) || heads.1.starts_with(&heads.0))
        && (tails.0.ends_with(&tails.1) || tails.1.ends_with(&tails.0))
}

/// Whether `narrow` selects only a part of the clusters of `wide`, so it can be an intended exception.
pub(super) fn is_exception(wide: &TargetClusters, narrow: &TargetClusters) -> bool {
    let none = TargetClusters::default();
    if *wide == none {
        return *narrow != none;
    }
    let names: Option<Vec<ClusterName>> = narrow.names.iter().map(ClusterPattern::name).collect();
    names.is_some_and(|names| {
        !names.is_empty()
            && !wide.needs_cluster()
            && names.iter().all(|name| allows(wide, name))
            && (wide.names.is_empty()
                || wide.names.iter().any(|it| it.name().is_none_or(|it| !names.contains(&it))))
    })
}
