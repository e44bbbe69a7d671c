//! The schemas and the reader know the same fields and words, and ask for the same.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::places::{Place, UNUSED, documents, findings, inner, paths, places};

/// What the reader says of a place, if it says something of it.
fn finding(document: &Value, place: &Place) -> Option<String> {
    let found = findings(document).into_iter().find(|finding| finding.field == place.pointer);
    found.map(|finding| finding.problem)
}

/// Notes where the two do not agree.
fn assert_none(differ: &[String]) {
    assert!(differ.is_empty(), "{differ:#?}");
}

#[test]
fn the_documents_have_every_field_and_nothing_is_wrong_with_them() {
    for document in documents() {
        assert_eq!(findings(&document), [], "{document}");
    }
    let mut there: Vec<String> = places().into_iter().map(|place| place.path).collect();
    there.sort();
    there.dedup();
    let missing: Vec<String> =
        paths(|_| true).into_iter().filter(|path| there.binary_search(path).is_err()).collect();
    assert_none(&missing);
}

#[test]
fn both_know_the_same_fields_everywhere() {
    let mut differ = Vec::new();
    for place in places().iter().filter(|place| place.value.is_object()) {
        let unknown = Place { pointer: place.pointer.join(UNUSED), ..place.clone() };
        let said = finding(&unknown.with(Some("x".into())), &unknown);
        let known = said.as_deref().and_then(|said| said.strip_prefix("unknown field; known here: "));
        let mut properties: BTreeSet<&str> = BTreeSet::new();
        let schemas = place.properties();
        properties.extend(schemas.iter().map(String::as_str));
        if place.pointer.is_root() {
            properties.extend(["apiVersion", "kind", "metadata", "status"]);
        }
        let takes_any = place.is_free() || place.schema["additionalProperties"].is_object();
        match known {
            Some(known) if known.split(", ").collect::<BTreeSet<_>>() == properties => {}
            None if takes_any && said.is_none() => {}
            _ => differ.push(format!("{}: {said:?}, and the schema: {properties:?}", place.path)),
        }
    }
    assert_none(&differ);
}

#[test]
fn both_ask_for_the_same_fields() {
    let mut differ = Vec::new();
    let maps = places().into_iter().filter(|place| place.value.is_object() && !place.schema.is_null());
    let fields = maps.flat_map(|map| {
        let names: Vec<String> =
            map.properties().into_iter().filter(|name| map.value.get(name).is_some()).collect();
        names.into_iter().map(move |name| (map.is_required(&name), map.field(&name)))
    });
    for (is_required, field) in fields {
        let said = finding(&field.with(None), &field);
        if (said.as_deref() == Some("is required")) != is_required {
            differ.push(format!("{}: {said:?}, and the schema requires it: {is_required}", field.path));
        }
    }
    assert_none(&differ);
}

#[test]
fn a_null_is_no_missing_field_where_the_schema_keeps_it_and_one_everywhere_else() {
    let mut differ = Vec::new();
    for field in inner().filter(|place| place.schema.is_object() && !place.path.ends_with('*')) {
        let (null, missing) = (findings(&field.with(Some(Value::Null))), findings(&field.with(None)));
        let is_value = field.schema["nullable"] == true;
        if is_value == (null == missing) {
            differ.push(format!("{}: {null:?}, {missing:?}", field.path));
        }
    }
    assert_none(&differ);
}

#[test]
fn both_know_the_same_words() {
    let mut differ = Vec::new();
    let mut seen = BTreeSet::new();
    for place in inner().filter(|place| place.schema["enum"].is_array()) {
        let words = &place.schema["enum"];
        seen.insert(place.path.clone());
        let other =
            if place.value.is_string() { UNUSED.into() } else { json!(!place.value.as_bool().unwrap()) };
        let said = finding(&place.with(Some(other)), &place).unwrap_or_default();
        let listed = said.rsplit_once(" is not one of ").map(|(_, list)| list.split(", ").collect());
        let listed: Vec<&str> = listed.unwrap_or_default();
        if json!(listed) != *words && !(*words == json!([true]) && said.starts_with("only `true`")) {
            differ.push(format!("{}: {said:?}, and the schema: {words}", place.path));
        }
    }
    assert_none(&differ);
    assert_eq!(seen.into_iter().collect::<Vec<_>>(), paths(|schema| schema["enum"].is_array()));
}

#[test]
fn what_has_the_wrong_type_or_is_empty_for_the_schema_is_wrong_for_the_reader_too() {
    let mut differ = Vec::new();
    for place in inner() {
        let schema = &place.schema;
        let mut wrong: Vec<Value> = match schema["type"].as_str() {
            Some("string") => vec![json!(1), json!(true), json!([]), json!({})],
            Some("integer" | "boolean") => vec![json!("x"), json!(1.5), json!([]), json!({})],
            Some("array") => vec![json!("x"), json!(1), json!({})],
            Some("object") => vec![json!("x"), json!(1), json!([])],
            _ => continue,
        };
        wrong.extend((schema["minLength"] == 1).then(|| json!("")));
        wrong.extend((schema["minItems"] == 1).then(|| json!([])));
        wrong.extend(schema["pattern"].is_string().then(|| json!("")));
        for field in ["minimum", "maximum"] {
            let past =
                schema[field].as_f64().map(|bound| bound + if field == "minimum" { -1.0 } else { 1.0 });
            wrong.extend(past.map(|past| json!(format!("{past}").parse::<i64>().unwrap())));
        }
        for value in wrong {
            if finding(&place.with(Some(value.clone())), &place).is_none() {
                differ.push(format!("{} takes {value}", place.path));
            }
        }
    }
    assert_none(&differ);
}
