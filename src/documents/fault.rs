//! What is wrong with a document, for the user.

use std::fmt;
use std::path::Path;

use crate::json::{Pointer, field_path};
use crate::yaml::{self, Document};

use super::Problem;

/// One thing that is wrong, told with its place: `FILE: document N, line L: FIELD: PROBLEM`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Fault {
    file: String,
    line: usize,
    text: String,
}

impl Fault {
    /// Of a file or directory as a whole.
    pub fn of(path: &Path, problem: &str) -> Self {
        let file = path.display().to_string();
        Self { text: format!("{file}: {problem}"), file, line: 0 }
    }

    /// Of the value at `field` of `document`, which is in the file at `path`.
    pub fn at(path: &Path, document: &Document, field: &Pointer, problem: &str) -> Self {
        let reading = document.lines.reading(field).filter(|_| yaml::asks_for_a_string(problem));
        let problem = reading.map_or_else(|| problem.to_owned(), |reading| reading.explain(problem));
        let line = document.lines.of(field).line;
        Self::in_document(path, document.index, line, field, &problem)
    }

    /// The same, of the document with this index, whose value at `field` is on `line`.
    pub(super) fn in_document(
        path: &Path,
        document: usize,
        line: usize,
        field: &Pointer,
        problem: &str,
    ) -> Self {
        let file = path.display().to_string();
        let field = field_path(field);
        let field = if field.is_empty() { field } else { format!("{field}: ") };
        Self { text: format!("{file}: document {}, line {line}: {field}{problem}", document + 1), file, line }
    }

    /// The texts of all, by file and line.
    pub fn texts(mut faults: Vec<Self>) -> Vec<String> {
        faults.sort_by(|a, b| (&a.file, a.line).cmp(&(&b.file, b.line)));
        faults.into_iter().map(|fault| fault.text).collect()
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl From<&Problem> for Fault {
    fn from(problem: &Problem) -> Self {
        Self::of(problem.path(), &problem.cause().to_string())
    }
}
