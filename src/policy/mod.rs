//! Policy documents: read, checked and compiled into what the engine runs.
//!
//! [`compile`] looks at all documents before it says anything, and gives either a [`PolicySet`](crate::engine::PolicySet) or *every*
//! [`Finding`], each with its document and field path. [`examine`] gives warnings too: what is strange, and may be in force all the same.
//! These are for files, which stand or fall together; [`admit`] is for custom resources, each of which stands for itself. All take parsed documents and do no I/O; where they
//! come from, and on which line a field stands, is known at the edge.

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
