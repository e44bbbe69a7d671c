//! What is wrong with a document.

use std::fmt;

use crate::json::{Pointer, field_path};

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

/// Where, and what: `spec.rules[0].name: is required`.
impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.field.is_root() {
            write!(f, "{}: ", field_path(&self.field))?;
        }
        f.write_str(&self.problem)
    }
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
