//! `status`, which all five kinds have.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What became of the document. Written by reviser.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PolicyStatus {
    /// The generation that this status is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) observed_generation: Option<i64>,
    /// `Accepted`: whether the document is active.
    #[schemars(extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["type"]))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) conditions: Option<Vec<Condition>>,
    /// How many of the Works that the policy selects are revised as it says. Only of policies that select
    /// some.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) works: Option<WorkCount>,
}

/// One condition, in the form that all of Kubernetes has.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Condition {
    /// Name of the condition.
    #[serde(rename = "type")]
    #[schemars(length(min = 1))]
    pub(crate) kind: String,
    /// Whether it holds.
    pub(crate) status: ConditionStatus,
    /// Why, in one word: `Valid` or `Invalid`.
    #[schemars(length(min = 1))]
    pub(crate) reason: String,
    /// Why, in detail: everything that is wrong with the document.
    pub(crate) message: String,
    /// The generation that the condition is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) observed_generation: Option<i64>,
    /// Since when `status` is what it is.
    #[schemars(extend("format" = "date-time"))]
    pub(crate) last_transition_time: String,
}

/// Whether a condition holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) enum ConditionStatus {
    /// It holds.
    True,
    /// It does not.
    False,
    /// Not known.
    Unknown,
}

/// Numbers of Works.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct WorkCount {
    /// How many the policy selects.
    #[schemars(range(min = 0))]
    pub(crate) total: i64,
    /// How many of them are revised by the active rules.
    #[schemars(range(min = 0))]
    pub(crate) current: i64,
}
