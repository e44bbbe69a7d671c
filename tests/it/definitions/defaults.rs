//! A default that the API server writes changes nothing.

use std::collections::BTreeSet;

use super::places::{Place, inner, meaning, paths, places};

#[test]
fn with_and_without_its_default_a_document_says_the_same() {
    let places = places();
    let maps = places.iter().filter(|place| place.value.is_object());
    let fields = maps.flat_map(|map| map.properties().into_iter().map(|name| map.field(&name)));
    let mut seen = BTreeSet::new();
    for field in fields.filter(|field| !field.schema["default"].is_null()) {
        let bare = field.with(None);
        let full = field.with(Some(field.schema["default"].clone()));
        assert!(meaning(&bare).is_ok(), "{}", field.path);
        assert_eq!(meaning(&bare), meaning(&full), "{}", field.path);
        seen.insert(field.path);
    }
    assert_eq!(seen.into_iter().collect::<Vec<_>>(), paths(|schema| !schema["default"].is_null()));
}

#[test]
fn a_default_is_a_value_that_the_field_takes() {
    for place in inner().filter(|place| !place.schema["default"].is_null()) {
        let Place { schema, path, .. } = &place;
        let is_word = schema["enum"].as_array().is_none_or(|words| words.contains(&schema["default"]));
        assert!(is_word, "{path}: {schema}");
    }
}
