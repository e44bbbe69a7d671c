//! What is wrong with a document, for the user.

use std::fmt::Write as _;
use std::path::Path;

use crate::json::Pointer;
use crate::yaml::Document;

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
        let (file, line) = (path.display().to_string(), document.lines.of(field).line);
        let field = field_path(field);
        let field = if field.is_empty() { field } else { format!("{field}: ") };
        Self {
            text: format!("{file}: document {}, line {line}: {field}{problem}", document.index + 1),
            file,
            line,
        }
    }

    /// The texts of all, by file and line.
    pub fn texts(mut faults: Vec<Self>) -> Vec<String> {
        faults.sort_by(|a, b| (&a.file, a.line).cmp(&(&b.file, b.line)));
        faults.into_iter().map(|fault| fault.text).collect()
    }
}

impl From<&Problem> for Fault {
    fn from(problem: &Problem) -> Self {
        Self::of(problem.path(), &problem.cause().to_string())
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn field_paths_are_spelled_as_kubernetes_spells_them() {
        let path = |pointer: &str| field_path(&Pointer::parse(pointer).unwrap());
        assert_eq!(path("/spec/rules/0/fort"), "spec.rules[0].fort");
        assert_eq!(path("/metadata/labels/a.b~1c"), r#"metadata.labels["a.b/c"]"#);
        assert_eq!(path(""), "");
    }
}
