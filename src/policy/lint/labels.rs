//! Finds label requirements that no labels can meet.

use std::collections::{BTreeMap, BTreeSet};

use crate::engine::{LabelRequirement, LabelSelector};

#[derive(Default)]
struct Wanted<'r> {
    present: bool,
    absent: bool,
    allowed: Option<BTreeSet<&'r str>>,
    refused: BTreeSet<&'r str>,
}

/// The first label, by name, for which these selectors contradict each other.
pub(super) fn contradiction<'r>(selectors: impl IntoIterator<Item = &'r LabelSelector>) -> Option<&'r str> {
    let mut labels: BTreeMap<&str, Wanted<'_>> = BTreeMap::new();
    for requirement in selectors.into_iter().flat_map(|selector| &selector.0) {
        match requirement {
            LabelRequirement::In(key, values) => {
                let wanted = labels.entry(key).or_default();
                wanted.present = true;
                wanted.allowed = Some(narrowed(wanted.allowed.take(), values));
            }
            LabelRequirement::NotIn(key, values) => {
                labels.entry(key).or_default().refused.extend(values.iter().map(String::as_str));
            }
            LabelRequirement::Exists(key) => labels.entry(key).or_default().present = true,
            LabelRequirement::DoesNotExist(key) => labels.entry(key).or_default().absent = true,
        }
    }
    labels.into_iter().find(|(_, wanted)| wanted.is_impossible()).map(|(key, _)| key)
}

impl Wanted<'_> {
    fn is_impossible(&self) -> bool {
        self.present && self.absent
            || self.allowed.as_ref().is_some_and(|allowed| allowed.is_subset(&self.refused))
    }
}

/// The values in both `allowed` and `values`. Without `allowed`, all of `values`.
pub(super) fn narrowed<'r>(allowed: Option<BTreeSet<&'r str>>, values: &'r [String]) -> BTreeSet<&'r str> {
    let values = values.iter().map(String::as_str);
    match allowed {
        None => values.collect(),
        Some(allowed) => values.filter(|value| allowed.contains(value)).collect(),
    }
}
