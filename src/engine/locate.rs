//! Reads and writes places in an object, by a pointer that leads through maps.

use crate::domain::Failure;
use crate::json::{Kind, Object, Pointer, Value};

/// The value at `pointer`. `None` if it, or a map on the way to it, is missing or null.
///
/// Fails, with the place, if something else than a map is on the way.
pub(super) fn find<'v, 'a>(
    object: &'v Value<'a>,
    pointer: &Pointer,
) -> Result<Option<&'v Value<'a>>, Failure> {
    let mut place = object;
    for (depth, token) in pointer.tokens().iter().enumerate() {
        let Some(members) = map(place, || pointer.prefix(depth))? else {
            return Ok(None);
        };
        match members.get(token) {
            Some(next) => place = next,
            None => return Ok(None),
        }
    }
    Ok((!place.is_null()).then_some(place))
}

/// Puts `value` at `pointer`, and makes the maps on the way where they are missing or null.
///
/// Fails, and changes nothing, if something else than a map is on the way. `pointer` must not be the root.
pub(super) fn set<'a>(object: &mut Value<'a>, pointer: &Pointer, value: Value<'a>) -> Result<(), Failure> {
    let Some((last, parents)) = pointer.tokens().split_last() else {
        unreachable!("rules are checked at load: no pointer of theirs is the root");
    };
    check_parent(object, pointer)?;
    let mut place = object;
    for token in parents {
        let members = map_made(place);
        if members.get(token).is_none() {
            members.insert(token.clone(), Value::Null);
        }
        place = members.get_mut(token).unwrap_or_else(|| unreachable!("it was there or has been put there"));
    }
    map_made(place).insert(last.clone(), value);
    Ok(())
}

/// Removes the member at `pointer`, if it and the maps on the way exist.
pub(super) fn remove(object: &mut Value<'_>, pointer: &Pointer) -> Result<(), Failure> {
    let (Some((last, parents)), Some(parent)) =
        (pointer.tokens().split_last(), check_parent(object, pointer)?)
    else {
        return Ok(());
    };
    if parent.get(last).is_none() {
        return Ok(());
    }
    let parent = parents.iter().try_fold(object, |place, token| place.object_mut()?.get_mut(token));
    if let Some(parent) = parent.and_then(Value::object_mut) {
        parent.remove(last);
    }
    Ok(())
}

/// The map that holds the place at `pointer`; `None` if it is missing or null.
fn check_parent<'v, 'a>(object: &'v Value<'a>, pointer: &Pointer) -> Result<Option<&'v Object<'a>>, Failure> {
    let parent = pointer.parent();
    match find(object, &parent)? {
        Some(value) => map(value, || parent.clone()),
        None => Ok(None),
    }
}

/// `None` for null. The pointer is for the message.
fn map<'v, 'a>(
    place: &'v Value<'a>,
    pointer: impl Fn() -> Pointer,
) -> Result<Option<&'v Object<'a>>, Failure> {
    match place {
        Value::Null => Ok(None),
        Value::Object(members) => Ok(Some(members)),
        other => Err(not_a_map(&pointer(), other.kind())),
    }
}

pub(super) fn not_a_map(pointer: &Pointer, kind: Kind) -> Failure {
    Failure::unprocessable(format!(
        "{pointer}: must be a map, is {kind}; change the object, or the path in the rule"
    ))
}

/// Null becomes an empty map. Anything else than a map has been refused before.
fn map_made<'v, 'a>(place: &'v mut Value<'a>) -> &'v mut Object<'a> {
    if place.is_null() {
        *place = Value::empty_object();
    }
    place.object_mut().unwrap_or_else(|| unreachable!("the way has been checked"))
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
    fn maps_are_made_where_they_are_missing_or_null() {
        for (before, after) in [
            ("{}", r#"{"a":{"b":1}}"#),
            (r#"{"a":null}"#, r#"{"a":{"b":1}}"#),
            (r#"{"a":{"b":null,"c":2}}"#, r#"{"a":{"b":1,"c":2}}"#),
            ("null", r#"{"a":{"b":1}}"#),
        ] {
            let mut object = value(before);
            set(&mut object, &pointer("/a/b"), 1.into()).unwrap();
            assert_eq!(object.to_string(), after);
        }
    }

    #[test]
    fn nothing_is_removed_or_made_where_nothing_is() {
        for (before, after) in [
            ("{}", "{}"),
            (r#"{"a":null}"#, r#"{"a":null}"#),
            (r#"{"a":{"b":null,"c":2}}"#, r#"{"a":{"c":2}}"#),
        ] {
            let mut object = value(before);
            remove(&mut object, &pointer("/a/b")).unwrap();
            assert_eq!(object.to_string(), after);
        }
    }

    #[test]
    fn something_else_on_the_way_is_refused_and_nothing_changes() {
        for (before, place) in
            [(r#"{"a":"text"}"#, "/a: must be a map, is a string"), ("[]", ": must be a map, is a list")]
        {
            let mut object = value(before);
            for refusal in [
                set(&mut object, &pointer("/a/b"), 1.into()).unwrap_err(),
                remove(&mut object, &pointer("/a/b")).unwrap_err(),
                find(&object, &pointer("/a/b")).map(drop).unwrap_err(),
            ] {
                assert!(refusal.message().starts_with(place), "{refusal}");
            }
            assert_eq!(object.to_string(), before);
        }
    }
}
