//! Selectors: of workloads, of labels, of clusters.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Workloads.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ResourceSelector {
    /// API version of the workloads, to the letter: `apps/v1`, or `v1` for the core group. No wildcards.
    #[schemars(regex(pattern = "^([^/*]+/)?[^/*]+$"))]
    pub(crate) api_version: String,
    /// Kind of the workloads, to the letter. No wildcards.
    #[schemars(regex(pattern = "^[^*]+$"))]
    pub(crate) kind: String,
    /// Only in this namespace. Left out: in any. No wildcards. In a `RevisionPolicy` it can only be the
    /// namespace of the policy, and is best left out.
    #[schemars(regex(pattern = "^[^*?/%]+$"))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) namespace: Option<String>,
    /// Only the one of this name. No wildcards. `labelSelector` then counts for nothing.
    #[schemars(regex(pattern = "^[^*?/%]+$"))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) name: Option<String>,
    /// Only those with these labels. Left out, or empty: whatever their labels.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) label_selector: Option<LabelSelector>,
}

/// Labels. All requirements have to hold.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct LabelSelector {
    /// Labels that have to be there with these values.
    // A null is a fault that the reader finds. If the schema did not allow it, the API server would drop it,
    // and more would be selected.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) match_labels: Option<BTreeMap<String, Option<String>>>,
    /// Requirements that labels have to meet.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) match_expressions: Option<Vec<LabelRequirement>>,
}

/// What one label has to be like.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(extend("x-kubernetes-validations" = [
    {
        "rule": "!(self.operator in ['In', 'NotIn']) || (has(self.values) && self.values.size() > 0)",
        "message": "the operators In and NotIn need at least one value: add values",
        "fieldPath": ".values",
    },
    {
        "rule": "!(self.operator in ['Exists', 'DoesNotExist']) || !has(self.values) || self.values.size() == 0",
        "message": "the operators Exists and DoesNotExist take no values: leave values out",
        "fieldPath": ".values",
    },
]))]
pub(crate) struct LabelRequirement {
    /// Name of the label.
    #[schemars(length(min = 1))]
    pub(crate) key: String,
    /// `In`: the label is there with one of `values`. `NotIn`: it is not there, or with another value.
    /// `Exists`: it is there. `DoesNotExist`: it is not.
    pub(crate) operator: LabelOperator,
    /// The values for `In` and `NotIn`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) values: Option<Vec<String>>,
}

/// How a label is held against values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) enum LabelOperator {
    /// Is one of the values.
    In,
    /// Is none of the values, or not there.
    NotIn,
    /// Is there.
    Exists,
    /// Is not there.
    DoesNotExist,
}

/// Member clusters. All that is given has to match.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TargetCluster {
    /// The cluster has one of these names. `*` stands for any text and `?` for one character; the whole name
    /// has to match.
    #[schemars(inner(length(min = 1)))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) cluster_names: Option<Vec<String>>,
    /// The cluster has none of these names, whatever else matches. `*` and `?` as in `clusterNames`.
    #[schemars(inner(length(min = 1)))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) exclude: Option<Vec<String>>,
    /// Labels of the cluster. An empty selector matches every cluster.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) label_selector: Option<LabelSelector>,
    /// Provider, region and zones of the cluster.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) field_selector: Option<FieldSelector>,
}

/// Fields of a cluster. All requirements have to hold.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct FieldSelector {
    /// Requirements that fields have to meet.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) match_expressions: Option<Vec<FieldRequirement>>,
}

/// What one field of a cluster has to be like.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct FieldRequirement {
    /// Which field: `provider`, `region` or `zone`.
    pub(crate) key: ClusterField,
    /// `In`: the cluster has the field, and it is one of `values`; of a cluster in several zones, all are.
    /// `NotIn`: it is none of them, or the cluster does not have the field.
    pub(crate) operator: FieldOperator,
    /// The values, at least one.
    #[schemars(length(min = 1), inner(length(min = 1)))]
    pub(crate) values: Vec<String>,
}

/// A field of a cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) enum ClusterField {
    /// Who runs it.
    Provider,
    /// Its region.
    Region,
    /// Its zones.
    Zone,
}

/// How a field is held against values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) enum FieldOperator {
    /// Is one of the values.
    In,
    /// Is none of the values, or not there.
    NotIn,
}
