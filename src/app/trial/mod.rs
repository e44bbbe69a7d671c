//! What `check` and `preview` share: policies tried on objects from files, with clusters from flags and files.

mod clusters;
mod objects;

pub use clusters::{ClusterLabels, KnownClusters};
pub use objects::{Parsed, TrialObject, TrialObjects, without_template};
