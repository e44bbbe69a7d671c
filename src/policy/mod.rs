//! Parses, validates and compiles policy documents for the engine.
//!
//! [`examine`] is for files: it returns a [`PolicySet`](crate::engine::PolicySet) only if all documents are
//! valid, else every [`Finding`] with its document and field path. [`admit`] is for custom resources: an
//! invalid document leaves the others active. Both also return warnings. Both take parsed documents: this
//! module does no I/O.

mod action;
mod admit;
mod clusters;
mod compile;
mod decode;
mod definition;
mod finding;
mod fort;
mod interpretation;
mod invalid;
mod lint;
mod merge_keys;
mod part;
mod patch;
mod paths;
mod readings;
mod revision;
mod selector;
mod template;
mod transformation;
mod types;

#[cfg(test)]
mod tests;

pub use admit::{Admitted, DocumentReport, Seniority, admit};
pub use clusters::{misses_cluster_name, named_clusters, reads_cluster_name, unknown_clusters};
pub use compile::{API_VERSION, BUILT_IN, Examined, compile, examine, own_kind};
pub use definition::{PolicyFinding, definition, misfits_of_object};
pub use finding::Finding;
pub use lint::{REPEATED_ON_CHAPERONS, certain_repeats};
