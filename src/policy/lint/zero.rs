//! Warns about divided numbers that can become 0 where the API server requires at least 1.

use crate::domain::GroupVersionKind;
use crate::engine::{Action, Policy, Rule};
use crate::json::Pointer;
use crate::policy::decode::Notes;

/// Fields with a minimum of 1. Fields whose minimum depends on other fields are not included.
const AT_LEAST_ONE: [(&str, &str, &[&[&str]]); 2] = [
    ("autoscaling", "HorizontalPodAutoscaler", &[&["spec", "minReplicas"], &["spec", "maxReplicas"]]),
    ("batch", "Job", &[&["spec", "template", "spec", "activeDeadlineSeconds"]]),
];

pub(super) fn rule(policy: &Policy, rule: &Rule, place: &Pointer, notes: &mut Notes) {
    let Action::Divide(divide) = &rule.action else { return };
    if divide.minimum > 0 || divide.floor > 0 {
        return;
    }
    let selected = policy.selectors.iter().map(|selector| &selector.gvk);
    let refusing = selected.into_iter().find(|gvk| is_at_least_one(gvk, &divide.path));
    if let Some(gvk) = refusing {
        let (path, kind) = (&divide.path, &gvk.kind);
        let problem = format!(
            "a part can be 0, and no API server takes 0 at {path} of a {kind}; add `floor: 1`, or `minimum: 1` where the sum must stay the whole"
        );
        notes.note(&place.join("divide"), problem);
    }
}

fn is_at_least_one(gvk: &GroupVersionKind, path: &Pointer) -> bool {
    AT_LEAST_ONE.iter().any(|(group, kind, fields)| {
        *group == gvk.group && *kind == gvk.kind && fields.iter().any(|field| path.tokens() == *field)
    })
}
