//! The actions but `fort`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::free::Free;

/// Patches the workload.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-validations" = [
    {
        "rule": "!has(self.missingPath) || self.type == 'JSON'",
        "message": "missingPath is for the type JSON, whose operations name places: leave it out",
        "fieldPath": ".missingPath",
    },
    {
        "rule": "!has(self.mergeKeys) || self.type == 'Strategic'",
        "message": "mergeKeys is for the type Strategic, which merges lists: leave it out",
        "fieldPath": ".mergeKeys",
    },
]))]
pub(crate) struct Patch {
    /// `Strategic`: as `kubectl patch` does it, with its merge keys and directives. `Merge`: RFC 7386; maps
    /// merge, everything else is replaced, null removes. `JSON`: a list of operations (RFC 6902), with paths
    /// from the root of the workload.
    #[serde(rename = "type")]
    pub(crate) kind: PatchType,
    /// The patch: a map, or for `JSON` a list. Any string in it may hold `${expression}`. It may itself be a
    /// string: one that holds the patch as YAML, or one expression that gives it.
    ///
    /// `kubectl apply` drops nulls in maps unless it is called with `--server-side`, and so what a patch is
    /// to remove. A patch in a string keeps them.
    pub(crate) value: Free,
    /// What becomes of an operation whose place is missing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) missing_path: Option<MissingPath>,
    /// For the type `Strategic`: lists that are merged by these keys of their items, of any kind. Otherwise a
    /// list is merged by the key that `kubectl patch` goes by, or replaced.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) merge_keys: Option<Vec<MergeKey>>,
}

/// How a patch is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) enum PatchType {
    /// A strategic merge patch.
    Strategic,
    /// A JSON merge patch.
    Merge,
    /// A JSON patch.
    #[serde(rename = "JSON")]
    Json,
}

/// For the type `JSON`: what becomes of an operation whose place is missing. `Fail`, which it is if nothing
/// is given: the rule fails. `Create`: what is missing on the way of an `add` or `replace` is made. `Skip`:
/// the operation is left out.
// Of an optional enum, this is the text that gets into the definition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) enum MissingPath {
    /// The rule fails.
    Fail,
    /// The place is made.
    Create,
    /// It is left out.
    Skip,
}

/// A list that is merged. Exactly one of `key`, `keys` is given.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-validations" = [{
    "rule": "has(self.key) != has(self.keys)",
    "message": "exactly one of key, keys has to be given: add one, or leave the other out",
}]))]
pub(crate) struct MergeKey {
    /// Where the list is, as a JSON pointer from the root of the workload. A step `*` stands for every item
    /// of a list on the way, which has to be merged itself.
    #[schemars(regex(pattern = "^(/([^~/]|~[01])*)+$"))]
    pub(crate) path: String,
    /// The field by which items of the list are told apart. Names with dots between them lead deeper, as in
    /// `metadata.name`. Where a name has a dot or a slash in it, this is a JSON pointer from the item, as in
    /// `/metadata/labels/example.com~1id`.
    #[schemars(regex(pattern = "^([^./][^.]*([.][^.]+)*|(/([^~/]|~[01])+)+)$"))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) key: Option<String>,
    /// The fields by which items of the list are told apart, if it takes more than one, as in `[port,
    /// protocol]`. Each is written as `key` is.
    #[schemars(
        length(min = 1),
        inner(regex(pattern = "^([^./][^.]*([.][^.]+)*|(/([^~/]|~[01])+)+)$")),
        extend("x-kubernetes-list-type" = "set")
    )]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) keys: Option<Vec<String>>,
}

/// Sets or removes an environment variable in the containers of the pod template. Exactly one of `value`,
/// `valueFrom`, `remove` is given.
///
/// A variable that is there is replaced in its place; a new one comes last.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
// A field without a type is there for a rule only behind `dyn`.
#[schemars(extend("x-kubernetes-validations" = [{
    "rule": "[has(self.value), has(dyn(self).valueFrom), has(self.remove)].exists_one(given, given)",
    "message": "exactly one of value, valueFrom, remove has to be given: add one, or leave the others out",
}]))]
pub(crate) struct Env {
    /// Name of the variable. Holds no `=` and no expression.
    #[schemars(regex(pattern = "^[^=]+$"))]
    pub(crate) name: String,
    /// Its value. May hold `${expression}`; numbers and booleans that one gives are written out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) value: Option<String>,
    /// Where its value comes from, as in a container: a map, or an expression that gives one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) value_from: Option<Free>,
    /// `true`: there is to be no such variable.
    #[schemars(extend("enum" = [true]))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) remove: Option<bool>,
    /// Only in the containers of these names. One that is not there fails the rule. Left out, or empty: in
    /// all.
    #[schemars(inner(length(min = 1)))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) containers: Option<Vec<String>>,
    /// Whether it is about init containers too.
    #[serde(default)]
    pub(crate) init_containers: bool,
}

