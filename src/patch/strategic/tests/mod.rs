//! Strategic merge against what kubectl answered, and what is ours alone.

mod recorded;
mod rules;

use super::*;

fn value(text: &str) -> Value<'_> {
    Value::parse(text.as_bytes()).unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// The schema that the engine would choose without a hint: Kubernetes' own, or that of a kind about which nothing is declared.
fn schema_of(object: &Value<'_>) -> Schema {
    let field = |name| object.get(name).and_then(Value::as_str).unwrap_or_default();
    Schema::built_in(field("apiVersion"), field("kind")).unwrap_or_else(|| Schema::custom(&[], []))
}
