//! What is wrong with a document.

use std::fmt;

use crate::json::{Notes, Pointer, field_path};

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

impl Finding {
    /// The findings that `notes` of one document come to.
    pub(super) fn all(document: usize, notes: Notes) -> Vec<Self> {
        notes.into_iter().map(|(field, problem)| Self { document, field, problem }).collect()
    }
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
