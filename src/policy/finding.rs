//! What is wrong with a document.

use std::fmt::Write as _;

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

/// A pointer in the spelling of Kubernetes' field paths: `spec.rules[0].fort.steps`.
///
/// Names that hold something else than letters, digits, `-` and `_` are quoted: `metadata.labels["a.b/c"]`.
pub fn field_path(pointer: &Pointer) -> String {
    let mut path = String::new();
    for token in pointer.tokens() {
        let digits = !token.is_empty() && token.bytes().all(|byte| byte.is_ascii_digit());
        let plain = token.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_');
        if digits {
            write!(path, "[{token}]")
        } else if plain && !token.is_empty() {
            write!(path, "{}{token}", if path.is_empty() { "" } else { "." })
        } else {
            write!(path, "[{token:?}]")
        }
        .unwrap_or_else(|_| unreachable!("a String takes it"));
    }
    path
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
