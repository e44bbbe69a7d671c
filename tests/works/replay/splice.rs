//! Other text in the middle of JSON that otherwise keeps its bytes.

use std::collections::BTreeMap;

use serde_json::value::RawValue;

/// The value at `path`, as it stands in `text`. A number is a place in a list.
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

/// `text` with `value` at `path`, where something is.
pub(crate) fn replace(text: &str, path: &[&str], value: &str) -> String {
    let piece = at(text, path).expect("something is there");
    let start = piece.as_ptr().addr() - text.as_ptr().addr();
    [&text[..start], value, &text[start + piece.len()..]].concat()
}

/// `text` with one more member at the head of the map at `path`, which is not empty.
pub(crate) fn insert(text: &str, path: &[&str], name: &str, value: &str) -> String {
    let map = at(text, path).expect("something is there");
    let rest = map.strip_prefix('{').expect("it is a map");
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
