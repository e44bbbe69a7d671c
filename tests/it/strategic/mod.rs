//! Strategic merge patches, held against kubectl: its recorded answers, and those to random patches where it
//! is present.

mod generate;
mod random;
mod recorded;

use reviser::json::Value;
use reviser::patch::strategic::Schema;

/// The schema of the kind of an object; that of a kind about which nothing is declared, if it is not built
/// in.
fn schema_of(object: &Value<'_>) -> Schema {
    let field = |name| object.get(name).and_then(Value::as_str).unwrap_or_default();
    Schema::built_in(field("apiVersion"), field("kind")).unwrap_or_else(|| Schema::custom(&[]))
}

/// A value as text that shows what a decoder sees: the order of maps and the spelling of numbers are gone,
/// and with `any_order` that of lists.
fn seen(value: &Value<'_>, any_order: bool) -> serde_json::Value {
    match value {
        Value::Null => serde_json::Value::Null,
        Value::Bool(flag) => (*flag).into(),
        Value::Number(number) => number.as_str().parse::<f64>().unwrap().into(),
        Value::String(text) => text.as_ref().into(),
        Value::Array(items) => {
            let mut items: Vec<_> = items.iter().map(|item| seen(item, any_order)).collect();
            if any_order {
                items.sort_by_key(ToString::to_string);
            }
            items.into()
        }
        Value::Object(object) => {
            object.iter().map(|(name, value)| (name.to_owned(), seen(value, any_order))).collect()
        }
    }
}

/// The same without the keys that are directives.
fn without_directives(value: serde_json::Value) -> serde_json::Value {
    const DIRECTIVES: &[&str] = &["$patch", "$retainKeys", "$setElementOrder/", "$deleteFromPrimitiveList/"];
    match value {
        serde_json::Value::Array(items) => items.into_iter().map(without_directives).collect(),
        serde_json::Value::Object(object) => object
            .into_iter()
            .filter(|(name, _)| !DIRECTIVES.iter().any(|directive| name.starts_with(directive)))
            .map(|(name, value)| (name, without_directives(value)))
            .collect(),
        other => other,
    }
}

/// The same without the items of lists that are empty maps.
fn without_empty_items(value: serde_json::Value) -> serde_json::Value {
    match value {
        serde_json::Value::Array(items) => {
            let is_empty = |item: &serde_json::Value| item.as_object().is_some_and(serde_json::Map::is_empty);
            items.into_iter().filter(|item| !is_empty(item)).map(without_empty_items).collect()
        }
        serde_json::Value::Object(object) => {
            object.into_iter().map(|(name, value)| (name, without_empty_items(value))).collect()
        }
        other => other,
    }
}
