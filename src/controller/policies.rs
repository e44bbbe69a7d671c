//! The policies, as the controller is told of them.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::Value;

use super::planner::Allocations;
use crate::domain::PolicyKind;
use crate::engine::{Handover, Owner, PolicySet};

/// The policies that are in force, and what is to be said about the documents that they come from.
#[derive(Clone, Debug, Default)]
pub struct Policies {
    /// The same that the door answers by.
    pub set: Arc<PolicySet>,
    /// One for each custom resource; none where policies are files.
    pub resources: Vec<PolicyResource>,
}

/// What is to be said about one custom resource.
#[derive(Clone, Debug)]
pub struct PolicyResource {
    /// Its kind.
    pub kind: PolicyKind,
    /// Its namespace; empty for one in none.
    pub namespace: String,
    /// Its name.
    pub name: String,
    /// `metadata.uid`
    pub uid: String,
    /// `metadata.generation` of what was judged.
    pub generation: i64,
    /// Everything that is wrong with it; nothing, and it is in force.
    pub findings: Vec<String>,
    /// What is strange about it all the same, if it is in force.
    pub warnings: Vec<String>,
    /// Its `status`, as it was read.
    pub status: Option<Value>,
}

impl PolicyResource {
    /// What the engine calls it, if it selects Works.
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
    /// Whether Works may stand differently to other policies than to these.
    pub(super) fn differ(&self, other: &Self) -> bool {
        // What a faulty policy selects depends on its document.
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

    /// What they say about allocations.
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
