//! Applies policies to objects: pure functions of values.
//!
//! [`revise`] takes an object, the policies that apply to it and what is known about allocations and
//! clusters. It returns the revised object, with the ledger changes that have to be committed before the
//! object is used. There is no I/O, clock or log here, and nothing depends on the order of a hash table:
//! every replica computes the same bytes.
//!
//! `policy` compiles documents to a [`PolicySet`]; the types of it are here, because the engine defines what
//! a rule can do.

mod actions;
mod allocate;
mod chaperon;
mod context;
mod draft;
mod env_order;
mod handover;
mod invalid;
mod limits;
mod locate;
mod naming;
mod owner;
mod pattern;
mod places;
mod policy;
mod policy_set;
mod replicas;
mod request;
pub mod requirements;
mod revise;
mod selectors;
mod templated;
mod trace;
mod transformations;
mod types;
mod undo;
pub mod validate;
mod variables;

pub use actions::{
    Action, Divide, Elsewhere, Env, EnvChange, Fort, Generate, GenerateWhen, Image, MergeKey, PatchAction,
    PatchKind, Percentages, Weights,
};
pub use allocate::{AllocationReason, AllocationStrategy, Choice, allocate};
pub use draft::{Draft, ObjectSource};
pub use handover::{Allocation, Deliveries, Handover, HandoverEvent};
pub use invalid::{InvalidDocument, InvalidScope};
pub use limits::{IDENTITY, protected_by};
pub use naming::{names_transformations, transformation_name_warnings};
pub use owner::{Owner, TransformationScope};
pub use places::{below_string, list_in_path};
pub use policy::{OnError, Policy, Rule};
pub use policy_set::{PolicySet, Selection, allocations};
pub use replicas::{Interpretation, interpret_replica, revise_replica};
pub use request::{Facts, LedgerEntries, Request, Stop};
pub use revise::{Claim, Revision, SkippedRule, explain, revise};
pub use selectors::{
    ClusterField, ClusterPattern, FieldRequirement, LabelRequirement, LabelSelector, ResourceSelector,
    TargetClusters,
};
pub use templated::Templated;
pub use trace::{Change, Placement, PlacementStatus, StepOutcome, Trace, TraceStep};
pub use transformations::{IdleTransformation, TargetPatch, Targets, Transformation, Transformations};
pub use undo::{Undo, UndoError, UndoTextError};
pub use variables::{ClusterTable, Definition, NO_ENTRY};
