//! Where a document is, and so which workloads it is for.

use std::fmt;

use super::draft::ObjectSource;
use super::selectors::ResourceSelector;
use crate::domain::{Failure, Workload};

/// The identity of a policy, as messages show it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Owner {
    /// A `ClusterRevisionPolicy`.
    Cluster { name: String },
    /// A `RevisionPolicy`. It is for workloads of its namespace.
    Namespace { namespace: String, name: String },
}

/// Where a transformation can be chosen. Of several with one name, the first in this order is used.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TransformationScope {
    /// In this namespace.
    Namespace(String),
    /// In every namespace: the document is namespaced, and names no namespace.
    AnyNamespace,
    /// Everywhere, also by objects without a namespace.
    Cluster,
}

impl fmt::Display for Owner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cluster { name } => write!(f, "ClusterRevisionPolicy/{name}"),
            Self::Namespace { name, .. } => write!(f, "RevisionPolicy/{name}"),
        }
    }
}

impl Owner {
    /// The namespace of the workloads that it is for; `None` for all.
    pub fn namespace(&self) -> Option<&str> {
        match self {
            Self::Cluster { .. } => None,
            Self::Namespace { namespace, .. } => Some(namespace),
        }
    }

    /// Whether it is for the workload, and one of the selectors selects it.
    pub(super) fn selects(
        &self,
        selectors: &[ResourceSelector],
        workload: &Workload,
        object: &ObjectSource<'_>,
    ) -> Result<bool, Failure> {
        if self.namespace().is_some_and(|namespace| *namespace != workload.namespace) {
            return Ok(false);
        }
        for selector in selectors {
            if selector.selects(workload, object)? {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

impl TransformationScope {
    pub(super) fn includes(&self, namespace: &str) -> bool {
        match self {
            Self::Namespace(own) => own == namespace,
            Self::AnyNamespace => !namespace.is_empty(),
            Self::Cluster => true,
        }
    }
}
