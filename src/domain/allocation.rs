//! The key of a ledger entry.

use std::fmt;

use super::Workload;

/// One allocation of one workload.
///
/// Neither the uid nor the version of the workload is part of it: a workload that is deleted and made
/// again, or read through another API version, keeps its cluster.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AllocationKey {
    /// The name of the allocation in the policies, for instance `fort`.
    pub allocation: String,
    /// Empty for the core group.
    pub group: String,
    pub kind: String,
    /// Empty for a cluster-scoped workload.
    pub namespace: String,
    pub name: String,
}

impl AllocationKey {
    pub fn new(allocation: &str, workload: &Workload) -> Self {
        Self {
            allocation: allocation.to_owned(),
            group: workload.gvk.group.clone(),
            kind: workload.gvk.kind.clone(),
            namespace: workload.namespace.clone(),
            name: workload.name.clone(),
        }
    }
}

/// The annotation `reviser.io/<allocation>-cluster`. It names the cluster of the allocation; on a template,
/// it pins it.
pub fn allocation_annotation(allocation: &str) -> String {
    format!("{ALLOCATION_PREFIX}{allocation}{ALLOCATION_SUFFIX}")
}

/// The reverse of [`allocation_annotation`].
pub fn annotated_allocation(key: &str) -> Option<&str> {
    let name = key.strip_prefix(ALLOCATION_PREFIX)?.strip_suffix(ALLOCATION_SUFFIX)?;
    (!name.is_empty()).then_some(name)
}

const ALLOCATION_PREFIX: &str = "reviser.io/";
const ALLOCATION_SUFFIX: &str = "-cluster";

impl fmt::Display for AllocationKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { allocation, group, kind, namespace, name } = self;
        let (dot, slash) =
            (if group.is_empty() { "" } else { "." }, if namespace.is_empty() { "" } else { "/" });
        write!(f, "allocation {allocation:?} of {kind}{dot}{group} {namespace}{slash}{name}")
    }
}
