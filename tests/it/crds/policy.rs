//! `ClusterRevisionPolicy` and `RevisionPolicy`.

use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::action::{Divide, Env, Image, Patch};
use super::fort::Fort;
use super::free::{Free, FreeMap};
use super::selector::{ResourceSelector, TargetCluster};
use super::status::PolicyStatus;

/// What the policy does.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, CustomResource)]
#[kube(
    group = "reviser.io",
    version = "v1alpha1",
    kind = "ClusterRevisionPolicy",
    plural = "clusterrevisionpolicies",
    singular = "clusterrevisionpolicy",
    shortname = "crevp",
    category = "reviser",
    status = "PolicyStatus",
    doc = "Rules that give workloads of any namespace another form in each cluster. Cluster-scoped policies apply before namespaced ones."
)]
pub(crate) struct ClusterRevisionPolicySpec(pub PolicySpec);

/// What the policy does.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, CustomResource)]
#[kube(
    group = "reviser.io",
    version = "v1alpha1",
    kind = "RevisionPolicy",
    plural = "revisionpolicies",
    singular = "revisionpolicy",
    shortname = "revp",
    category = "reviser",
    namespaced,
    status = "PolicyStatus",
    doc = "Rules that give workloads of its namespace another form in each cluster. Namespaced policies apply after cluster-scoped ones."
)]
pub(crate) struct RevisionPolicySpec(pub PolicySpec);

/// What a policy of either kind does.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PolicySpec {
    /// Of several policies of one scope, the one with the higher priority applies later, and so has the last
    /// word. Of equal ones, the one whose name comes later.
    #[serde(default)]
    pub(crate) priority: i64,
    /// Which workloads the policy is for. Any of the selectors matches.
    #[schemars(length(min = 1))]
    pub(crate) resource_selectors: Vec<ResourceSelector>,
    /// Allocations that the policy defines. An allocation is in at most one cluster at a time.
    #[schemars(extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["name"]))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) allocations: Option<Vec<Allocation>>,
    /// Names for expressions. Each may read those before it.
    #[schemars(length(max = 64))]
    #[schemars(extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["name"]))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) variables: Option<Vec<Variable>>,
    /// What is done: all rules that match, in this order. Each sees what those before it did.
    #[schemars(length(min = 1))]
    #[schemars(extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["name"]))]
    pub(crate) rules: Vec<Rule>,
}

/// An allocation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Allocation {
    /// Its name, by which rules of any policy ask for it. A name is defined once, over all policies. It
    /// becomes the annotation `reviser.io/NAME-cluster`.
    #[schemars(length(max = 55), regex(pattern = "^[A-Za-z0-9]([A-Za-z0-9_.-]*[A-Za-z0-9])?$"))]
    pub(crate) name: String,
    /// Which cluster hosts it at first. `HighestWeight`: the one with the most replicas; of equals, the first
    /// in the schedule.
    #[serde(default)]
    pub(crate) strategy: Strategy,
    /// How it leaves a cluster.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) handover: Option<Handover>,
}

/// Which cluster hosts an allocation at first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) enum Strategy {
    /// The one with the most replicas.
    #[default]
    HighestWeight,
}

/// How an allocation leaves a cluster.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(extend("x-kubernetes-validations" = [{
    "rule": "!has(self.timeout) || self.mode != 'Immediate'",
    "message": "the mode Immediate never waits: leave timeout out, or change the mode to AfterRelease",
    "fieldPath": ".timeout",
}]))]
pub(crate) struct Handover {
    /// `AfterRelease`: the new cluster waits until the Work of the old one is gone. `Immediate`: it does not
    /// wait.
    #[serde(default)]
    pub(crate) mode: HandoverMode,
    /// How long `AfterRelease` waits at most, from the deletion of the old Work: `10m`, `1h30m`. Left out:
    /// without end.
    // U+00B5 is the micro sign, U+03BC the Greek letter.
    #[schemars(regex(pattern = "^\\+?(([0-9]+(\\.[0-9]*)?|\\.[0-9]+)(ns|us|\u{b5}s|\u{3bc}s|ms|s|m|h))+$"))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) timeout: Option<String>,
}

/// What the new cluster of an allocation waits for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) enum HandoverMode {
    /// That the old one has let go.
    #[default]
    AfterRelease,
    /// Nothing.
    Immediate,
}

/// A name for an expression, or for a value of each cluster. Exactly one of `expression`, `values` is given.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
// A field without a type is there for a rule only behind `dyn`.
#[schemars(extend("x-kubernetes-validations" = [
    {
        "rule": "has(self.expression) != has(self.values)",
        "message": "exactly one of expression, values has to be given: add one, or leave the other out",
    },
    {
        "rule": "!has(dyn(self).default) || has(self.values)",
        "message": "default is for values: leave it out",
    },
]))]
pub(crate) struct Variable {
    /// Expressions of the policy read it as `variables.NAME`. Letters, digits and `_`, no digit first.
    #[schemars(regex(pattern = "^[A-Za-z_][A-Za-z0-9_]*$"))]
    pub(crate) name: String,
    /// An expression in CEL. It sees the workload as it was before the policy.
    #[schemars(length(min = 1))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) expression: Option<String>,
    /// A value for each cluster, by its name. Any value but null, without expressions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) values: Option<FreeMap>,
    /// The value of a cluster that is not among `values`. Left out: to read the variable there is an error.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) default: Option<Free>,
}

/// A rule: when it applies, and exactly one of `patch`, `env`, `image`, `divide`, `fort`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-validations" = [
    {
        "rule": "[has(self.patch), has(self.env), has(self.image), has(self.divide), has(self.fort)].exists_one(given, given)",
        "message": "a rule has exactly one of patch, env, image, divide, fort: add one, or give each a rule of its own",
    },
    {
        "rule": "!has(self.fort) || self.onError != 'Skip'",
        "message": "a fort that is skipped would run everywhere: leave onError out",
        "fieldPath": ".onError",
    },
]))]
pub(crate) struct Rule {
    /// Name of the rule, by which messages and records call it.
    #[schemars(length(min = 1))]
    pub(crate) name: String,
    /// For which clusters. Left out, or empty: for all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) target_cluster: Option<TargetCluster>,
    /// An expression in CEL. The rule applies only where it gives true.
    #[schemars(length(min = 1))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) when: Option<String>,
    /// What becomes of the revision if the rule fails. `Fail`: it is refused. `Skip`: the rule is left out.
    /// `fort` takes only `Fail`.
    #[serde(default)]
    pub(crate) on_error: OnError,
    /// Patches the workload.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) patch: Option<Patch>,
    /// Sets or removes an environment variable in the containers of the pod template.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) env: Option<Env>,
    /// Changes parts of the images in the pod template: at least one of `registry`, `repository`, `tag`,
    /// `digest`. Parts that are not given stay; an empty text takes a part away.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) image: Option<Image>,
    /// Divides a number of the workload among its clusters, so that the parts sum exactly to it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) divide: Option<Divide>,
    /// Has steps run only in the cluster that hosts an allocation: every other cluster gets a field of each
    /// such step written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) fort: Option<Fort>,
}

/// What becomes of a revision if a rule fails.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) enum OnError {
    /// It is refused.
    #[default]
    Fail,
    /// The rule is left out.
    Skip,
}
