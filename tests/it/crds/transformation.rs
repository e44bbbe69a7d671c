//! `TargetPodTransformation` and `ClusterTargetPodTransformation`, whose contents stand at the top of the
//! document.

use std::borrow::Cow;

use kube::CustomResource;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};

use super::free::{Free, FreeMap};
use super::selector::LabelSelector;
use super::status::PolicyStatus;

/// What a `TargetPodTransformation` holds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, CustomResource)]
#[kube(
    group = "reviser.io",
    version = "v1alpha1",
    kind = "TargetPodTransformation",
    plural = "targetpodtransformations",
    singular = "targetpodtransformation",
    shortname = "tpt",
    category = "reviser",
    namespaced,
    no_spec,
    status = "PolicyStatus",
    doc = "Patches by target that workloads of its namespace choose by its name, in the annotation `reviser.io/targetpodtransformation` or `multicluster.admiralty.io/targetpodtransformation`."
)]
pub(crate) struct TargetPodTransformationFields {
    /// The patches. All that are for the target of the workload apply, in this order.
    #[schemars(length(min = 1))]
    pub(crate) transformations: Vec<TargetPatch>,
}

/// What a `ClusterTargetPodTransformation` holds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, CustomResource)]
#[kube(
    group = "reviser.io",
    version = "v1alpha1",
    kind = "ClusterTargetPodTransformation",
    plural = "clustertargetpodtransformations",
    singular = "clustertargetpodtransformation",
    shortname = "ctpt",
    category = "reviser",
    no_spec,
    status = "PolicyStatus",
    doc = "Patches by target that workloads of any namespace choose by its name, in the annotation `reviser.io/targetpodtransformation` or `multicluster.admiralty.io/targetpodtransformation`. A `TargetPodTransformation` of the same name comes before it."
)]
pub(crate) struct ClusterTargetPodTransformationFields {
    /// The patches. All that are for the target of the workload apply, in this order.
    #[schemars(length(min = 1))]
    pub(crate) transformations: Vec<TargetPatch>,
}

/// A patch and the targets that it is for: exactly one of `targetReference`, `targetSelector` is given.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-validations" = [{
    "rule": "has(self.targetReference) != has(self.targetSelector)",
    "message": "exactly one of targetReference, targetSelector has to be given: add one, or leave the other out",
}]))]
pub(crate) struct TargetPatch {
    /// The one target that the patch is for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) target_reference: Option<TargetReference>,
    /// The targets that the patch is for, by their labels: labels that all have to be there, or `matchLabels`
    /// and `matchExpressions`. An empty map is for all targets.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) target_selector: Option<TargetSelector>,
    /// A strategic merge patch over the whole object: a map, or a string that holds it as YAML. `${…}` has no
    /// meaning in it.
    ///
    /// `kubectl apply` drops nulls in maps unless it is called with `--server-side`, and so what a patch is
    /// to remove. A patch in a string keeps them.
    pub(crate) patch: Free,
}

/// One target.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct TargetReference {
    /// `Target`: Admiralty's, in the namespace of the workload. `ClusterTarget`: Admiralty's. `Cluster`:
    /// Karmada's.
    pub(crate) kind: TargetKind,
    /// Its name.
    #[schemars(length(min = 1))]
    pub(crate) name: String,
}

/// A kind of target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) enum TargetKind {
    /// Admiralty's `Target`.
    Target,
    /// Admiralty's `ClusterTarget`.
    ClusterTarget,
    /// Karmada's `Cluster`.
    Cluster,
}

/// Labels, or a [`LabelSelector`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct TargetSelector(pub(crate) FreeMap);

impl JsonSchema for TargetSelector {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "TargetSelector".into()
    }

    /// A structural schema can't have names of its own beside names of anybody's, so what else there is is
    /// kept unseen.
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let mut schema = LabelSelector::json_schema(generator);
        schema.insert("x-kubernetes-preserve-unknown-fields".to_owned(), true.into());
        schema
    }
}
