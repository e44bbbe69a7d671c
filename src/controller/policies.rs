//! The policies that the controller works with.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::Value;

use super::planner::Allocations;
use crate::domain::PolicyKind;
use crate::engine::{Handover, Owner, PolicySet};

/// The active policies, and what to report about the documents that they come from.
#[derive(Clone, Debug, Default)]
pub struct Policies {
    /// The policies that the doors use too.
    pub set: Arc<PolicySet>,
    /// One item for each custom resource. Empty if policies come from files.
    pub resources: Vec<PolicyResource>,
}

/// What to report about one custom resource.
#[derive(Clone, Debug)]
pub struct PolicyResource {
    /// Its kind.
    pub kind: PolicyKind,
    /// Its namespace. Empty for a cluster-scoped resource.
    pub namespace: String,
    /// Its name.
    pub name: String,
    /// `metadata.uid`
    pub uid: String,
    /// The `metadata.generation` that was validated.
    pub generation: i64,
    /// The errors. The resource is active if there are none.
    pub findings: Vec<String>,
    /// The warnings about an active resource.
    pub warnings: Vec<String>,
    /// Its `status`, as it was read.
    pub status: Option<Value>,
}

impl PolicyResource {
    /// The owner of its rules in the engine, if it selects Works.
    pub(super) fn owner(&self) -> Option<Owner> {
        match self.kind {
            PolicyKind::ClusterRevisionPolicy => Some(Owner::Cluster { name: self.name.clone() }),
            PolicyKind::RevisionPolicy => {
                Some(Owner::Namespace { namespace: self.namespace.clone(), name: self.name.clone() })
            }
            PolicyKind::ResourceInterpretation
            | PolicyKind::ClusterTargetPodTransformation
            | PolicyKind::TargetPodTransformation => None,
        }
    }
}

impl Policies {
    /// Whether the sync state of Works may differ between these policies and `other`.
    pub(super) fn differ(&self, other: &Self) -> bool {
        // What an invalid policy selects depends on its document.
        let faulty = |policies: &Self| -> Vec<(PolicyKind, String, String, i64)> {
            let faulty = policies.resources.iter().filter(|resource| !resource.findings.is_empty());
            let name = |resource: &PolicyResource| {
                let (namespace, name) = (resource.namespace.clone(), resource.name.clone());
                (resource.kind, namespace, name, resource.generation)
            };
            faulty.map(name).collect()
        };
        self.set.digest() != other.set.digest() || faulty(self) != faulty(other)
    }

    /// The allocations of the policies.
    pub(super) fn allocations(&self) -> Allocations {
        let ends_with_time =
            |handover: &Handover| matches!(handover, Handover::AfterRelease { timeout: Some(_) });
        let all = &self.set.allocations;
        let timed = all.iter().filter(|(_, allocation)| ends_with_time(&allocation.handover));
        let is_whole = self.resources.iter().all(|resource| resource.findings.is_empty());
        Allocations {
            timed: timed.map(|(name, _)| name.clone()).collect(),
            defined: is_whole.then(|| all.keys().cloned().collect::<BTreeSet<_>>()),
        }
    }
}
