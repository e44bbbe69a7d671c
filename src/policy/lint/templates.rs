//! Warns about rules for images and containers of kinds that have none.

use crate::domain::GroupVersionKind;
use crate::engine::{Action, Policy, PolicySet, Rule};
use crate::json::Pointer;
use crate::policy::decode::Notes;
use crate::schema::ObjectType;

/// Warns about a rule without effect on any kind that its policy selects. Returns whether it is such a rule.
pub(super) fn rule(
    policy: &Policy,
    rule: &Rule,
    set: &PolicySet,
    place: &Pointer,
    notes: &mut Notes,
) -> bool {
    let (field, path) = match &rule.action {
        Action::Env(_) => (place.join("env"), None),
        Action::Image(image) => (place.join("image"), image.path.as_ref()),
        Action::Fort(_) | Action::Patch(_) | Action::Divide(_) => return false,
    };
    let kinds = policy.selectors.iter().map(|selector| &selector.gvk);
    let mut lacking = None;
    for kind in kinds {
        let places = if let Some(path) = path {
            vec![path.clone()]
        } else {
            let templates = set.active_pod_templates(kind);
            templates.iter().map(|template| template.join("spec").join("containers")).collect()
        };
        if !lacks(kind, &places) {
            return false;
        }
        lacking = lacking.or(Some(kind));
    }
    let Some(kind) = lacking else { return false };
    match path {
        Some(path) => notes.note(
            &field.join("path"),
            format!(
                "the kind {} has no {path}, so that the rule changes nothing; name the field of the image",
                kind.kind
            ),
        ),
        None => notes.note(
            &field,
            format!(
                "the kind {} has no pod template, so that the rule changes nothing; select a kind that has one",
                kind.kind
            ),
        ),
    }
    true
}

/// Whether a built-in kind has none of the places.
fn lacks(kind: &GroupVersionKind, places: &[Pointer]) -> bool {
    ObjectType::built_in(&kind.api_version(), &kind.kind)
        .is_some_and(|of| places.iter().all(|place| of.root().unknown_step(place).is_some()))
}
