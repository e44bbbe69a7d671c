//! Documents that are out of use because they are faulty, while others are in force.
//!
//! What such a document selects, as far as it still says so, is answered with a failure: to go on without it would deliver what it was
//! written to prevent. Nobody else is to notice.

use super::compiled::Owner;
use super::selectors::ResourceSelector;
use super::transformations::Home;
use crate::domain::{Failure, GroupVersionKind, Workload};
use crate::json::Raw;

/// A document that is out of use.
#[derive(Clone, Debug, PartialEq)]
pub struct Broken {
    /// The document, as `Kind/name`.
    pub document: String,
    /// What is wrong with it: the first of all.
    pub problem: String,
    /// What it stands for.
    pub scope: BrokenScope,
}

/// What can't be answered while a document is out of use.
#[derive(Clone, Debug, PartialEq)]
pub enum BrokenScope {
    /// A policy: whatever it selects. A part of a selector that can't be read selects all.
    Policy {
        /// Whose it is.
        owner: Owner,
        /// Its selectors, without those of which not even the kind can be read.
        selectors: Vec<ResourceSelector>,
    },
    /// A transformation: whoever chooses it.
    Transformation {
        /// Where it can be chosen.
        home: Home,
        /// Its name.
        name: String,
    },
    /// An interpretation: whatever depends on how this kind is interpreted, unless another document says it.
    Interpretation(GroupVersionKind),
}

impl Broken {
    /// Why there is no answer.
    pub(super) fn failure(&self) -> Failure {
        let what = match self.scope {
            BrokenScope::Policy { .. } => "selects this workload",
            BrokenScope::Transformation { .. } => "is chosen by this workload",
            BrokenScope::Interpretation(_) => "interprets this kind",
        };
        let problem = &self.problem;
        Failure::unavailable(format!(
            "{what}, and is out of use because it is faulty: {problem}; mend or delete it"
        ))
        .context(&self.document)
    }

    /// Whether it is a policy that selects the workload.
    pub(super) fn selects(&self, workload: &Workload, object: &Raw<'_>) -> Result<bool, Failure> {
        match &self.scope {
            BrokenScope::Policy { owner, selectors } => owner.selects(selectors, workload, object),
            BrokenScope::Transformation { .. } | BrokenScope::Interpretation(_) => Ok(false),
        }
    }

    /// Where it can be chosen in `namespace`, if it is a transformation of that name.
    pub(super) fn chosen_as(&self, namespace: &str, wanted: &str) -> Option<&Home> {
        match &self.scope {
            BrokenScope::Transformation { home, name } if name == wanted && home.includes(namespace) => {
                Some(home)
            }
            _ => None,
        }
    }

    /// Whether it is an interpretation of the kind.
    pub(super) fn interprets(&self, gvk: &GroupVersionKind) -> bool {
        matches!(&self.scope, BrokenScope::Interpretation(target) if target == gvk)
    }
}
