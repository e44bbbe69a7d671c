//! Places with a step `*`, which stands for each item of a list. All other steps are names in maps.

use std::collections::{BTreeMap, BTreeSet};

use super::locate;
use crate::domain::Failure;
use crate::json::{Pointer, Value};

/// The step that stands for each item of a list.
pub(super) const ITEMS: &str = "*";

/// The part of a pattern before its first `*`, and the rest.
pub(super) fn split(pattern: &Pointer) -> (Pointer, Pointer) {
    let steps =
        pattern.tokens().iter().position(|token| token == ITEMS).unwrap_or_else(|| pattern.tokens().len());
    (pattern.prefix(steps), pattern.suffix(steps))
}

pub(super) fn is_index(token: &str) -> bool {
    !token.is_empty() && token.bytes().all(|byte| byte.is_ascii_digit())
}

/// Whether `place` is one that `pattern` stands for, or is below one.
pub(super) fn covers(pattern: &Pointer, place: &Pointer) -> bool {
    let tokens = pattern.tokens().iter().zip(place.tokens());
    pattern.tokens().len() <= place.tokens().len()
        && tokens.into_iter().all(|(step, token)| step == token || step == ITEMS && is_index(token))
}

/// The pattern that stands for `place`, with `*` for each index.
pub(super) fn of(place: &Pointer) -> Pointer {
    Pointer::of(place.tokens().iter().map(|token| if is_index(token) { ITEMS } else { token }))
}

/// Which problems of `after` are new, where a problem is a place and a text.
///
/// Items of lists move, so an index does not identify an item: of problems that differ only by indexes, as
/// many are new as there are more of them than before. Those at a place that had none before are preferred.
pub(super) fn new_problems(before: &[(&Pointer, &str)], after: &[(&Pointer, &str)]) -> Vec<bool> {
    let in_place: BTreeSet<&(&Pointer, &str)> = before.iter().collect();
    let mut left: BTreeMap<(Pointer, &str), usize> = BTreeMap::new();
    for (place, problem) in before {
        *left.entry((of(place), problem)).or_default() += 1;
    }
    let mut is_new = vec![true; after.len()];
    for only_in_place in [true, false] {
        for (found, is_new) in after.iter().zip(&mut is_new) {
            if !*is_new || only_in_place && !in_place.contains(found) {
                continue;
            }
            if let Some(left) = left.get_mut(&(of(found.0), found.1)).filter(|left| **left > 0) {
                *left -= 1;
                *is_new = false;
            }
        }
    }
    is_new
}

/// Calls `found` with each value that `steps` lead to from `value`, which is at `at`, and its place. Skips
/// what is missing, null or not of the expected kind.
pub(super) fn each<'v, 'a>(
    value: &'v Value<'a>,
    steps: &[String],
    at: &Pointer,
    found: &mut impl FnMut(&'v Value<'a>, &Pointer),
) {
    match (steps.split_first(), value) {
        (None, Value::Null) => {}
        (None, _) => found(value, at),
        (Some((step, rest)), Value::Array(items)) if step == ITEMS => {
            for (position, item) in items.iter().enumerate() {
                each(item, rest, &at.join(position.to_string()), found);
            }
        }
        (Some((step, rest)), Value::Object(members)) => {
            if let Some(member) = members.get(step) {
                each(member, rest, &at.join(step), found);
            }
        }
        (Some(_), _) => {}
    }
}

/// The same, to change them. Missing and null values are skipped; a value of another kind on the way is a
/// failure.
pub(super) fn change<'a>(
    value: &mut Value<'a>,
    steps: &[String],
    at: &Pointer,
    change_one: &mut impl FnMut(&mut Value<'a>, &Pointer) -> Result<(), Failure>,
) -> Result<(), Failure> {
    if value.is_null() {
        return Ok(());
    }
    let Some((step, rest)) = steps.split_first() else {
        return change_one(value, at);
    };
    if step == ITEMS {
        let kind = value.kind();
        let Some(items) = value.array_mut() else {
            return Err(Failure::unprocessable(format!(
                "{at}: must be a list, is {kind}; change the object, or the path in the policy"
            )));
        };
        for (position, item) in items.iter_mut().enumerate() {
            change(item, rest, &at.join(position.to_string()), change_one)?;
        }
        return Ok(());
    }
    let kind = value.kind();
    let Some(members) = value.object_mut() else {
        return Err(locate::not_a_map(at, kind));
    };
    match members.get_mut(step) {
        Some(member) => change(member, rest, &at.join(step), change_one),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &'static str) -> Value<'static> {
        Value::parse(text.as_bytes()).unwrap()
    }

    fn pointer(text: &str) -> Pointer {
        Pointer::parse(text).unwrap()
    }

    #[test]
    fn each_item_of_each_list_is_found_and_changed() {
        let object = value(r#"{"a":[{"b":1},{},{"b":null},{"b":2}],"c":[[{"b":3}],[{"b":4},{"b":5}]]}"#);
        for (pattern, places) in [
            ("/a/*/b", vec!["/a/0/b", "/a/3/b"]),
            ("/c/*/*/b", vec!["/c/0/0/b", "/c/1/0/b", "/c/1/1/b"]),
            ("/a", vec!["/a"]),
            ("/d/*/b", vec![]),
        ] {
            let pattern = pointer(pattern);
            let mut found = Vec::new();
            each(&object, pattern.tokens(), &Pointer::ROOT, &mut |_, at| found.push(at.to_string()));
            assert_eq!(found, places);
            assert!(places.iter().all(|place| covers(&pattern, &pointer(place))));
            let mut changed = object.clone();
            change(&mut changed, pattern.tokens(), &Pointer::ROOT, &mut |value, _| {
                *value = 0.into();
                Ok(())
            })
            .unwrap();
            for place in &places {
                assert_eq!(changed.at(&pointer(place)).unwrap().to_string(), "0");
            }
            assert_eq!(changed == object, places.is_empty());
        }
    }

    #[test]
    fn something_else_on_the_way_is_refused_where_it_stands() {
        let mut object = value(r#"{"a":{"b":1},"c":[{"b":[]}]}"#);
        for (pattern, refusal) in [
            ("/a/*/b", "/a: must be a list, is a map"),
            ("/c/b", "/c: must be a map, is a list"),
            ("/c/*/b/x", "/c/0/b: must be a map, is a list"),
        ] {
            let pattern = pointer(pattern);
            let failure = change(&mut object, pattern.tokens(), &Pointer::ROOT, &mut |_, _| Ok(()));
            assert!(failure.unwrap_err().message().starts_with(refusal), "{pattern}");
        }
    }

    #[test]
    fn a_pattern_covers_what_it_stands_for_and_what_is_below() {
        for (pattern, place, expected) in [
            ("/a/*/b", "/a/10/b/c", true),
            ("/a/*/b", "/a/x/b", false),
            ("/a/*/b", "/a/1", false),
            ("", "/a", true),
            ("/a", "/a", true),
        ] {
            assert_eq!(covers(&pointer(pattern), &pointer(place)), expected, "{pattern} {place}");
        }
    }
}
