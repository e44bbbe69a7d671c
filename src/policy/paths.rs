//! Checks the paths of rules against the kinds that the policy selects.

use super::decode::Notes;
use super::lint::operations;
use crate::domain::GroupVersionKind;
use crate::engine::{Action, PatchKind, ResourceSelector, below_string, list_in_path};
use crate::json::Pointer;

/// Reports paths of the rule at `place` that do not exist in objects of the selected kinds.
pub(super) fn check(action: &Action, selectors: &[ResourceSelector], place: &Pointer, notes: &mut Notes) {
    let kinds = || selectors.iter().map(|selector| &selector.gvk);
    match action {
        Action::Divide(divide) => {
            let field = place.concat(&Pointer::of(["divide", "path"]));
            let is_item = |step: &str| step == "*" || step.bytes().all(|byte| byte.is_ascii_digit());
            through_items(&divide.path, kinds(), &field, is_item, notes);
        }
        Action::Fort(fort) => {
            let field = place.concat(&Pointer::of(["fort", "steps"]));
            through_maps(&fort.steps.parent(), kinds(), &field, notes);
        }
        Action::Patch(patching) if matches!(patching.kind, PatchKind::Json(_)) => {
            let value = place.concat(&Pointer::of(["patch", "value"]));
            for operation in operations(&patching.value) {
                for (name, text) in operation.pointers() {
                    let Ok(path) = Pointer::parse(text) else { continue };
                    let below = |kind| below_string(&path, Some(kind));
                    // A problem that holds for every kind has been reported already.
                    if below_string(&path, None).is_some() || !kinds().all(|kind| below(kind).is_some()) {
                        continue;
                    }
                    if let Some(problem) = kinds().find_map(below) {
                        notes.note(&value.concat(&operation.field).join(name), problem);
                    }
                }
            }
        }
        Action::Image(image) => {
            if let Some(path) = &image.path {
                let field = place.concat(&Pointer::of(["image", "path"]));
                through_items(path, kinds(), &field, |step| step == "*", notes);
            }
        }
        Action::Patch(_) | Action::Env(_) => {}
    }
}

/// Reports a path through maps that meets a list in objects of one of the kinds.
pub(super) fn through_maps<'k>(
    path: &Pointer,
    kinds: impl IntoIterator<Item = &'k GroupVersionKind>,
    field: &Pointer,
    notes: &mut Notes,
) {
    if let Some((kind, list)) = met(path, kinds) {
        notes.note(
            field,
            format!(
                "{path} meets a list: {list} of a {kind} is one; name a place that is reached through maps only"
            ),
        );
    }
}

/// Reports a path that meets a list without a step for its items. `is_item` recognizes such a step, for
/// example `*` for each item.
pub(super) fn through_items<'k>(
    path: &Pointer,
    kinds: impl IntoIterator<Item = &'k GroupVersionKind>,
    field: &Pointer,
    is_item: impl Fn(&str) -> bool,
    notes: &mut Notes,
) {
    let met = met(path, kinds);
    let step = |list: &Pointer| path.tokens().get(list.tokens().len());
    let wrong = met.filter(|(_, list)| step(list).is_none_or(|step| !is_item(step)));
    if let Some((kind, list)) = wrong {
        notes.note(field, format!("{path} meets a list: {list} of a {kind} is one; write `{list}/*`"));
    }
}

/// The first list on a path or at its end, in objects of one of the kinds.
fn met<'k>(
    path: &Pointer,
    kinds: impl IntoIterator<Item = &'k GroupVersionKind>,
) -> Option<(&'k str, Pointer)> {
    kinds.into_iter().find_map(|kind| Some((kind.kind.as_str(), list_in_path(path, kind)?)))
}
