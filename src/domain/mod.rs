//! The values that all other modules share.
//!
//! Glossary, with Karmada's names where it has them:
//!
//! * *workload*: the object that is delivered to member clusters ([`Workload`] is its identity).
//! * *template*: the workload as the user applied it, before replicas and override policies.
//! * *schedule*: which member clusters get the workload, and with how many replicas ([`Schedule`]).
//! * *allocation*: the choice of one cluster of the schedule, kept under a name; for instance the
//!   cluster that hosts the *fort* pod ([`AllocationKey`]).
//! * *ledger*: where allocations are stored.
//! * *binding*: what Karmada decided about a workload ([`Binding`]); *Work*: what it delivers to one cluster
//!   ([`Delivery`]).
//! * *failure*: why a request is refused or fails ([`Failure`]).
//! * *quantity*: an amount of a resource, in Kubernetes' spelling ([`Quantity`]).

mod admiralty;
mod allocation;
mod binding;
mod cluster;
mod digest;
mod duration;
mod error_chain;
mod failure;
mod interpret;
mod karmada;
mod nearest;
mod policies;
mod quantity;
mod schedule;
mod workload;

pub use admiralty::{
    ADMIRALTY_GROUP, ClusterKind, ELECT_ANNOTATION, PARENT_CLUSTER_LABEL, POD_CHAPERON,
    PROPOSED_TRANSFORMATION_ANNOTATION, SOURCE_POD_ANNOTATION, TRANSFORMATION_ANNOTATION,
    join_transformations,
};
pub use allocation::{AllocationKey, allocation_annotation, annotated_allocation};
pub use binding::{Binding, BindingName, Delivery, Hosts, StoredBinding};
pub use cluster::Cluster;
pub use digest::digest;
pub use duration::parse_duration;
pub use error_chain::ErrorChain;
pub use failure::{Code, Failure, MAX_MESSAGE_BYTES, shorten};
pub use interpret::{Answer, Operation, Question, Target};
pub use karmada::{
    BINDING_ID_LABELS, BINDING_NAME_ANNOTATION, BINDING_NAMESPACE_ANNOTATION,
    CLUSTER_BINDING_NAME_ANNOTATION, EXECUTION_NAMESPACE_PREFIX, SUPPRESSED_LABEL,
};
pub use nearest::{likeliest, nearest_names};
pub use policies::{POLICY_GROUP, POLICY_VERSION, PolicyKind};
pub use quantity::{Format, Quantity, QuantityError};
pub use schedule::{Schedule, ScheduleError, TargetCluster};
pub use workload::{
    ClusterName, GroupVersionKind, REVISED_ANNOTATION, REVISION_ANNOTATION, Workload, is_list_kind,
    owned_by_platform,
};
