//! Undoing, over random changes and what happens to an object between a revision and its undo.

use proptest::prelude::*;
use proptest::sample::select;

use super::record::{put_in, replace, take_out};
use super::*;
use crate::patch::{Operation, diff};

fn value(text: &str) -> Value<'static> {
    Value::parse(text.as_bytes()).unwrap().into_owned()
}

/// What an API server makes of `before` when it applies the patch to `after`: new members come last.
fn patched(before: &Value<'static>, after: &Value<'static>) -> Value<'static> {
    let mut value = before.clone();
    for operation in diff(before, after).0 {
        match operation {
            Operation::Add(place, added) => drop(put_in(&mut value, &place, &added)),
            Operation::Replace(place, written) => drop(replace(&mut value, &place, &written)),
            Operation::Remove(place) => drop(take_out(&mut value, &place)),
        }
    }
    value
}

/// The undo of a change, after it has been kept as text.
fn undo(before: &Value<'static>, after: &Value<'static>) -> Undo<'static> {
    let undo = Undo::of(before, after);
    let kept = undo.to_text();
    let read = Undo::from_value(&value(&kept)).unwrap();
    assert_eq!(read, undo);
    read
}

/// The object with its members sorted and its numbers as Go writes them, as an API server stores it.
fn stored(object: &Value<'static>) -> Value<'static> {
    match object {
        Value::Object(members) => {
            let mut members: Vec<_> =
                members.iter().map(|(name, value)| (name.to_owned(), stored(value))).collect();
            members.sort_by(|a, b| a.0.cmp(&b.0));
            Value::Object(members.into_iter().collect())
        }
        Value::Array(items) => Value::array(items.iter().map(stored).collect()),
        Value::Number(number) if number.as_i64().is_none() => {
            let float: f64 = number.as_str().parse().unwrap();
            value(&if float == 0.0 { "0".to_owned() } else { float.to_string() })
        }
        other => other.clone(),
    }
}

fn any_value() -> impl Strategy<Value = Value<'static>> {
    const SCALARS: &[&str] =
        &["null", "true", "1", "1.0", "2e0", "-0.0", "0.30000000000000004", "\"a\"", "\"\"", "{}", "[]"];
    let leaf = select(SCALARS).prop_map(value);
    leaf.prop_recursive(4, 24, 4, |inner| {
        let names = select(vec!["a", "b", "c", "labels", "~/"]);
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::array),
            proptest::collection::vec((names, inner), 0..4)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2048))]

    /// Every byte comes back: nulls, empty maps and lists, the order of members, the spelling of numbers.
    #[test]
    fn whatever_changed_comes_back_as_it_was(before in any_value(), after in any_value()) {
        let undo = undo(&before, &after);
        let revised = patched(&before, &after);
        prop_assert_eq!(undo.apply(&revised).unwrap().to_string(), before.to_string());
        prop_assert_eq!(undo.is_empty(), before == after);
    }

    /// So it does after an API server has stored it, but for what it does to everything that it stores.
    #[test]
    fn an_api_server_in_between_does_no_harm(before in any_value(), after in any_value()) {
        let revised = stored(&patched(&before, &after));
        prop_assert_eq!(stored(&undo(&before, &after).apply(&revised).unwrap()), stored(&before));
    }

    /// Whatever it is applied to, it either fails or leaves what it should; it never panics.
    #[test]
    fn anything_else_is_refused_or_already_undone(
        before in any_value(), after in any_value(), other in any_value(),
    ) {
        let undo = undo(&before, &after);
        if let Ok(undone) = undo.apply(&other) {
            // Applied once more, it finds what was there before.
            prop_assert!(undo.apply(&undone).is_ok() || undo.0.iter().any(|step| step.length.is_some()));
        }
    }
}

#[test]
fn what_somebody_else_changed_is_found_and_what_stands_beside_it_is_left() {
    let before = value(r#"{"steps":[{"pull":"a"},{"pull":"b"}],"metadata":{"name":"n"}}"#);
    let after = value(
        r#"{"steps":[{"pull":null},{"pull":"b"}],"metadata":{"name":"n","labels":{"zone":"z"}},"made":{"x":1}}"#,
    );
    let undo = undo(&before, &after);
    let applied = |text: &str| undo.apply(&value(text)).map(|value| value.to_string());
    let place = |text: &str| applied(text).unwrap_err().place.to_string();
    // Others have added labels, to the map that we made; ours goes.
    assert_eq!(
        applied(r#"{"steps":[{"pull":null,"n":1},{"pull":"c"}],"metadata":{"name":"n","labels":{"zone":"z","id":"i"}},"made":{"x":1}}"#).unwrap(),
        r#"{"steps":[{"pull":"a","n":1},{"pull":"c"}],"metadata":{"name":"n","labels":{"id":"i"}}}"#
    );
    // Somebody has taken a change back by hand.
    assert_eq!(
        applied(r#"{"steps":[{"pull":"a"},{"pull":"b"}],"metadata":{"name":"n","labels":{"zone":"z"}}}"#)
            .unwrap(),
        before.to_string()
    );
    for (found, at) in [
        (
            r#"{"steps":[{"pull":"x"},{"pull":"b"}],"metadata":{"labels":{"zone":"z"}},"made":{"x":1}}"#,
            "/steps/0/pull",
        ),
        (r#"{"steps":[],"metadata":{"labels":{"zone":"z"}},"made":{"x":1}}"#, "/steps/0/pull"),
        (
            r#"{"steps":[{"pull":null}],"metadata":{"labels":{"zone":"y"}},"made":{"x":1}}"#,
            "/metadata/labels/zone",
        ),
        (r#"{"steps":[{"pull":null}],"metadata":{"labels":{"zone":"z"}},"made":{"x":1,"y":1}}"#, "/made"),
        (
            r#"{"steps":{"0":{"pull":"x"}},"metadata":{"labels":{"zone":"z"}},"made":{"x":1}}"#,
            "/steps/0/pull",
        ),
    ] {
        assert_eq!(place(found), at, "{found}");
    }
}

#[test]
fn items_of_a_list_come_back_only_if_the_list_is_as_long_as_it_was_left() {
    let (before, after) = (value(r#"{"l":[1,2,3]}"#), value(r#"{"l":[1,3]}"#));
    let undo = undo(&before, &after);
    assert_eq!(undo.apply(&after).unwrap().to_string(), before.to_string());
    for found in [r#"{"l":[1,2,3]}"#, r#"{"l":[1]}"#, r#"{"l":{}}"#] {
        assert_eq!(undo.apply(&value(found)).unwrap_err().place.to_string(), "/l/1", "{found}");
    }
}

#[test]
fn only_what_this_version_writes_is_read() {
    for text in [
        "{}",
        "null",
        "[1]",
        r#"[{"path":"/a"}]"#,
        r#"[{"path":"a","was":1}]"#,
        r#"[{"path":"/a","was":1,"position":-1}]"#,
        r#"[{"path":"/a","was":1,"length":"1"}]"#,
        r#"[{"path":"/a","was":1,"moved":"/b"}]"#,
    ] {
        assert_eq!(Undo::from_value(&value(text)), Err(UndoTextError), "{text}");
    }
    let text = r#"[{"path":"/a~1b","was":null},{"path":"","wrote":1.0,"length":2}]"#;
    assert_eq!(Undo::from_value(&value(text)).unwrap().to_text(), text);
}
