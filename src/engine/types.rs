//! Checks revised objects against the types of their fields.
//!
//! An API server does not decode an object in which a value has the wrong type. Labels and annotations have
//! worse consequences: Go reads a map with one value that is no string as no map, and Karmada then drops all
//! labels and annotations of the object. They are therefore checked in every kind, also where the value was
//! there before the rules.

use std::iter;

use super::{Draft, pattern};
use crate::domain::{Failure, GroupVersionKind};
use crate::json::{Object, Pointer, Value};
use crate::schema::{self, Mismatch, MismatchKind, ObjectType};

/// The maps of `metadata` whose values are strings.
const STRING_MAPS: [&str; 2] = ["labels", "annotations"];

/// The type of an object. A value at one of the `templates` counts as a pod template if it has containers.
pub(super) fn of(gvk: &GroupVersionKind, templates: &[Pointer], object: &Value<'_>) -> ObjectType {
    built_in(gvk).unwrap_or_else(|| {
        ObjectType::custom(templates, |template| {
            let containers = template.join("spec").join("containers");
            let mut has_containers = false;
            pattern::each(object, containers.tokens(), &Pointer::ROOT, &mut |list, _| {
                has_containers |= list.as_array().is_some();
            });
            has_containers
        })
    })
}

/// Of a `PodChaperon`, it is that of a `Pod`.
pub(super) fn built_in(gvk: &GroupVersionKind) -> Option<ObjectType> {
    if gvk.is_pod_chaperon() {
        return ObjectType::built_in("v1", "Pod");
    }
    ObjectType::built_in(&gvk.api_version(), &gvk.kind)
}

/// Refuses a revision that leaves a value of the wrong type. Returns warnings for values that an API server
/// drops, and for wrong ones that were there before the rules.
pub(super) fn check(
    draft: &Draft<'_>,
    gvk: &GroupVersionKind,
    templates: &[Pointer],
) -> Result<Vec<String>, Failure> {
    let touches_template = || templates.iter().any(|template| draft.touches(&pattern::split(template).0));
    if built_in(gvk).is_none() && !draft.touches(&Pointer::of(["metadata"])) && !touches_template() {
        return string_maps(draft.value(), templates).map(|()| Vec::new());
    }
    let after = mismatches(gvk, templates, draft.value());
    if after.is_empty() {
        return Ok(Vec::new());
    }
    let before = mismatches(gvk, templates, draft.original());
    let is_new = {
        fn key((mismatch, problem): &(Mismatch, String)) -> (&Pointer, &str) {
            (&mismatch.place, problem)
        }
        let before: Vec<_> = before.iter().map(key).collect();
        let after: Vec<_> = after.iter().map(key).collect();
        pattern::new_problems(&before, &after)
    };
    let mut warnings = Vec::new();
    for ((Mismatch { place, problem }, text), is_new) in after.into_iter().zip(is_new) {
        let (is_refused, advice) = match problem {
            MismatchKind::Type { .. } => (
                is_new || gvk.is_pod_chaperon() || is_in_string_map(&place, templates),
                if is_new { "change the rule" } else { "an API server refuses it: change the object" },
            ),
            MismatchKind::UnknownField => {
                (is_new && gvk.is_pod_chaperon(), "an API server drops it: check its spelling")
            }
        };
        let message = format!("{place}: {text}; {advice}");
        if is_refused {
            return Err(Failure::unprocessable(message));
        }
        warnings.push(message);
    }
    Ok(warnings)
}

/// The mismatches of an object, each with its problem as text.
fn mismatches(gvk: &GroupVersionKind, templates: &[Pointer], object: &Value<'_>) -> Vec<(Mismatch, String)> {
    let mismatches = schema::check(object, of(gvk, templates, object).root(), &Pointer::ROOT);
    mismatches
        .into_iter()
        .map(|mismatch| {
            let problem = mismatch.problem.to_string();
            (mismatch, problem)
        })
        .collect()
}

/// Refuses a label or an annotation that is no string, in `metadata` and in that of the templates.
fn string_maps(object: &Value<'_>, templates: &[Pointer]) -> Result<(), Failure> {
    let mut wrong = None;
    for map in string_map_places(templates) {
        pattern::each(object, map.tokens(), &Pointer::ROOT, &mut |value, place| {
            let mut members = value.as_object().into_iter().flat_map(Object::iter);
            let found = members.find(|(_, value)| value.as_str().is_none());
            wrong = wrong.take().or_else(|| found.map(|(name, value)| (place.join(name), value.kind())));
        });
    }
    match wrong {
        None => Ok(()),
        Some((place, kind)) => Err(Failure::unprocessable(format!(
            "{place}: must be a string, is {kind}; change the object, or the rule that writes it"
        ))),
    }
}

fn is_in_string_map(place: &Pointer, templates: &[Pointer]) -> bool {
    string_map_places(templates).any(|map| pattern::covers(&map, place))
}

fn string_map_places(templates: &[Pointer]) -> impl Iterator<Item = Pointer> {
    let own = iter::once(Pointer::of(["metadata"]));
    let places = own.chain(templates.iter().map(|template| template.join("metadata")));
    places.flat_map(|metadata| STRING_MAPS.map(|map| metadata.join(map)))
}