/// Changes parts of the images in the pod templates, or of an image elsewhere. At least one of `registry`,
/// `repository`, `repositoryPrefix`, `tag`, `digest` is given.
///
/// Parts that are not given stay; an empty text takes a part away. Nothing is made up: no `docker.io`, and no
/// `library/` but with `repositoryPrefix`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-validations" = [
    {
        "rule": "has(self.registry) || has(self.repository) || has(self.repositoryPrefix) || has(self.tag) || has(self.digest)",
        "message": "at least one of registry, repository, repositoryPrefix, tag, digest has to be given",
    },
    {
        "rule": "!has(self.repository) || !has(self.repositoryPrefix)",
        "message": "repositoryPrefix keeps the repository: leave out one of repository, repositoryPrefix",
        "fieldPath": ".repositoryPrefix",
    },
    {
        "rule": "!has(self.path) || (!has(self.containers) && !self.initContainers)",
        "message": "path names an image that is in no container: leave out containers and initContainers",
        "fieldPath": ".path",
    },
]))]
pub(crate) struct Image {
    /// Where an image is that is in no container, as a JSON pointer from the root of the workload. A step `*`
    /// stands for every item of a list on the way. Left out: the images of containers.
    #[schemars(regex(pattern = "^(/([^~/]|~[01])*)+$"))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) path: Option<String>,
    /// Only images of this registry: a host, or `host:port`. An image that names none is of `docker.io`. May
    /// hold `${expression}`.
    #[schemars(length(min = 1))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) from: Option<String>,
    /// Host of the registry, or `host:port`: it has a dot or a port, or is `localhost`. May hold
    /// `${expression}`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) registry: Option<String>,
    /// Path of the image in its registry. May hold `${expression}`.
    #[schemars(length(min = 1))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) repository: Option<String>,
    /// A path that is put in front of the repository that the image has, as for a proxy project of a
    /// registry. An image of `docker.io` with a name of one part gets its `library/` first. May hold
    /// `${expression}`.
    #[schemars(length(min = 1))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) repository_prefix: Option<String>,
    /// The tag, in quotes where it looks like a number. Takes the digest away, unless `digest` is given too.
    /// May hold `${expression}`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) tag: Option<String>,
    /// The digest, `sha256:…`. May hold `${expression}`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) digest: Option<String>,
    /// Only in the containers of these names. One that is not there fails the rule. Left out, or empty: in
    /// all.
    #[schemars(inner(length(min = 1)))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) containers: Option<Vec<String>>,
    /// Whether it is about init containers too.
    #[serde(default)]
    pub(crate) init_containers: bool,
}

/// Divides a number of the workload among its clusters, so that the parts sum exactly to it.
///
/// The number is that of the template where that is known. Where the place is missing or null nothing
/// happens.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(extend("x-kubernetes-validations" = [{
    "rule": "!(has(self.minimum) && self.minimum > 0 && has(self.floor) && self.floor > 0)",
    "message": "only one of minimum and floor can be given",
}]))]
pub(crate) struct Divide {
    /// Where the number is, as a JSON pointer from the root of the workload. `*` is all items of a list; each
    /// of their numbers is divided.
    #[schemars(regex(pattern = "^(/([^~/]|~[01])*)+$"))]
    pub(crate) path: String,
    /// `Replicas`: by the replicas of each cluster. `Equal`: equally.
    #[serde(default)]
    pub(crate) weights: Weights,
    /// What each cluster of the binding gets at least. A minimum that does not fit fails the rule.
    #[schemars(range(min = 0, max = 4_294_967_295_i64))]
    #[serde(default)]
    pub(crate) minimum: i64,
    /// What each cluster gets at least, also where the parts then sum to more than the number.
    #[schemars(range(min = 0, max = 4_294_967_295_i64))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) floor: Option<i64>,
    /// `Keep`: a percentage such as `"25%"` stays as it is, for it is one of the cluster's own. `Scale`: it
    /// is divided like a number.
    #[serde(default)]
    pub(crate) percentages: Percentages,
}

/// By what a number is divided.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) enum Weights {
    /// The replicas of each cluster.
    #[default]
    Replicas,
    /// Nothing.
    Equal,
}

/// What becomes of a percentage.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) enum Percentages {
    /// It stays.
    #[default]
    Keep,
    /// It is divided.
    Scale,
}
