//! The rules at work: pure functions of values.
//!
//! [`revise`] takes a request, the compiled policies and what the ledger holds, and gives the revised object
//! together with the ledger changes that make the answer true. Nothing here does I/O, reads a clock, logs, or
//! depends on the order of a hash table: the same input gives the same bytes, on every replica of the server.
//!
//! * [`PolicySet`] is what `policy` compiles; the engine owns the type because it defines what a rule can do.
//! * [`InvalidDocument`]: what is out of use, and why whatever it selects gets no answer.
//! * [`allocate`] is the choice of the one cluster (docs/policies.md, "Which cluster hosts an allocation").
//! * `handover`: how an allocation leaves a cluster without being in two. [`Undo`]: how a revision is taken back.
//! * [`explain`] revises too, and tells with a [`Trace`] what each rule did.
//! * `actions`: what rules can do. `limits`, `chaperon`: what no rule may touch.
//! * `types`, [`validate`]: what no API server takes. `checked`: all checks of a result, and which rule a failure is of.
//! * [`Transformation`]: what a workload chooses itself, after all policies.
//! * [`interpret_replica`] and [`revise_replica`]: the operations that know no cluster and ask no policy;
//!   [`requirements`] is what one replica of a pod template needs.

mod actions;
mod allocate;
mod chaperon;
mod checked;
mod compiled;
mod context;
mod draft;
mod handover;
mod invalid;
mod limits;
mod locate;
mod naming;
mod pattern;
mod places;
mod replicas;
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
pub use allocate::{AllocationReason, Choice, allocate};
pub use compiled::{
    Allocation, ClusterTable, Definition, Handover, Interpretation, NO_ENTRY, OnError, Owner, Policy,
    PolicySet, Rule, Selection,
};
pub use draft::Draft;
pub use handover::{Deliveries, HandoverEvent};
pub use invalid::{InvalidDocument, InvalidScope};
pub use limits::{IDENTITY, protected_by};
pub use naming::{names_transformations, transformation_name_warnings};
pub use places::{below_string, list_in_path};
pub use replicas::{interpret_replica, revise_replica};
pub use revise::{
    Claim, Facts, LedgerEntries, Request, Revision, SkippedRule, Stop, allocations, explain, revise,
};
pub use selectors::{
    ClusterField, ClusterPattern, FieldRequirement, LabelRequirement, LabelSelector, ResourceSelector,
    TargetClusters,
};
pub use templated::Templated;
pub use trace::{Change, Placement, PlacementStatus, StepOutcome, Trace, TraceStep};
pub use transformations::{
    IdleTransformation, TargetPatch, Targets, Transformation, TransformationScope, Transformations,
};
pub use undo::{Undo, UndoError, UndoTextError};
