//! Documents that are out of use because they are faulty, while others are in force.
//!
//! What such a document selects, as far as it still says so, is answered with a failure: to go on without it would deliver what it was
//! written to prevent. Nobody else is to notice.

use super::compiled::Owner;
use super::selectors::ResourceSelector;
use super::transformations::TransformationScope;
use crate::domain::{Failure, GroupVersionKind, Workload};
use crate::json::Raw;

/// A document that is out of use.
#[derive(Clone, Debug, PartialEq)]
pub struct InvalidDocument {
    /// The document, as `Kind/name`.
    pub document: String,
    /// What is wrong with it: the first of all.
    pub problem: String,
    /// What it stands for.
    pub scope: InvalidScope,
}

/// What can't be answered while a document is out of use.
#[derive(Clone, Debug, PartialEq)]
pub enum InvalidScope {
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
        scope: TransformationScope,
        /// Its name.
        name: String,
    },
    /// An interpretation: whatever depends on how this kind is interpreted, unless another document says it.
    Interpretation(GroupVersionKind),
}

impl InvalidDocument {
    /// Why there is no answer.
    pub(super) fn failure(&self) -> Failure {
        let what = match self.scope {
            InvalidScope::Policy { .. } => "selects this workload",
            InvalidScope::Transformation { .. } => "is chosen by this workload",
            InvalidScope::Interpretation(_) => "interprets this kind",
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
            InvalidScope::Policy { owner, selectors } => owner.selects(selectors, workload, object),
            InvalidScope::Transformation { .. } | InvalidScope::Interpretation(_) => Ok(false),
        }
    }

    /// Where it can be chosen in `namespace`, if it is a transformation of that name.
    pub(super) fn chosen_as(&self, namespace: &str, wanted: &str) -> Option<&TransformationScope> {
        match &self.scope {
            InvalidScope::Transformation { scope, name } if name == wanted && scope.includes(namespace) => {
                Some(scope)
            }
            _ => None,
        }
    }

    /// Whether it is an interpretation of the kind.
    pub(super) fn interprets(&self, gvk: &GroupVersionKind) -> bool {
        matches!(&self.scope, InvalidScope::Interpretation(target) if target == gvk)
    }
}
