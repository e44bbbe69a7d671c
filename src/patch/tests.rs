//! Compares the patch with `json-patch` on random values, and with the exact operations that the design
//! defines.

use proptest::prelude::*;

use super::{Operation, Patch, diff, oracle};
use crate::json::{Number, Object, Value};

fn value(text: &str) -> Value<'_> {
    Value::parse(text.as_bytes()).unwrap()
}

fn patch(before: &str, after: &str) -> String {
    diff(&value(before), &value(after)).to_text()
}

#[test]
fn nothing_changed_is_an_empty_list() {
    assert_eq!(patch(r#"{"a":[1,{"b":null}]}"#, r#"{"a":[1,{"b":null}]}"#), "[]");
    assert_eq!(patch(r#"{"a":1,"b":2}"#, r#"{"b":2,"a":1}"#), "[]");
}

#[test]
fn only_what_changes_is_touched() {
    assert_eq!(
        patch(
            r#"{"s":[{"p":{"pull":"false","d":"1"}},{"p":{"pull":"true"}},{"x":1}]}"#,
            r#"{"s":[{"p":{"pull":null,"d":"1"}},{"p":{}},{"x":1,"y/~z":[]}]}"#
        ),
        r#"[{"op":"replace","path":"/s/0/p/pull","value":null},{"op":"remove","path":"/s/1/p/pull"},{"op":"add","path":"/s/2/y~1~0z","value":[]}]"#
    );
}

#[test]
fn lists_keep_their_common_head_and_tail() {
    assert_eq!(patch("[1,2,3]", "[1,9,2,3]"), r#"[{"op":"add","path":"/1","value":9}]"#);
    assert_eq!(patch("[1,2,3]", "[1,3]"), r#"[{"op":"remove","path":"/1"}]"#);
    assert_eq!(
        patch("[1,2]", "[1,2,3,4]"),
        r#"[{"op":"add","path":"/2","value":3},{"op":"add","path":"/3","value":4}]"#
    );
    assert_eq!(
        patch("[1,2,3,4,5]", "[1,7,5]"),
        r#"[{"op":"replace","path":"/1","value":7},{"op":"remove","path":"/3"},{"op":"remove","path":"/2"}]"#
    );
    assert_eq!(patch("[1,1,1]", "[1,1]"), r#"[{"op":"remove","path":"/2"}]"#);
}

#[test]
fn another_spelling_of_a_number_is_a_change() {
    assert_eq!(patch(r#"{"a":1}"#, r#"{"a":1.0}"#), r#"[{"op":"replace","path":"/a","value":1.0}]"#);
}

#[test]
fn the_root_is_replaced_where_the_kinds_differ() {
    assert_eq!(patch("[]", "{}"), r#"[{"op":"replace","path":"","value":{}}]"#);
}

#[test]
fn the_oracle_can_say_no() {
    let (before, after) = (value("[1,2]"), value("[1]"));
    assert!(!oracle::turns(&before, &after, &Patch::default()));
    let wrong_place = Patch(vec![Operation::Remove(crate::json::Pointer::of(["0"]))]);
    assert!(!oracle::turns(&before, &after, &wrong_place));
    let right = Patch(vec![Operation::Remove(crate::json::Pointer::of(["1"]))]);
    assert!(oracle::turns(&before, &after, &right));
}

/// Names and strings. They are few, so that two values share some, and unusual, so that escapes are tested.
const NAMES: &[&str] = &[
    "", "a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m", "0", "1", "~", "/", "~1", "é\"\\",
    "\u{1}",
];

pub(super) fn any_value() -> impl Strategy<Value = Value<'static>> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        (0i64..4).prop_map(Value::from),
        prop_oneof![Just("1.0"), Just("1e0"), Just("-0")]
            .prop_map(|text| Value::Number(Number::parse(text).unwrap())),
        proptest::sample::select(NAMES).prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..6).prop_map(Value::array),
            proptest::collection::vec((proptest::sample::select(NAMES), inner), 0..20)
                .prop_map(|members| Value::Object(members.into_iter().collect::<Object<'static>>())),
        ]
    })
}

/// Two values that are mostly equal, like an object and its revision.
fn two_values() -> impl Strategy<Value = (Value<'static>, Value<'static>)> {
    let list = || proptest::collection::vec(any_value(), 0..6);
    prop_oneof![
        (any_value(), any_value()),
        (list(), list(), list(), list()).prop_map(|(head, a, b, tail)| {
            let join =
                |middle: Vec<Value<'static>>| Value::array([head.clone(), middle, tail.clone()].concat());
            (join(a), join(b))
        }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    /// `json-patch` turns `before` into `after` for any two values.
    #[test]
    fn the_patch_turns_one_value_into_the_other((before, after) in two_values()) {
        let patch = diff(&before, &after);
        prop_assert!(oracle::turns(&before, &after, &patch));
        prop_assert_eq!(patch.is_empty(), before == after);
        prop_assert_eq!(patch.to_text(), diff(&before.clone().into_owned(), &after.clone().into_owned()).to_text());
    }

    /// The text of a patch is the JSON of its operations.
    #[test]
    fn the_text_of_a_patch_is_json((before, after) in two_values()) {
        let patch = diff(&before, &after);
        let text = patch.to_text();
        let read = serde_json::from_str::<serde_json::Value>(&text).unwrap();
        let paths: Vec<String> = patch.0.iter().map(|operation| operation.path().to_string()).collect();
        let read_paths: Vec<&str> =
            read.as_array().unwrap().iter().map(|operation| operation["path"].as_str().unwrap()).collect();
        prop_assert_eq!(paths, read_paths);
    }
}
