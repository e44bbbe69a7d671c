//! The operations one by one, and compared with the crate `json-patch` on random documents.

use proptest::prelude::*;

use super::*;
use crate::json::{Kind, MAX_DEPTH};
use crate::patch::{PatchErrorKind, oracle};

fn value(text: &str) -> Value<'_> {
    Value::parse(text.as_bytes()).unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn operations(patch: &str) -> Vec<Op<'_>> {
    parse(&value(patch)).unwrap()
}

fn run(
    object: &str,
    patch: &str,
    missing: MissingPath,
) -> Result<String, (String, Option<usize>, PatchErrorKind)> {
    match apply(&value(object), &operations(patch), missing) {
        Ok(value) => Ok(value.to_string()),
        Err(error) => Err((error.place.to_string(), error.operation, error.problem)),
    }
}

fn done(object: &str, patch: &str) -> String {
    run(object, patch, MissingPath::Fail).unwrap()
}

fn failed(object: &str, patch: &str) -> (String, PatchErrorKind) {
    let (place, _, problem) = run(object, patch, MissingPath::Fail).unwrap_err();
    (place, problem)
}

fn fault(patch: &str) -> (String, PatchErrorKind) {
    let fault = parse(&value(patch)).unwrap_err();
    (fault.place.to_string(), fault.problem)
}

