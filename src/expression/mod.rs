//! CEL, the language of `when`, `${...}` and `variables`. Evaluation is bounded and deterministic.
//!
//! * [`Expression`], [`Template`] (a string with `${...}`) and [`Condition`] are compiled once, at load,
//!   against a [`Scope`] of names. Compilation reports syntax errors, unknown names and functions, results of
//!   the wrong kind and invalid patterns, with their position.
//! * They are evaluated against [`Bindings`], which look up a variable only when it is read, and on a
//!   [`Budget`].
//!
//! The crate `cel` is used only here, and only as a parser. Its evaluator is not used, because it has no
//! limits, no fixed order of maps and no positions, reads JSON integers as unsigned, and puts whole objects
//! into its messages. The evaluator of this module reads documents in place. Tests compare the results of
//! both.
//!
//! Invariants:
//!
//! * The same source, bindings and budget give the same value or the same error. Maps keep the order of their
//!   document or source. There is no clock.
//! * No source and no document causes a panic, a stack overflow, or more use of time and memory than the
//!   limits below.
//! * A result that is a piece of a document is shared, not copied, and its numbers keep their spelling.
//! * No message holds a value.
//!
//! Not supported: unsigned integers, bytes, timestamps and durations, messages, map keys that are not
//! strings, and computed patterns.

mod budget;
mod calls;
mod compared;
mod compile;
mod condition;
mod error;
mod evaluate;
mod extent;
mod functions;
mod loops;
mod node;
mod operators;
mod output;
mod pattern;
mod scan;
mod scope;
mod select;
mod template;
mod value;

#[cfg(test)]
mod tests;

use std::cell::OnceCell;
use std::fmt;
use std::sync::Arc;

pub use budget::Budget;
pub use condition::Condition;
pub use error::{CompileError, EvaluateError, NO_SUCH_MEMBER};
pub use scope::{Bindings, Missing, Scope, Variable};
pub use template::Template;

use crate::json::{self, Value};
use error::ErrorKind;
use evaluate::Run;
use node::AstNode;
use value::{Val, ValKind};

/// The largest source, in bytes.
pub const MAX_SOURCE_BYTES: usize = 64 * 1024;
/// The largest template, in bytes.
pub const MAX_TEMPLATE_BYTES: usize = 256 * 1024;
/// The largest result, in bytes of JSON, unless it is one piece of a document.
pub const MAX_OUTPUT_BYTES: usize = 1024 * 1024;
/// The most tokens of a source. Bounds the parser's time.
const MAX_WORDS: usize = 8192;
/// The most tokens in a row without a comma. Bounds the parser's stack.
const MAX_CHAIN: usize = 1024;
/// The most nodes of a compiled source.
const MAX_NODES: usize = 8192;
/// The deepest nesting of nodes.
const MAX_DEPTH: usize = 100;
/// The longest computed string, in bytes.
const MAX_TEXT_BYTES: usize = 256 * 1024;
/// The longest computed list or map.
const MAX_ITEMS: usize = 10_000;

/// A compiled expression. Clones are cheap.
#[derive(Clone)]
pub struct Expression(Arc<Program>);

struct Program {
    source: Box<str>,
    node: AstNode,
    variables: Vec<Variable>,
}

impl Expression {
    /// Compiles a source that may use the names in `scope`.
    pub fn compile(source: &str, scope: &Scope) -> Result<Self, CompileError> {
        let compile::Compiled { node, variables } = compile::compile(source, scope)?;
        Ok(Self(Arc::new(Program { source: source.into(), node, variables })))
    }

    pub fn source(&self) -> &str {
        &self.0.source
    }

    /// Whether `message` is the error of this expression. Expressions with the same first characters can't be
    /// distinguished.
    pub fn is_subject_of(&self, message: &str) -> bool {
        error::is_about(message, self.source())
    }

    /// The variables that it may read, each once, in the order of the source.
    pub fn uses(&self) -> &[Variable] {
        &self.0.variables
    }

    pub fn evaluate<'a>(
        &self,
        bindings: &dyn Bindings<'a>,
        budget: &mut Budget,
    ) -> Result<Value<'a>, EvaluateError> {
        self.run(bindings, budget, output::give)
    }

    /// The JSON kind of the result, if the source determines it. For fields that accept one kind only.
    pub fn kind(&self) -> Option<json::Kind> {
        self.gives().and_then(ValKind::as_json)
    }

    /// The kind of the result, if the source determines it.
    fn gives(&self) -> Option<ValKind> {
        self.0.node.gives()
    }

    /// Evaluates, and maps the value while the data that it borrows is alive.
    fn run<'a, T>(
        &self,
        bindings: &dyn Bindings<'a>,
        budget: &mut Budget,
        finish: impl FnOnce(&Val<'_, 'a>, &mut Budget) -> Result<T, ErrorKind>,
    ) -> Result<T, EvaluateError> {
        let Program { source, node, variables } = &*self.0;
        let slots: Vec<_> = variables.iter().map(|_| OnceCell::new()).collect();
        let mut run = Run { variables, slots: &slots, bindings, budget, locals: Vec::new() };
        let value = run.value(node);
        let finished = value.and_then(|value| finish(&value, budget).map_err(|problem| node.fault(problem)));
        finished.map_err(|fault| EvaluateError::new(source, fault))
    }
}

impl fmt::Debug for Expression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Expression").field(&self.source()).finish()
    }
}
