//! `ResourceInterpretation`.

use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::status::PolicyStatus;

/// Where the kind has what.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, CustomResource)]
#[serde(rename_all = "camelCase")]
#[kube(
    group = "reviser.io",
    version = "v1alpha1",
    kind = "ResourceInterpretation",
    plural = "resourceinterpretations",
    singular = "resourceinterpretation",
    shortname = "rint",
    category = "reviser",
    status = "PolicyStatus",
    doc = "Where a kind has its replicas and its pod template. Without one: `/spec/replicas` and `/spec/template`."
)]
pub(crate) struct ResourceInterpretationSpec {
    /// The kind. There is one `ResourceInterpretation` for a kind.
    pub(crate) target: InterpretedKind,
    /// Where replicas and pod template are read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) replica_resource: Option<ReplicaResource>,
    /// Where replicas are written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) replica_revision: Option<ReplicaRevision>,
}

/// A kind.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct InterpretedKind {
    /// API version of the kind, to the letter: `game.example.com/v1`.
    #[schemars(regex(pattern = "^([^/*]+/)?[^/*]+$"))]
    pub(crate) api_version: String,
    /// The kind, to the letter.
    #[schemars(regex(pattern = "^[^*]+$"))]
    pub(crate) kind: String,
}

/// Where replicas and pod template are read.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ReplicaResource {
    /// Where the replicas are, as a JSON pointer.
    #[schemars(regex(pattern = "^(/([^~/]|~[01])*)+$"))]
    #[serde(default = "replicas")]
    pub(crate) replicas: String,
    /// Where the pod template is, as a JSON pointer. `env`, `image` and strategic patches look there too,
    /// unless `podTemplates` is given.
    #[schemars(regex(pattern = "^(/([^~/]|~[01])*)+$"))]
    #[serde(default = "pod_template")]
    pub(crate) pod_template: String,
    /// Where `env`, `image` and strategic patches find pod templates, as JSON pointers. A step `*` stands for
    /// every item of a list on the way. Left out: at `podTemplate`.
    #[schemars(length(min = 1), inner(regex(pattern = "^(/([^~/]|~[01])*)+$")))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) pod_templates: Option<Vec<String>>,
    /// Whether requirements are stated at 0 replicas. A Karmada whose scheduler does not propagate empty
    /// workloads then takes the workload away from its clusters.
    #[serde(default)]
    pub(crate) requirements_at_zero: bool,
}

/// Where replicas are written.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct ReplicaRevision {
    /// Where the replicas are written, as a JSON pointer. Left out: where they are read.
    #[schemars(regex(pattern = "^(/([^~/]|~[01])*)+$"))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) replicas: Option<String>,
}

fn replicas() -> String {
    "/spec/replicas".to_owned()
}

fn pod_template() -> String {
    "/spec/template".to_owned()
}
