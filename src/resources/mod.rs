//! The five kinds as custom resources: what an API server is told about them.
//!
//! The types say what a document holds, with a text for each field that `kubectl explain` shows, and what the API server can see to be
//! wrong with it. [`definitions`] makes the `CustomResourceDefinition`s of them that `manifests/crds` holds.
//!
//! It is no reader: documents, wherever they come from, are read and checked by `policy`, which says more and says it better. The two
//! are held against each other by a test: they know the same fields, words and defaults, and whatever the schema refuses is refused
//! there too. Nothing that serves uses this module.
//!
//! A null in an optional field is taken away by the API server, and means there what it means here: that the field is not given. Where a
//! null is a value, the field is required.

mod action;
mod definition;
mod fort;
mod free;
mod interpretation;
mod policy;
mod selector;
mod status;
mod transformation;

pub use action::{Divide, Env, Image, MergeKey, MissingPath, Patch, PatchType, Percentages, Weights};
pub use definition::definitions;
pub use fort::{Elsewhere, Fort, Generate, GenerateWhen};
pub use free::{Free, FreeMap};
pub use interpretation::{
    InterpretedKind, ReplicaResource, ReplicaRevision, ResourceInterpretation, ResourceInterpretationSpec,
};
pub use policy::{
    Allocation, ClusterRevisionPolicy, ClusterRevisionPolicySpec, Handover, HandoverMode, OnError,
    PolicySpec, RevisionPolicy, RevisionPolicySpec, Rule, Strategy, Variable,
};
pub use selector::{
    ClusterField, FieldOperator, FieldRequirement, FieldSelector, LabelOperator, LabelRequirement,
    LabelSelector, ResourceSelector, TargetCluster,
};
pub use status::{Condition, ConditionStatus, PolicyStatus, WorkCount};
pub use transformation::{
    ClusterTargetPodTransformation, ClusterTargetPodTransformationFields, TargetKind, TargetPatch,
    TargetPodTransformation, TargetPodTransformationFields, TargetReference, TargetSelector,
};
