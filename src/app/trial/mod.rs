//! Shared by `check` and `preview`: objects from files, and clusters from flags and files.

mod clusters;
mod objects;

pub use clusters::{ClusterLabels, KnownClusters};
pub use objects::{ParsedObject, TrialObject, TrialObjects, without_template};
