//! The outcome of a request, the same for every door.

use crate::domain::{ClusterName, Failure};
use crate::engine::{HandoverEvent, Revision, SkippedRule};
use crate::patch::Patch;

/// The result of a request, and what its log line, its metrics and its warnings need.
#[derive(Clone, Debug)]
pub struct Outcome<T> {
    pub result: Result<T, Failure>,
    /// The cluster that the object is for, if it was read.
    pub cluster: Option<ClusterName>,
    /// The rules that changed something, as `Kind/policy/rule`, and the transformations, as `Kind/name`.
    pub applied: Vec<String>,
    /// The number of rules that failed and were skipped; `warnings` has one for each.
    pub skipped: usize,
    pub warnings: Vec<String>,
    /// The allocations that move from one cluster to another.
    pub handovers: Vec<HandoverEvent>,
}

impl<T> Outcome<T> {
    /// An outcome without rules or warnings.
    pub fn of(value: T) -> Self {
        Self::new(Ok(value))
    }

    /// A failed request.
    pub fn refused(failure: Failure) -> Self {
        Self::new(Err(failure))
    }

    fn new(result: Result<T, Failure>) -> Self {
        Self {
            result,
            cluster: None,
            applied: Vec::new(),
            skipped: 0,
            warnings: Vec::new(),
            handovers: Vec::new(),
        }
    }

    /// Adds the outcome for one of several objects.
    pub(crate) fn add(&mut self, other: Outcome<()>) {
        self.applied.extend(other.applied);
        self.skipped += other.skipped;
        self.handovers.extend(other.handovers);
        for warning in other.warnings {
            // An object may be in a Work twice.
            if !self.warnings.contains(&warning) {
                self.warnings.push(warning);
            }
        }
    }

    pub(crate) fn with_warning(mut self, warning: String) -> Self {
        self.warnings.push(warning);
        self
    }

    /// The outcome of one revision, of which `value` was made.
    pub(crate) fn from_revision(value: T, revision: Revision<'_>) -> Self {
        let skipped = revision.skipped.iter().map(SkippedRule::to_string);
        Self {
            applied: revision.applied,
            skipped: revision.skipped.len(),
            warnings: skipped.chain(revision.warnings).collect(),
            handovers: revision.handovers,
            ..Self::of(value)
        }
    }
}

impl Outcome<Patch<'_>> {
    /// An object that is stored unchanged.
    pub fn unchanged() -> Self {
        Self::of(Patch::default())
    }

    /// An object that is stored unchanged, with a warning.
    pub fn warned(warning: String) -> Self {
        Self { warnings: vec![warning], ..Self::unchanged() }
    }
}
