//! What is wrong with a document.

use crate::json::Pointer;

/// One fault of a policy document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Which document, as an index into what [`compile`](super::compile) was given.
    pub document: usize,
    /// Where in it.
    pub field: Pointer,
    /// What is wrong, and what would be right.
    pub problem: String,
}

/// The candidate that `name` was probably meant to be.
pub(super) fn nearest<'c>(name: &str, candidates: impl IntoIterator<Item = &'c str>) -> Option<&'c str> {
    const CLOSE: f64 = 0.8;
    candidates
        .into_iter()
        .map(|candidate| (strsim::jaro_winkler(&name.to_lowercase(), &candidate.to_lowercase()), candidate))
        .filter(|(likeness, _)| *likeness >= CLOSE)
        .max_by(|(a, _), (b, _)| a.total_cmp(b))
        .map(|(_, candidate)| candidate)
}
