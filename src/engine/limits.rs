//! What no rule may change: the identity of the object, and what belongs to the platform that delivers it.

use super::{Draft, chaperon};
use crate::domain::{Failure, Workload, owned_by_platform};
use crate::json::{Object, Pointer, Value};

/// The identity of an object.
pub const IDENTITY: [&[&str]; 5] = [
    &["apiVersion"],
    &["kind"],
    &["metadata", "name"],
    &["metadata", "generateName"],
    &["metadata", "namespace"],
];

/// Maps whose keys may belong to the platform.
const KEYED: [&[&str]; 2] = [&["metadata", "labels"], &["metadata", "annotations"]];

/// Lists whose items may belong to the platform, each with the member that names the owner of an item.
/// `None`: the item itself names it.
const LISTED: [(&[&str], Option<&str>); 2] =
    [(&["metadata", "finalizers"], None), (&["metadata", "ownerReferences"], Some("apiVersion"))];

/// Why a rule may not write at `pointer`, if the pointer alone tells.
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

/// Refuses a revision that changes what no rule may change. The message begins with the place.
pub(super) fn check(object: &Draft<'_>, workload: &Workload) -> Result<(), Failure> {
    compare(object.original(), object.value())?;
    chaperon::check(object, workload)
}

fn compare(before: &Value<'_>, after: &Value<'_>) -> Result<(), Failure> {
    for field in IDENTITY {
        let pointer = Pointer::of(field.iter().copied());
        if before.at(&pointer) != after.at(&pointer) {
            return Err(Failure::unprocessable(format!(
                "{pointer}: says who the object is, and no rule may change it; remove the change from the policy"
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
                    "{}: belongs to the platform, and no rule may change it; remove the change from the policy",
                    pointer.join(key)
                )));
            }
        }
    }
    LISTED.iter().try_for_each(|(field, by)| compare_items(field, *by, before, after))
}

/// Refuses a change of the items that belong to the platform. Other items may change.
fn compare_items(
    field: &[&str],
    by: Option<&str>,
    before: &Value<'_>,
    after: &Value<'_>,
) -> Result<(), Failure> {
    let pointer = Pointer::of(field.iter().copied());
    let owner = |item: &'_ Value<'_>| {
        let named = by.map_or(Some(item), |member| item.get(member)).and_then(Value::as_str);
        named.filter(|name| owned_by_platform(name)).map(str::to_owned)
    };
    let (was, is) = (items(before, &pointer), items(after, &pointer));
    let of_platform = |items: &[Value<'_>]| -> Vec<Value<'static>> {
        items.iter().filter(|item| owner(item).is_some()).map(|item| item.clone().into_owned()).collect()
    };
    if of_platform(was) == of_platform(is) {
        return Ok(());
    }
    let changed =
        was.iter().filter(|item| !is.contains(item)).chain(is.iter().filter(|item| !was.contains(item)));
    let owner = changed.into_iter().chain(was).find_map(owner).unwrap_or_default();
    Err(Failure::unprocessable(format!(
        "{pointer}: an item of {owner:?} belongs to the platform, and no rule may change it; remove the change from the policy"
    )))
}

fn items<'v, 'a>(object: &'v Value<'a>, list: &Pointer) -> &'v [Value<'a>] {
    object.at(list).and_then(Value::as_array).unwrap_or_default()
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

    #[test]
    fn finalizers_and_owners_of_the_platform_stay_and_others_may_change() {
        let value = |text: &'static str| Value::parse(text.as_bytes()).unwrap();
        let before = value(
            r#"{"metadata":{"finalizers":["a/b","multicluster.admiralty.io/x"],"ownerReferences":[{"apiVersion":"apps/v1","name":"r"},{"apiVersion":"multicluster.admiralty.io/v1alpha1","name":"c"}]}}"#,
        );
        for same in [
            r#"{"metadata":{"finalizers":["multicluster.admiralty.io/x","n/o"],"ownerReferences":[{"apiVersion":"multicluster.admiralty.io/v1alpha1","name":"c"}]}}"#,
            r#"{"metadata":{"finalizers":["multicluster.admiralty.io/x"],"ownerReferences":[{"apiVersion":"v1","name":"p"},{"apiVersion":"multicluster.admiralty.io/v1alpha1","name":"c"}]}}"#,
        ] {
            assert_eq!(compare(&before, &value(same)), Ok(()), "{same}");
        }
        let owners = r#""ownerReferences":[{"apiVersion":"multicluster.admiralty.io/v1alpha1","name":"c"}]"#;
        for (finalizers, owners, place) in [
            (
                r#""finalizers":["a/b"]"#,
                owners,
                "/metadata/finalizers: an item of \"multicluster.admiralty.io/x\" ",
            ),
            (
                r#""finalizers":null"#,
                owners,
                "/metadata/finalizers: an item of \"multicluster.admiralty.io/x\" ",
            ),
            (r#""finalizers":"multicluster.admiralty.io/x""#, owners, "/metadata/finalizers: "),
            (
                r#""finalizers":["multicluster.admiralty.io/x","multicluster.admiralty.io/y"]"#,
                owners,
                "/metadata/finalizers: an item of \"multicluster.admiralty.io/y\" ",
            ),
            (
                r#""finalizers":["multicluster.admiralty.io/x"]"#,
                r#""ownerReferences":[{"apiVersion":"multicluster.admiralty.io/v1alpha1","name":"d"}]"#,
                "/metadata/ownerReferences: an item of \"multicluster.admiralty.io/v1alpha1\" ",
            ),
            (
                r#""finalizers":["multicluster.admiralty.io/x"]"#,
                r#""ownerReferences":{}"#,
                "/metadata/ownerReferences: an item of ",
            ),
        ] {
            let after = format!(r#"{{"metadata":{{{finalizers},{owners}}}}}"#);
            let refusal = compare(&before, &Value::parse(after.as_bytes()).unwrap()).unwrap_err();
            assert!(refusal.message().starts_with(place), "{after}: {refusal}");
        }
    }
}
