//! What no rule may touch: who the object is, and what belongs to the platform that delivers it.

use super::Draft;
use crate::domain::{Failure, owned_by_platform};
use crate::json::{Object, Pointer, Value};

/// Fields that say who an object is.
pub const IDENTITY: [&[&str]; 5] = [
    &["apiVersion"],
    &["kind"],
    &["metadata", "name"],
    &["metadata", "generateName"],
    &["metadata", "namespace"],
];

/// Maps whose keys may belong to the platform.
const KEYED: [&[&str]; 2] = [&["metadata", "labels"], &["metadata", "annotations"]];

/// Why a rule may not write at `pointer`, as far as the place alone tells.
pub fn protected_by(pointer: &Pointer) -> Option<String> {
    let overlaps = |field: &[&str]| {
        let field = Pointer::of(field.iter().copied());
        pointer.contains(&field) || field.contains(pointer)
    };
    if let Some(field) = IDENTITY.into_iter().find(|field| overlaps(field)) {
        return Some(format!("/{} says who the object is, and no rule may change it", field.join("/")));
    }
    let field = KEYED.into_iter().find(|field| overlaps(field))?;
    match pointer.tokens().get(field.len()) {
        Some(key) if !owned_by_platform(key) => None,
        Some(key) => Some(format!("{key:?} belongs to the platform, and no rule may change it")),
        None => Some(format!("/{} holds keys of the platform; name one key in it", field.join("/"))),
    }
}

/// Refuses a revision that touches what no rule may touch.
pub fn crosses(object: &Draft<'_>) -> Result<(), Failure> {
    let places = IDENTITY.into_iter().chain(KEYED);
    if !places.map(|field| Pointer::of(field.iter().copied())).any(|place| object.touches(&place)) {
        return Ok(());
    }
    let before = object.original().to_value().map_err(|error| Failure::unprocessable(error.to_string()))?;
    compare(&before, &object.to_value()?)
}

fn compare(before: &Value<'_>, after: &Value<'_>) -> Result<(), Failure> {
    for field in IDENTITY {
        let pointer = Pointer::of(field.iter().copied());
        if before.at(&pointer) != after.at(&pointer) {
            return Err(Failure::unprocessable(format!(
                "{pointer}: says who the object is, and no rule may change it; take the change out of the policy"
            )));
        }
    }
    for field in KEYED {
        let pointer = Pointer::of(field.iter().copied());
        let (was, is) = (before.at(&pointer), after.at(&pointer));
        if let (Some(was), Some(is)) = (was, is)
            && was.is_same(is)
        {
            continue;
        }
        let keys = [was, is].into_iter().flatten().filter_map(Value::as_object).flat_map(Object::iter);
        for (key, _) in keys.filter(|(key, _)| owned_by_platform(key)) {
            if was.and_then(|map| map.get(key)) != is.and_then(|map| map.get(key)) {
                return Err(Failure::unprocessable(format!(
                    "{}: belongs to the platform, and no rule may change it; take the change out of the policy",
                    pointer.join(key)
                )));
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn protected_places_are_known_by_their_pointer() {
        for pointer in [
            "",
            "/apiVersion",
            "/kind/x",
            "/metadata",
            "/metadata/name",
            "/metadata/labels",
            "/metadata/annotations/work.karmada.io~1name",
        ] {
            assert!(protected_by(&Pointer::parse(pointer).unwrap()).is_some(), "{pointer}");
        }
        for pointer in [
            "/spec",
            "/metadata/labels/app",
            "/metadata/annotations/cdos~1az",
            "/metadata/finalizers",
            "/kinds",
        ] {
            assert_eq!(protected_by(&Pointer::parse(pointer).unwrap()), None, "{pointer}");
        }
    }

    #[test]
    fn a_revision_that_touches_them_is_refused_with_the_place() {
        let value = |text: &'static str| Value::parse(text.as_bytes()).unwrap();
        let before =
            value(r#"{"kind":"A","metadata":{"name":"n","labels":{"karmada.io/managed":"true","app":"x"}}}"#);
        let same =
            value(r#"{"kind":"A","metadata":{"name":"n","labels":{"karmada.io/managed":"true","app":"y"}}}"#);
        assert_eq!(compare(&before, &same), Ok(()));
        for (after, place) in [
            (r#"{"kind":"B","metadata":{"name":"n","labels":{"karmada.io/managed":"true"}}}"#, "/kind: "),
            (
                r#"{"kind":"A","metadata":{"name":"m","labels":{"karmada.io/managed":"true"}}}"#,
                "/metadata/name: ",
            ),
            (r#"{"kind":"A","metadata":{"name":"n","namespace":"s"}}"#, "/metadata/namespace: "),
            (r#"{"kind":"A","metadata":{"name":"n"}}"#, "/metadata/labels/karmada.io~1managed: "),
            (r#"{"kind":"A"}"#, "/metadata/name: "),
            (
                r#"{"kind":"A","metadata":{"name":"n","labels":{"karmada.io/managed":"true"},"annotations":{"work.karmada.io/x":""}}}"#,
                "/metadata/annotations/work.karmada.io~1x: ",
            ),
        ] {
            let refusal = compare(&before, &value(after)).unwrap_err();
            assert!(refusal.message().starts_with(place), "{refusal}");
        }
    }
}