#[test]
fn every_operation_does_what_it_says() {
    for (object, patch, result) in [
        (r#"{"b":1}"#, r#"[{"op":"add","path":"/a","value":null}]"#, r#"{"b":1,"a":null}"#),
        (r#"{"a":1}"#, r#"[{"op":"add","path":"/a","value":[2]}]"#, r#"{"a":[2]}"#),
        ("[1,2]", r#"[{"op":"add","path":"/1","value":9}]"#, "[1,9,2]"),
        ("[1,2]", r#"[{"op":"add","path":"/2","value":9}]"#, "[1,2,9]"),
        ("[1,2]", r#"[{"op":"add","path":"/-","value":9}]"#, "[1,2,9]"),
        ("[1]", r#"[{"op":"add","path":"","value":{"a":1}}]"#, r#"{"a":1}"#),
        (
            r#"{"a":1,"b":[1,2]}"#,
            r#"[{"op":"remove","path":"/a"},{"op":"remove","path":"/b/0"}]"#,
            r#"{"b":[2]}"#,
        ),
        (r#"{"a":1}"#, r#"[{"op":"replace","path":"/a","value":{"x":null}}]"#, r#"{"a":{"x":null}}"#),
        ("[1,2]", r#"[{"op":"replace","path":"/1","value":3}]"#, "[1,3]"),
        ("1", r#"[{"op":"replace","path":"","value":2}]"#, "2"),
        (
            r#"{"a":{"b":1},"c":{}}"#,
            r#"[{"op":"move","from":"/a/b","path":"/c/d"}]"#,
            r#"{"a":{},"c":{"d":1}}"#,
        ),
        ("[1,2,3]", r#"[{"op":"move","from":"/0","path":"/2"}]"#, "[2,3,1]"),
        ("[1,2,3]", r#"[{"op":"move","from":"/2","path":"/0"}]"#, "[3,1,2]"),
        (r#"{"a":1}"#, r#"[{"op":"move","from":"/a","path":"/a"}]"#, r#"{"a":1}"#),
        (r#"{"a":{"b":1}}"#, r#"[{"op":"move","from":"/a/b","path":"/a"}]"#, r#"{"a":1}"#),
        (
            r#"{"a":[1]}"#,
            r#"[{"op":"copy","from":"/a","path":"/b"},{"op":"add","path":"/b/-","value":2}]"#,
            r#"{"a":[1],"b":[1,2]}"#,
        ),
        (r#"{"a":{"b":1}}"#, r#"[{"op":"copy","from":"/a","path":"/a/c"}]"#, r#"{"a":{"b":1,"c":{"b":1}}}"#),
        (
            r#"{"a/b":1,"m~n":2,"":3}"#,
            r#"[{"op":"remove","path":"/a~1b"},{"op":"test","path":"/m~0n","value":2},{"op":"replace","path":"/","value":4}]"#,
            r#"{"m~n":2,"":4}"#,
        ),
        (
            r#"{"a":[1.0,{"x":10,"y":2}]}"#,
            r#"[{"op":"test","path":"/a","value":[1,{"y":2e0,"x":1e1}],"other":0}]"#,
            r#"{"a":[1.0,{"x":10,"y":2}]}"#,
        ),
        (r#"{"a":1.0}"#, "[]", r#"{"a":1.0}"#),
        (r#"{"a":1.0}"#, "null", r#"{"a":1.0}"#),
        (
            r#"{"-":1,"01":2}"#,
            r#"[{"op":"replace","path":"/-","value":3},{"op":"remove","path":"/01"}]"#,
            r#"{"-":3}"#,
        ),
    ] {
        assert_eq!(done(object, patch), result, "{object} {patch}");
    }
}

#[test]
fn what_fails_says_where_and_why() {
    for (object, patch, place, problem) in [
        (r#"{"a":{}}"#, r#"[{"op":"add","path":"/a/b/c","value":1}]"#, "/a/b", PatchErrorKind::Missing),
        (
            r#"{"a":1}"#,
            r#"[{"op":"add","path":"/a/b","value":1}]"#,
            "/a",
            PatchErrorKind::NoContainer(Kind::Number),
        ),
        ("[1]", r#"[{"op":"add","path":"/2","value":1}]"#, "/2", PatchErrorKind::Missing),
        ("[1]", r#"[{"op":"add","path":"/01","value":1}]"#, "/01", PatchErrorKind::NoIndex),
        ("[1]", r#"[{"op":"add","path":"/+1","value":1}]"#, "/+1", PatchErrorKind::NoIndex),
        ("[1]", r#"[{"op":"add","path":"/-1","value":1}]"#, "/-1", PatchErrorKind::NoIndex),
        (
            "[1]",
            r#"[{"op":"add","path":"/99999999999999999999999","value":1}]"#,
            "/99999999999999999999999",
            PatchErrorKind::Missing,
        ),
        ("[1]", r#"[{"op":"remove","path":"/-"}]"#, "/-", PatchErrorKind::Missing),
        ("[1]", r#"[{"op":"remove","path":"/1"}]"#, "/1", PatchErrorKind::Missing),
        ("{}", r#"[{"op":"remove","path":"/a"}]"#, "/a", PatchErrorKind::Missing),
        ("{}", r#"[{"op":"replace","path":"/a","value":1}]"#, "/a", PatchErrorKind::Missing),
        ("{}", r#"[{"op":"copy","from":"/a","path":"/b"}]"#, "/a", PatchErrorKind::Missing),
        ("{}", r#"[{"op":"move","from":"/a","path":"/a"}]"#, "/a", PatchErrorKind::Missing),
        (r#"{"a":1}"#, r#"[{"op":"move","from":"/a","path":"/b/c"}]"#, "/b", PatchErrorKind::Missing),
        (r#"{"a":1}"#, r#"[{"op":"test","path":"/a","value":"1"}]"#, "/a", PatchErrorKind::TestFailed),
        (r#"{"a":1}"#, r#"[{"op":"test","path":"/b","value":null}]"#, "/b", PatchErrorKind::Missing),
    ] {
        assert_eq!(failed(object, patch), (place.to_owned(), problem), "{object} {patch}");
    }
    let patch = r#"[{"op":"add","path":"/b","value":1},{"op":"remove","path":"/c"}]"#;
    let error = run(r#"{"a":1}"#, patch, MissingPath::Fail).unwrap_err();
    assert_eq!(error, ("/c".to_owned(), Some(1), PatchErrorKind::Missing));
    let error = apply(&value("{}"), &parse(&value(patch)).unwrap(), MissingPath::Fail).unwrap_err();
    assert_eq!(error.to_string(), "failed to patch the object at /c with operation 1");
}

#[test]
fn what_can_be_refused_at_load_is_refused_with_its_place() {
    for (patch, place, problem) in [
        ("{}", "", PatchErrorKind::NotOperations(Kind::Object)),
        ("[1]", "/0", PatchErrorKind::NotAnOperation(Kind::Number)),
        ("[{}]", "/0", PatchErrorKind::FieldMissing("op")),
        (r#"[{"op":"Add","path":"","value":1}]"#, "/0/op", PatchErrorKind::UnknownOperation),
        (r#"[{"op":1}]"#, "/0/op", PatchErrorKind::UnknownOperation),
        (r#"[{"op":"add","value":1}]"#, "/0", PatchErrorKind::FieldMissing("path")),
        (r#"[{"op":"add","path":"/a"}]"#, "/0", PatchErrorKind::FieldMissing("value")),
        (r#"[{"op":"test","path":"/a"}]"#, "/0", PatchErrorKind::FieldMissing("value")),
        (r#"[{"op":"copy","path":"/a"}]"#, "/0", PatchErrorKind::FieldMissing("from")),
        (r#"[{"op":"remove","path":1}]"#, "/0/path", PatchErrorKind::NotAPath(Kind::Number)),
        (
            r#"[{"op":"remove","path":"a"}]"#,
            "/0/path",
            PatchErrorKind::BadPointer(crate::json::PointerError::NoLeadingSlash),
        ),
        (
            r#"[{"op":"remove","path":"/a~2"}]"#,
            "/0/path",
            PatchErrorKind::BadPointer(crate::json::PointerError::BadEscape),
        ),
        (r#"[{"op":"remove","path":""}]"#, "/0/path", PatchErrorKind::RemovesAll),
        (
            r#"[{"op":"test","path":"","value":1},{"op":"move","from":"/a","path":"/a/b"}]"#,
            "/1/path",
            PatchErrorKind::IntoItself,
        ),
    ] {
        assert_eq!(fault(patch), (place.to_owned(), problem), "{patch}");
    }
}

#[test]
fn what_is_missing_is_made_if_the_rule_says_so() {
    let create = |object, patch| run(object, patch, MissingPath::Create);
    for (object, patch, result) in [
        ("{}", r#"[{"op":"add","path":"/a/b/c","value":1}]"#, r#"{"a":{"b":{"c":1}}}"#),
        ("{}", r#"[{"op":"add","path":"/a/-","value":1}]"#, r#"{"a":[1]}"#),
        ("{}", r#"[{"op":"add","path":"/a/0/b","value":1}]"#, r#"{"a":[{"b":1}]}"#),
        ("{}", r#"[{"op":"add","path":"/a/1","value":1}]"#, r#"{"a":{"1":1}}"#),
        (r#"{"a":[1]}"#, r#"[{"op":"add","path":"/a/-/b","value":2}]"#, r#"{"a":[1,{"b":2}]}"#),
        (r#"{"a":[1]}"#, r#"[{"op":"replace","path":"/a/1","value":2}]"#, r#"{"a":[1,2]}"#),
        (r#"{"a":null}"#, r#"[{"op":"add","path":"/a/b","value":1}]"#, r#"{"a":{"b":1}}"#),
        ("{}", r#"[{"op":"replace","path":"/a/b","value":1}]"#, r#"{"a":{"b":1}}"#),
        (r#"{"x":1}"#, r#"[{"op":"copy","from":"/x","path":"/a/b"}]"#, r#"{"x":1,"a":{"b":1}}"#),
        (r#"{"x":1}"#, r#"[{"op":"move","from":"/x","path":"/a/b"}]"#, r#"{"a":{"b":1}}"#),
    ] {
        assert_eq!(create(object, patch).unwrap(), result, "{object} {patch}");
    }
    for (object, patch, problem) in [
        ("{}", r#"[{"op":"remove","path":"/a"}]"#, PatchErrorKind::Missing),
        ("{}", r#"[{"op":"copy","from":"/a","path":"/b"}]"#, PatchErrorKind::Missing),
        ("{}", r#"[{"op":"test","path":"/a","value":1}]"#, PatchErrorKind::Missing),
        (
            r#"{"a":"text"}"#,
            r#"[{"op":"add","path":"/a/b","value":1}]"#,
            PatchErrorKind::NoContainer(Kind::String),
        ),
        (
            r#"{"a":"text"}"#,
            r#"[{"op":"add","path":"/a/b/c","value":1}]"#,
            PatchErrorKind::NoContainer(Kind::String),
        ),
        (r#"{"a":[]}"#, r#"[{"op":"add","path":"/a/1","value":1}]"#, PatchErrorKind::Missing),
        (r#"{"a":[]}"#, r#"[{"op":"add","path":"/a/x/y","value":1}]"#, PatchErrorKind::NoIndex),
    ] {
        assert_eq!(create(object, patch).unwrap_err().2, problem, "{object} {patch}");
    }
}

#[test]
fn what_is_missing_is_skipped_if_the_rule_says_so() {
    let object = r#"{"a":1,"l":[1]}"#;
    for operation in [
        r#"{"op":"add","path":"/b/c","value":1}"#,
        r#"{"op":"add","path":"/a/c","value":1}"#,
        r#"{"op":"add","path":"/l/7","value":1}"#,
        r#"{"op":"add","path":"/l/x","value":1}"#,
        r#"{"op":"replace","path":"/b","value":1}"#,
        r#"{"op":"remove","path":"/l/1"}"#,
        r#"{"op":"copy","from":"/b","path":"/c"}"#,
        r#"{"op":"move","from":"/a","path":"/b/c"}"#,
    ] {
        let patch = format!(r#"[{operation},{{"op":"add","path":"/z","value":0}}]"#);
        let result = run(object, &patch, MissingPath::Skip).unwrap();
        assert_eq!(result, r#"{"a":1,"l":[1],"z":0}"#, "{operation}");
    }
    let test = r#"[{"op":"test","path":"/b","value":1}]"#;
    assert_eq!(run(object, test, MissingPath::Skip).unwrap_err().2, PatchErrorKind::Missing);
}

#[test]
fn what_is_not_touched_stays_the_same_piece_of_memory() {
    let object = value(r#"{"a":{"b":[1]},"c":{"d":[2]},"e":null}"#);
    let patch = value(r#"[{"op":"add","path":"/c/x","value":1},{"op":"test","path":"/a/b/0","value":1}]"#);
    let result = apply(&object, &parse(&patch).unwrap(), MissingPath::Fail).unwrap();
    assert!(result.get("a").unwrap().is_same(object.get("a").unwrap()));
    assert!(result.get("c").unwrap().get("d").unwrap().is_same(object.get("c").unwrap().get("d").unwrap()));
    let nothing =
        value(r#"[{"op":"replace","path":"/c/d","value":[2]},{"op":"move","from":"/a","path":"/a"}]"#);
    assert!(apply(&object, &parse(&nothing).unwrap(), MissingPath::Fail).unwrap().is_same(&object));
}

#[test]
fn copies_cannot_grow_without_end() {
    let double = r#"{"op":"copy","from":"","path":"/x"},"#.repeat(100);
    let patch = format!("[{}]", double.trim_end_matches(','));
    let object = format!(r#"{{"text":"{}"}}"#, "t".repeat(1000));
    let error = run(&object, &patch, MissingPath::Fail).unwrap_err();
    assert!(matches!(error.2, PatchErrorKind::TooLarge(_) | PatchErrorKind::TooDeep), "{error:?}");
    let flat = r#"{"op":"copy","from":"/l","path":"/l/-"},"#.repeat(100);
    let patch = format!("[{}]", flat.trim_end_matches(','));
    let error = run(r#"{"l":[1]}"#, &patch, MissingPath::Fail).unwrap_err();
    assert!(matches!(error.2, PatchErrorKind::TooLarge(_)), "{error:?}");
}

#[test]
fn an_object_never_gets_deeper_than_values_can_be() {
    let nested = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
    let apply = |object: &str, operation: Op<'_>, missing| {
        apply(&value(object), &[operation], missing).map(drop).map_err(|error| error.problem)
    };
    let add = |tokens: usize, text: &str| Op::Add(Pointer::of(vec!["x"; tokens]), value(text).into_owned());
    for (operation, fits) in [
        (add(1, &nested(MAX_DEPTH - 1)), true),
        (add(1, &nested(MAX_DEPTH)), false),
        (add(MAX_DEPTH, "1"), true),
        (add(MAX_DEPTH, "[]"), false),
        (add(100_000, "1"), false),
    ] {
        let result = apply("{}", operation, MissingPath::Create);
        assert_eq!(result, if fits { Ok(()) } else { Err(PatchErrorKind::TooDeep) });
    }
    let object = format!(r#"{{"a":{},"b":{{}}}}"#, nested(MAX_DEPTH - 1));
    for operation in [
        Op::Copy(Pointer::of(["a"]), Pointer::of(["b", "c"])),
        Op::Move(Pointer::of(["a"]), Pointer::of(["b", "c"])),
        Op::Replace(Pointer::of(["b"]), value(&nested(MAX_DEPTH)).into_owned()),
    ] {
        assert_eq!(apply(&object, operation, MissingPath::Fail), Err(PatchErrorKind::TooDeep));
    }
}

const NAMES: &[&str] = &["a", "b", "0", "1", "-", "~", "/", ""];

fn any_value() -> impl Strategy<Value = Value<'static>> {
    let leaf = prop_oneof![Just(Value::Null), (0i64..3).prop_map(Value::from), Just(Value::from("a"))];
    leaf.prop_recursive(3, 16, 4, |inner| {
        let name = proptest::sample::select(NAMES);
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::array),
            proptest::collection::vec((name, inner), 0..5)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

/// Every place in a value, and some places that do not exist.
fn places(value: &Value<'_>) -> Vec<Pointer> {
    let mut all = vec![Pointer::ROOT];
    let mut next = 0;
    while let Some(place) = all.get(next).cloned() {
        next += 1;
        match value.at(&place) {
            Some(Value::Object(object)) => {
                all.extend(object.iter().map(|(name, _)| place.join(name)));
                all.push(place.join("new"));
            }
            Some(Value::Array(items)) => {
                all.extend((0..=items.len()).map(|index| place.join(index.to_string())));
                all.push(place.join("-"));
            }
            Some(_) => all.push(place.join("b")),
            None => {}
        }
    }
    all
}

/// An object and operations on places that exist, have existed or almost exist.
fn object_and_patch() -> impl Strategy<Value = (Value<'static>, Vec<Op<'static>>)> {
    (any_value(), any_value()).prop_flat_map(|(object, other)| {
        let mut all = places(&object);
        all.extend(places(&other));
        let place = move || proptest::sample::select(all.clone());
        let operation = prop_oneof![
            (place(), any_value()).prop_map(|(path, value)| Op::Add(path, value)),
            place().prop_map(Op::Remove),
            (place(), any_value()).prop_map(|(path, value)| Op::Replace(path, value)),
            (place(), place()).prop_map(|(from, path)| Op::Move(from, path)),
            (place(), place()).prop_map(|(from, path)| Op::Copy(from, path)),
            (place(), Just(object.clone())).prop_map(|(path, object)| {
                Op::Test(path.clone(), object.at(&path).cloned().unwrap_or(Value::Null))
            }),
        ];
        (Just(object), proptest::collection::vec(operation, 1..5))
    })
}

/// The result of `json-patch`. `None` if it fails.
fn theirs(object: &Value<'_>, operations: &[Op<'_>]) -> Option<serde_json::Value> {
    let operation = |operation: &Op<'_>| {
        let (name, path, from, value) = match operation {
            Op::Add(path, value) => ("add", path, None, Some(value)),
            Op::Remove(path) => ("remove", path, None, None),
            Op::Replace(path, value) => ("replace", path, None, Some(value)),
            Op::Move(from, path) => ("move", path, Some(from), None),
            Op::Copy(from, path) => ("copy", path, Some(from), None),
            Op::Test(path, value) => ("test", path, None, Some(value)),
        };
        let mut json = serde_json::json!({"op": name, "path": path.to_string()});
        if let Some(from) = from {
            json["from"] = from.to_string().into();
        }
        if let Some(value) = value {
            json["value"] = oracle::plain(value);
        }
        json
    };
    let patch: serde_json::Value = operations.iter().map(operation).collect();
    let patch: json_patch::Patch = serde_json::from_value(patch).unwrap();
    let mut document = oracle::plain(object);
    json_patch::patch_unsafe(&mut document, &patch).ok().map(|()| document)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2048))]

    /// DIFFERENCE: `json-patch` refuses to move a value to its own place.
    #[test]
    fn the_crate_json_patch_agrees((object, mut operations) in object_and_patch()) {
        operations.retain(|operation| !matches!(operation, Op::Move(from, path) if from == path));
        let ours = apply(&object, &operations, MissingPath::Fail).ok().map(|value| oracle::plain(&value));
        prop_assert_eq!(ours, theirs(&object, &operations));
    }

    /// If a patch applies without `Create` or `Skip`, these options change nothing.
    #[test]
    fn a_patch_that_misses_nothing_is_the_same_with_every_option((object, operations) in object_and_patch()) {
        if let Ok(strict) = apply(&object, &operations, MissingPath::Fail) {
            for missing in [MissingPath::Create, MissingPath::Skip] {
                prop_assert_eq!(apply(&object, &operations, missing).ok(), Some(strict.clone()));
            }
        }
    }

    #[test]
    fn what_is_parsed_is_what_was_written((_, operations) in object_and_patch()) {
        let written: Vec<Value<'static>> = operations.iter().map(written).collect();
        let refused = |op: &Op<'_>| match op {
            Op::Remove(path) => path.is_root(),
            Op::Move(from, path) => from != path && from.contains(path),
            _ => false,
        };
        let read = parse(&Value::array(written));
        if operations.iter().any(refused) {
            prop_assert!(read.is_err());
        } else {
            prop_assert_eq!(read.unwrap(), operations);
        }
    }
}

fn written(operation: &Op<'static>) -> Value<'static> {
    let text = |name: &str| Value::from(name.to_owned());
    let path = |path: &Pointer| Value::from(path.to_string());
    let members = match operation {
        Op::Add(place, value) => vec![("op", text("add")), ("path", path(place)), ("value", value.clone())],
        Op::Remove(place) => vec![("op", text("remove")), ("path", path(place))],
        Op::Replace(place, value) => {
            vec![("op", text("replace")), ("path", path(place)), ("value", value.clone())]
        }
        Op::Move(from, place) => vec![("op", text("move")), ("path", path(place)), ("from", path(from))],
        Op::Copy(from, place) => vec![("op", text("copy")), ("path", path(place)), ("from", path(from))],
        Op::Test(place, value) => vec![("op", text("test")), ("path", path(place)), ("value", value.clone())],
    };
    Value::Object(members.into_iter().collect())
}
