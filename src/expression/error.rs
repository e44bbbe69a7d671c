//! Errors of compilation and of evaluation.

use std::borrow::Cow;
use std::fmt;

use super::scan;

/// Why a source does not compile, and where. The message holds names and text of the policy, never of an
/// object.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}, column {column}: {problem}")]
pub struct CompileError {
    offset: usize,
    line: usize,
    column: usize,
    problem: String,
    /// Whether the source may not be meant as an expression: it has a syntax error, or names a variable that
    /// does not exist.
    may_be_literal: bool,
}

const LITERAL: &str = "`${...}` is an expression; write `$${` for a literal one";

impl CompileError {
    /// An error at byte `offset` of `text`.
    pub(super) fn new(text: &str, offset: usize, problem: impl Into<String>) -> Self {
        let offset = text.floor_char_boundary(offset);
        let before = &text[..offset];
        let line_start = before.rfind('\n').map_or(0, |end| end + 1);
        let line = before.bytes().filter(|byte| *byte == b'\n').count() + 1;
        let column = before[line_start..].chars().count() + 1;
        Self { offset, line, column, problem: problem.into(), may_be_literal: false }
    }

    /// Marks an error that text which is not meant as an expression has as well.
    pub(super) fn or_literal(self) -> Self {
        Self { may_be_literal: true, ..self }
    }

    /// The same error for the expression `text[start..end]` of a template. Adds how to write a literal `${`
    /// if the expression looks like text of another language.
    pub(super) fn within(self, text: &str, start: usize, end: usize) -> Self {
        let advice = self.may_be_literal || scan::is_shell_parameter(&text[start..end]);
        let problem = if advice { format!("{}; {LITERAL}", self.problem) } else { self.problem };
        Self::new(text, start + self.offset, problem)
    }

    /// The byte offset in the source.
    pub fn offset(&self) -> usize {
        self.offset
    }

    /// The line, from 1.
    pub fn line(&self) -> usize {
        self.line
    }

    /// The column in characters, from 1.
    pub fn column(&self) -> usize {
        self.column
    }

    /// What is wrong, with a suggestion if there is one.
    pub fn problem(&self) -> &str {
        &self.problem
    }
}

/// The problem of a map that is indexed with a missing key.
pub const NO_SUCH_MEMBER: &str = "the map has no member of this name";

/// What failed in an evaluation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ErrorKind {
    /// A variable has no value, with the reason if there is one.
    Undefined { variable: String, why: Option<String> },
    /// A limit was reached. `||`, `&&`, loops and optionals do not hide this.
    Limit(&'static str),
    /// The operation is not possible with these values.
    Failed(Cow<'static, str>),
}

impl ErrorKind {
    pub(super) fn failed(text: impl Into<Cow<'static, str>>) -> Self {
        Self::Failed(text.into())
    }
}

impl fmt::Display for ErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Undefined { variable, why: None } => write!(f, "{variable} is not defined"),
            Self::Undefined { variable, why: Some(why) } => write!(f, "{variable} is not defined: {why}"),
            Self::Limit(text) => f.write_str(text),
            Self::Failed(text) => f.write_str(text),
        }
    }
}

/// A problem and the offset of the node that has it.
#[derive(Debug)]
pub(super) struct NodeError {
    pub(super) offset: u32,
    pub(super) problem: ErrorKind,
}

/// Why the evaluation of an expression failed.
///
/// The message holds the start of the expression's source, paths and kinds of values. It never holds a value,
/// because the object may be a Secret.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{} at line {line}, column {column}: {problem}", named(clipped))]
pub struct EvaluateError {
    clipped: String,
    offset: usize,
    line: usize,
    column: usize,
    problem: ErrorKind,
}

impl EvaluateError {
    pub(super) fn new(source: &str, fault: NodeError) -> Self {
        let CompileError { offset, line, column, .. } = CompileError::new(source, fault.offset as usize, "");
        Self { clipped: clip(source), offset, line, column, problem: fault.problem }
    }

    /// The byte offset in the source of the part that failed.
    pub fn offset(&self) -> usize {
        self.offset
    }

    /// The problem, without the source.
    pub fn problem(&self) -> String {
        self.problem.to_string()
    }

    /// Whether a limit was reached.
    pub fn is_limit(&self) -> bool {
        matches!(self.problem, ErrorKind::Limit(_))
    }

    /// The variable that has no value, if that is the problem.
    pub fn undefined(&self) -> Option<&str> {
        match &self.problem {
            ErrorKind::Undefined { variable, .. } => Some(variable),
            _ => None,
        }
    }
}

/// The start of the message about an expression.
fn named(clipped: &str) -> String {
    format!("failed to evaluate {clipped:?}")
}

/// Whether `message` is that of an [`EvaluateError`] of an expression with this source.
pub(super) fn is_about(message: &str, source: &str) -> bool {
    message.contains(&named(&clip(source)))
}

/// The start of a source, short enough for a message.
fn clip(source: &str) -> String {
    const LONGEST: usize = 120;
    match source.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}...", &source[..end]),
        None => source.to_owned(),
    }
}
