//! Values of which the schema says nothing.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Any value, null too where the field is required.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Free(pub(crate) Value);

/// Any map.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct FreeMap(pub(crate) Map<String, Value>);

impl JsonSchema for Free {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Free".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "nullable": true, "x-kubernetes-preserve-unknown-fields": true })
    }
}

impl JsonSchema for FreeMap {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "FreeMap".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "object", "x-kubernetes-preserve-unknown-fields": true })
    }
}
