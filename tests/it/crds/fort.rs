//! The action `fort`.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::free::{Free, FreeMap};

/// Steps that only the cluster that hosts an allocation is to run: every other cluster gets a field of each
/// such step written.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Fort {
    /// The allocation, which this or another policy defines.
    #[schemars(length(min = 1))]
    pub(crate) allocation: String,
    /// Where the list of steps is, as a JSON pointer from the root of the workload. Leads through maps only.
    #[schemars(regex(pattern = "^(/([^~/]|~[01])*)+$"))]
    pub(crate) steps: String,
    /// Which steps: those that hold at least these members, with the same types. Left out: every step that is
    /// a map.
    #[serde(rename = "match", skip_serializing_if = "Option::is_none")]
    pub(crate) matches: Option<FreeMap>,
    /// What is written in a step, as a JSON pointer from the step. Leads through maps only.
    #[schemars(regex(pattern = "^(/([^~/]|~[01])*)+$"))]
    pub(crate) field: String,
    /// What the field becomes in the other clusters: `SetNull`, `Remove`, or a map `value: …` with the value,
    /// any string of which may hold `${expression}`. Where the CRD of the members drops nulls or has a
    /// default for the field, only a value helps.
    #[serde(default)]
    pub(crate) elsewhere: Elsewhere,
    /// The steps themselves, to be written where there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) generate: Option<Generate>,
}

/// What the field of a step becomes in the clusters that do not host the allocation.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) enum Elsewhere {
    /// Null.
    #[default]
    SetNull,
    /// It is taken away.
    Remove,
    /// A value.
    #[serde(untagged)]
    Value {
        /// The value.
        value: Value,
    },
}

impl JsonSchema for Elsewhere {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Elsewhere".into()
    }

    /// A word or a map: there is no type for that. `pattern` is for the word and `required` for the map, each
    /// of which leaves the other alone.
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let mut value = Free::json_schema(generator);
        value.insert(
            "description".to_owned(),
            "The value of the field in the other clusters. May be null.".into(),
        );
        json_schema!({
            "pattern": "^(SetNull|Remove)$",
            "properties": { "value": value },
            "required": ["value"],
            "x-kubernetes-preserve-unknown-fields": true,
        })
    }
}

/// Steps to write.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Generate {
    /// `Absent`: if the list of steps is missing, null or empty. `Always`: at every request.
    #[serde(default)]
    pub(crate) when: GenerateWhen,
    /// The steps for the cluster that hosts the allocation. Any string may hold `${expression}`.
    pub(crate) fort: Vec<FreeMap>,
    /// The steps for the others. Left out: those of `fort`, with the field written as `elsewhere` of the rule
    /// says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) elsewhere: Option<Vec<FreeMap>>,
}

/// When steps are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) enum GenerateWhen {
    /// Where there are none.
    #[default]
    Absent,
    /// At every request.
    Always,
}
