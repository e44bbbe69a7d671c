//! Errors and warnings about documents.

use std::fmt;

use crate::json::{Notes, Pointer, field_path};

/// An error in or a warning about a policy document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The index of the document in the input of [`compile`](super::compile).
    pub document: usize,
    /// The place in the document.
    pub field: Pointer,
    /// What is wrong and how to fix it.
    pub problem: String,
}

impl Finding {
    /// Turns the errors in `notes` of one document into findings.
    pub(super) fn all(document: usize, notes: Notes) -> Vec<Self> {
        notes.into_iter().map(|(field, problem)| Self { document, field, problem }).collect()
    }
}

/// The place and the problem: `spec.rules[0].name: is required`.
impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.field.is_root() {
            write!(f, "{}: ", field_path(&self.field))?;
        }
        f.write_str(&self.problem)
    }
}
