//! What a revision is made from, and why there may be none.

use std::collections::BTreeMap;

use jiff::Timestamp;

use super::draft::ObjectSource;
use super::handover::{Allocation, Deliveries};
use crate::domain::{Cluster, ClusterKind, ClusterName, Failure, Target, Workload};
use crate::json::Pointer;

/// The object to revise, and for which cluster.
#[derive(Clone, Copy, Debug)]
pub struct Request<'r, 'a> {
    pub workload: &'r Workload,
    /// The object before the rules: replicas and override policies are applied.
    pub object: &'r ObjectSource<'a>,
    pub target: &'r Target<'a>,
    /// Whether Karmada delivers the object without a binding. A rule that needs the schedule is then refused
    /// with [`Code::Unscheduled`](crate::domain::Code::Unscheduled).
    pub is_unbound: bool,
}

/// What is known besides the object and the policies.
#[derive(Clone, Copy, Debug)]
pub struct Facts<'f> {
    pub entries: &'f LedgerEntries,
    pub allocations: &'f BTreeMap<String, Allocation>,
    pub cluster: Option<&'f Cluster>,
    pub cluster_kind: Option<ClusterKind>,
    /// Where the object has its pod templates; the root for a kind that is itself like a pod. A step `*`
    /// stands for each item of a list.
    pub pod_templates: &'f [Pointer],
    pub deliveries: Deliveries<'f>,
    /// `spec.preserveResourcesOnDeletion` of the binding.
    pub preserves: bool,
    /// The time from which timeouts count.
    pub now: Timestamp,
}

/// What the ledger holds for the workload, by allocation.
pub type LedgerEntries = BTreeMap<String, Option<ClusterName>>;

/// Why there is no revision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stop {
    Refused(Failure),
    /// The revision depends on [`Facts::deliveries`], which are [unread](Deliveries::Unread).
    Unread,
}

/// Why an object has no schedule.
pub(super) const NO_BINDING: &str = "the Work has no binding, so that there is no schedule";

pub(super) const BINDING_ADVICE: &str =
    "remove the rule for this object, or let a PropagationPolicy of Karmada propagate the object";

impl Request<'_, '_> {
    /// The failure of what needs the schedule where it is not known. `advice` says how to give it for an
    /// object that has a binding.
    pub(super) fn unscheduled(&self, problem: &str, advice: &str) -> Failure {
        if self.is_unbound {
            Failure::unscheduled(format!("{problem}: {NO_BINDING}; {BINDING_ADVICE}"))
        } else {
            Failure::unavailable(format!("{problem}: the schedule of the workload is not known; {advice}"))
        }
    }
}

impl Stop {
    /// Applies `change` to a refusal.
    pub(super) fn map(self, change: impl FnOnce(Failure) -> Failure) -> Self {
        match self {
            Self::Refused(failure) => Self::Refused(change(failure)),
            Self::Unread => Self::Unread,
        }
    }
}

impl From<Failure> for Stop {
    fn from(failure: Failure) -> Self {
        Self::Refused(failure)
    }
}
