//! Revised objects held against the types of their fields.
//!
//! An API server does not decode an object in which a value has the wrong type. Labels and annotations have worse consequences: Go
//! reads a map with one value that is no string as no map, and Karmada then drops all labels and annotations of the object. They are
//! therefore held to strings in every kind, also where the value was there before the rules.

use std::collections::BTreeMap;
use std::iter;

use super::revise::Request;
use super::{Draft, pattern};
use crate::domain::{ADMIRALTY_GROUP, Failure, GroupVersionKind, POD_CHAPERON};
use crate::json::{Object, Pointer, Value};
use crate::schema::{self, Mismatch, MismatchKind, ObjectType};

/// The maps of `metadata` whose values are strings.
const STRING_MAPS: [&str; 2] = ["labels", "annotations"];

/// The type of an object. What is at one of the `templates` counts as a pod template if it has containers.
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

/// The type of a kind of Kubernetes' own, or of a `PodChaperon`, which is like a `Pod`.
fn built_in(gvk: &GroupVersionKind) -> Option<ObjectType> {
    if is_chaperon(gvk) {
        return ObjectType::built_in("v1", "Pod");
    }
    ObjectType::built_in(&gvk.api_version(), &gvk.kind)
}

fn is_chaperon(gvk: &GroupVersionKind) -> bool {
    (gvk.group.as_str(), gvk.kind.as_str()) == (ADMIRALTY_GROUP, POD_CHAPERON)
}

/// Refuses a revision that leaves a value of the wrong type. Gives warnings for values that an API server would drop, and for wrong
/// ones that were there before the rules.
pub(super) fn check(
    object: &Draft<'_>,
    request: Request<'_, '_>,
    templates: &[Pointer],
) -> Result<Vec<String>, Failure> {
    let gvk = &request.workload.gvk;
    let touches_template = || templates.iter().any(|template| object.touches(&pattern::split(template).0));
    if built_in(gvk).is_none() && !object.touches(&Pointer::of(["metadata"])) && !touches_template() {
        return string_maps(object, templates).map(|()| Vec::new());
    }
    let after = object.to_value()?;
    let found = mismatches(gvk, templates, &after);
    if found.is_empty() {
        return Ok(Vec::new());
    }
    let before = object.original().to_value().map_err(|error| Failure::unprocessable(error.to_string()))?;
    let mut earlier = BTreeMap::new();
    for mismatch in mismatches(gvk, templates, &before) {
        *earlier.entry(key(&mismatch)).or_insert(0_usize) += 1;
    }
    let mut warnings = Vec::new();
    for mismatch in found {
        let left = earlier.get_mut(&key(&mismatch)).filter(|left| **left > 0);
        let is_new = left.is_none();
        if let Some(left) = left {
            *left -= 1;
        }
        let is_type = matches!(mismatch.problem, MismatchKind::Type { .. });
        let is_refused = match (is_type, is_chaperon(gvk)) {
            (true, true) => true,
            (true, false) => is_new || is_in_string_map(&mismatch.place, templates),
            (false, is_chaperon) => is_new && is_chaperon,
        };
        let message = message(&mismatch, is_new);
        if is_refused {
            return Err(Failure::unprocessable(message));
        }
        warnings.push(message);
    }
    Ok(warnings)
}

fn mismatches(gvk: &GroupVersionKind, templates: &[Pointer], object: &Value<'_>) -> Vec<Mismatch> {
    schema::check(object, of(gvk, templates, object).root(), &Pointer::ROOT)
}

/// What a mismatch is, wherever in a list it stands.
fn key(Mismatch { place, problem }: &Mismatch) -> (Pointer, String) {
    let is_index = |token: &str| token.bytes().all(|byte| byte.is_ascii_digit());
    let steps = place.tokens().iter().map(|token| if is_index(token) { "*" } else { token.as_str() });
    (Pointer::of(steps), problem.to_string())
}

fn message(mismatch: &Mismatch, is_new: bool) -> String {
    let Mismatch { place, problem } = mismatch;
    let advice = match (problem, is_new) {
        (MismatchKind::Type { .. }, true) => "change the rule",
        (MismatchKind::Type { .. }, false) => "an API server refuses it: change the object",
        (MismatchKind::UnknownField, _) => "an API server drops it: check its spelling",
    };
    format!("{place}: {problem}; {advice}")
}

/// Refuses a label or an annotation that is no string, in `metadata` and in that of the templates.
fn string_maps(object: &Draft<'_>, templates: &[Pointer]) -> Result<(), Failure> {
    for map in string_map_places(templates) {
        let (place, steps) = pattern::split(&map);
        // Something else than a map on the way is no map of labels.
        let Ok(Some(value)) = object.peek(&place) else { continue };
        let mut wrong = None;
        pattern::each(&value, steps.tokens(), &place, &mut |value, place| {
            let mut members = value.as_object().into_iter().flat_map(Object::iter);
            let found = members.find(|(_, value)| value.as_str().is_none());
            wrong = wrong.take().or_else(|| found.map(|(name, value)| (place.join(name), value.kind())));
        });
        if let Some((place, kind)) = wrong {
            return Err(Failure::unprocessable(format!(
                "{place}: must be a string, is {kind}; change the object, or the rule that writes it"
            )));
        }
    }
    Ok(())
}

fn is_in_string_map(place: &Pointer, templates: &[Pointer]) -> bool {
    string_map_places(templates).any(|map| pattern::covers(&map, place))
}

fn string_map_places(templates: &[Pointer]) -> impl Iterator<Item = Pointer> {
    let own = iter::once(Pointer::of(["metadata"]));
    let places = own.chain(templates.iter().map(|template| template.join("metadata")));
    places.flat_map(|metadata| STRING_MAPS.map(|map| metadata.join(map)))
}
