//! Errors and warnings about documents, as printed for users.

use std::fmt;
use std::path::Path;

use crate::json::{Pointer, field_path};
use crate::yaml::{self, Document};

use super::FileError;

/// An error or a warning, printed as `FILE: document N, line L: FIELD: PROBLEM`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Diagnostic {
    file: String,
    line: usize,
    text: String,
}

impl Diagnostic {
    /// About a file or directory as a whole.
    pub fn of(path: &Path, problem: &str) -> Self {
        let file = path.display().to_string();
        Self { text: format!("{file}: {problem}"), file, line: 0 }
    }

    /// About the value at `field` of a document.
    pub fn at(path: &Path, document: &Document, field: &Pointer, problem: &str) -> Self {
        let reading = document.lines.reading(field).filter(|_| yaml::asks_for_a_string(problem));
        let problem = reading.map_or_else(|| problem.to_owned(), |reading| reading.explain(problem));
        let line = document.lines.of(field).line;
        Self::in_document(path, document.index, line, field, &problem)
    }

    /// About the value at `field` and `line` of the document with this index.
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

    /// The texts, sorted by file and line.
    pub fn texts(mut diagnostics: Vec<Self>) -> Vec<String> {
        diagnostics.sort_by(|a, b| (&a.file, a.line).cmp(&(&b.file, b.line)));
        diagnostics.into_iter().map(|diagnostic| diagnostic.text).collect()
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl From<&FileError> for Diagnostic {
    fn from(error: &FileError) -> Self {
        Self::of(error.path(), &error.kind().to_string())
    }
}
