//! Replaces a part of a JSON text and keeps all other bytes.

use std::collections::BTreeMap;

use serde_json::value::RawValue;

/// The text of the value at `path`. A number is a list index.
pub(crate) fn at<'t>(text: &'t str, path: &[&str]) -> Option<&'t str> {
    let mut piece = text;
    for name in path {
        if let Ok(position) = name.parse::<usize>() {
            let items: Vec<&'t RawValue> = serde_json::from_str(piece).ok()?;
            piece = items.get(position)?.get();
            continue;
        }
        let members: BTreeMap<String, &'t RawValue> = serde_json::from_str(piece).ok()?;
        piece = members.get(*name)?.get();
    }
    Some(piece)
}

/// `text` with the value at `path` replaced. Panics if there is none.
pub(crate) fn replace(text: &str, path: &[&str], value: &str) -> String {
    let piece = at(text, path).expect("a value at the path");
    let start = piece.as_ptr().addr() - text.as_ptr().addr();
    [&text[..start], value, &text[start + piece.len()..]].concat()
}

/// `text` with a member added at the head of the map at `path`, which must not be empty.
pub(crate) fn insert(text: &str, path: &[&str], name: &str, value: &str) -> String {
    let map = at(text, path).expect("a value at the path");
    let rest = map.strip_prefix('{').expect("a map");
    replace(text, path, &format!("{{{}:{value},{rest}", serde_json::Value::from(name)))
}

#[test]
fn everything_else_keeps_its_bytes() {
    let text = "{ \"b\" : {\"a\":1.0, \"c\" : [ 1 ]}, \"a\": null }\n";
    assert_eq!(at(text, &["b", "c"]), Some("[ 1 ]"));
    assert_eq!(at(text, &["b", "c", "0"]), Some("1"));
    assert_eq!((at(text, &["b", "d"]), at(text, &["b", "c", "1"])), (None, None));
    assert_eq!(replace(text, &["a"], "{}"), "{ \"b\" : {\"a\":1.0, \"c\" : [ 1 ]}, \"a\": {} }\n");
    assert_eq!(
        insert(text, &["b"], "x/y", "\"z\""),
        "{ \"b\" : {\"x/y\":\"z\",\"a\":1.0, \"c\" : [ 1 ]}, \"a\": null }\n"
    );
}
