//! JSON merge patch (RFC 7386).
//!
//! This follows the RFC exactly. kubectl and the API server remove nulls from maps in the lists of a patch;
//! this module does not. A patch that is not a map replaces the whole object, so a caller that treats an
//! empty document as an empty patch has to check for `null` itself.

use super::edits::Edits;
use crate::json::{Object, Value};

/// `object` with `patch` merged into it. Fields that the patch does not name stay shared with `object`.
pub fn apply<'a>(object: &Value<'a>, patch: &Value<'a>) -> Value<'a> {
    match (object, patch) {
        (Value::Object(object), Value::Object(patch)) => maps(object, patch),
        // Where the object has no map, the patch is merged into an empty one.
        (_, Value::Object(patch)) => maps(&Object::new(), patch),
        (_, other) => other.clone(),
    }
}

fn maps<'a>(object: &Object<'a>, patch: &Object<'a>) -> Value<'a> {
    let mut edits = Edits::new(object);
    for (name, value) in patch.iter() {
        match (edits.get(name), value) {
            (_, Value::Null) => edits.remove(name),
            (Some(present @ Value::Object(_)), Value::Object(_)) => {
                let merged = apply(present, value);
                edits.set_merged(name, merged);
            }
            (_, new) => edits.set(name, apply(&Value::Null, new)),
        }
    }
    edits.finish()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::patch::oracle;
    use crate::patch::tests::any_value;

    fn value(text: &str) -> Value<'_> {
        Value::parse(text.as_bytes()).unwrap()
    }

    /// The examples of RFC 7386, appendix A.
    #[test]
    fn the_cases_of_the_rfc_come_out_as_it_says() {
        for (object, patch, result) in [
            (r#"{"a":"b"}"#, r#"{"a":"c"}"#, r#"{"a":"c"}"#),
            (r#"{"a":"b"}"#, r#"{"b":"c"}"#, r#"{"a":"b","b":"c"}"#),
            (r#"{"a":"b"}"#, r#"{"a":null}"#, "{}"),
            (r#"{"a":"b","b":"c"}"#, r#"{"a":null}"#, r#"{"b":"c"}"#),
            (r#"{"a":["b"]}"#, r#"{"a":"c"}"#, r#"{"a":"c"}"#),
            (r#"{"a":"c"}"#, r#"{"a":["b"]}"#, r#"{"a":["b"]}"#),
            (r#"{"a":{"b":"c"}}"#, r#"{"a":{"b":"d","c":null}}"#, r#"{"a":{"b":"d"}}"#),
            (r#"{"a":[{"b":"c"}]}"#, r#"{"a":[1]}"#, r#"{"a":[1]}"#),
            (r#"["a","b"]"#, r#"["c","d"]"#, r#"["c","d"]"#),
            (r#"{"a":"b"}"#, r#"["c"]"#, r#"["c"]"#),
            (r#"{"a":"foo"}"#, "null", "null"),
            (r#"{"a":"foo"}"#, r#""bar""#, r#""bar""#),
            (r#"{"e":null}"#, r#"{"a":1}"#, r#"{"e":null,"a":1}"#),
            ("[1,2]", r#"{"a":"b","c":null}"#, r#"{"a":"b"}"#),
            ("{}", r#"{"a":{"bb":{"ccc":null}}}"#, r#"{"a":{"bb":{}}}"#),
        ] {
            assert_eq!(apply(&value(object), &value(patch)).to_string(), result, "{object} {patch}");
        }
    }

    #[test]
    fn lists_of_the_patch_are_taken_as_they_are() {
        let merged = apply(&value(r#"{"a":[1]}"#), &value(r#"{"a":[{"x":null},null]}"#));
        assert_eq!(merged.to_string(), r#"{"a":[{"x":null},null]}"#);
    }

    #[test]
    fn what_the_patch_does_not_name_keeps_every_byte_and_its_memory() {
        let text = r#"{"n":1.0,"z":null,"e":{},"l":[],"m":{"a":{"b":1},"c":[{"d":null}]}}"#;
        let object = value(text);
        for nothing in ["{}", r#"{"m":{"a":{"b":1}}}"#, r#"{"absent":null,"n":1.0,"m":{"c":[{"d":null}]}}"#] {
            assert!(apply(&object, &value(nothing)).is_same(&object), "{nothing}");
        }
        let merged = apply(&object, &value(r#"{"m":{"a":{"b":2}},"new":1}"#));
        assert_eq!(merged.to_string(), text.replace(r#""b":1"#, r#""b":2"#).replace("]}}", r#"]},"new":1}"#));
        let c = |value: &Value<'_>| value.get("m").unwrap().get("c").unwrap().clone().into_owned();
        assert_eq!(c(&merged), c(&object));
        assert!(
            merged.get("m").unwrap().get("c").unwrap().is_same(object.get("m").unwrap().get("c").unwrap())
        );
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(1024))]

        #[test]
        fn the_crate_json_patch_agrees(object in any_value(), patch in any_value()) {
            let mut theirs = oracle::plain(&object);
            json_patch::merge(&mut theirs, &oracle::plain(&patch));
            prop_assert_eq!(oracle::plain(&apply(&object, &patch)), theirs);
        }
    }
}
