//! What comes of a review, whatever is reviewed.

use super::SkippedRule;
use crate::domain::{ClusterName, Failure};
use crate::engine::HandoverEvent;
use crate::patch::Patch;

/// What becomes of an object that is to be stored.
#[derive(Clone, Debug)]
pub struct ReviewOutcome<'a> {
    /// What is to be changed in it, or why it can't be stored.
    pub patch: Result<Patch<'a>, Failure>,
    /// What whoever stores it should know.
    pub warnings: Vec<String>,
    /// The rules that changed something, as `Kind/policy/rule`.
    pub applied: Vec<String>,
    /// The rules that were skipped.
    pub skipped: Vec<SkippedRule>,
    /// The allocations that leave a cluster.
    pub handovers: Vec<HandoverEvent>,
    /// The cluster that it is for, if it concerns us.
    pub cluster: Option<ClusterName>,
}

impl ReviewOutcome<'_> {
    /// An object that is left as it is.
    pub fn untouched() -> Self {
        Self {
            patch: Ok(Patch::default()),
            warnings: Vec::new(),
            applied: Vec::new(),
            skipped: Vec::new(),
            handovers: Vec::new(),
            cluster: None,
        }
    }

    /// An object that can't be stored, or not be reviewed.
    pub fn refused(failure: Failure) -> Self {
        Self { patch: Err(failure), ..Self::untouched() }
    }

    /// Something that is left as it is, although it should not have come here.
    pub fn ignored(warning: String) -> Self {
        Self { warnings: vec![warning], ..Self::untouched() }
    }
}
