//! Documents that are not used because they are invalid, while others are active.
//!
//! A request that such a document selects, as far as its selectors can be read, is answered with a failure:
//! without the document, the object that it was written to prevent would be delivered. Other requests are not
//! affected.

use super::draft::ObjectSource;
use super::owner::{Owner, TransformationScope};
use super::selectors::ResourceSelector;
use crate::domain::{Failure, GroupVersionKind, Workload};

#[derive(Clone, Debug, PartialEq)]
pub struct InvalidDocument {
    /// `Kind/name`
    pub document: String,
    /// The first problem.
    pub problem: String,
    pub scope: InvalidScope,
}

/// Which requests have no answer while a document is invalid.
#[derive(Clone, Debug, PartialEq)]
pub enum InvalidScope {
    /// Those for workloads that it selects. A part of a selector that can't be read selects all; a selector
    /// of which not even the kind can be read is left out.
    Policy { owner: Owner, selectors: Vec<ResourceSelector> },
    /// Those for workloads that name it.
    Transformation { scope: TransformationScope, name: String },
    /// Those that depend on the interpretation of this kind, unless another document defines it.
    Interpretation(GroupVersionKind),
}

impl InvalidDocument {
    /// Why there is no answer.
    pub(super) fn failure(&self) -> Failure {
        let what = match self.scope {
            InvalidScope::Policy { .. } => "selects this workload",
            InvalidScope::Transformation { .. } => "is named by this workload",
            InvalidScope::Interpretation(_) => "interprets this kind",
        };
        let problem = &self.problem;
        Failure::unavailable(format!("{what}, and is invalid: {problem}; fix or delete it"))
            .context(&self.document)
    }

    /// Whether it is a policy that selects the workload.
    pub(super) fn selects(&self, workload: &Workload, object: &ObjectSource<'_>) -> Result<bool, Failure> {
        match &self.scope {
            InvalidScope::Policy { owner, selectors } => owner.selects(selectors, workload, object),
            InvalidScope::Transformation { .. } | InvalidScope::Interpretation(_) => Ok(false),
        }
    }

    /// Its scope, if it is a transformation that `wanted` names in `namespace`.
    pub(super) fn chosen_as(&self, namespace: &str, wanted: &str) -> Option<&TransformationScope> {
        match &self.scope {
            InvalidScope::Transformation { scope, name } if name == wanted && scope.includes(namespace) => {
                Some(scope)
            }
            _ => None,
        }
    }

    pub(super) fn interprets(&self, gvk: &GroupVersionKind) -> bool {
        matches!(&self.scope, InvalidScope::Interpretation(target) if target == gvk)
    }
}
