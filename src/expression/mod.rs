//! CEL: the language of `when`, `${...}` and `variables`, bounded and with one answer for one input.
//!
//! * [`Expression`], [`Template`] (a string with `${...}`) and [`Condition`] are compiled once, at load, against a [`Scope`] of names. What
//!   can be seen then is said then, with its place: syntax, unknown names and functions, results of the wrong kind, bad patterns.
//! * They are evaluated against [`Bindings`], which are asked for nothing that is not read, and on a [`Budget`].
//!
//! The crate `cel` parses, and nothing outside of this module names it. It does not evaluate: its evaluator has no bounds, no fixed order
//! of maps and no positions, takes the integers of JSON for unsigned ones, and puts whole objects into its messages. Ours walks
//! the documents as they are. Where both give a value it is the same; tests hold them against each other.
//!
//! Invariants:
//!
//! * The same source, bindings and budget give the same answer or the same error. Maps keep the order of their document or source. There is no clock.
//! * No source and no document, however made, makes it panic, overflow the stack, or take more time and memory than the bounds below.
//! * A piece of a document that is given as the answer is that piece: shared, and with the spelling of its numbers.
//! * No message holds a value.
//!
//! What of CEL there is not: unsigned integers, bytes, times, messages, keys of maps that are not strings, patterns that are computed.

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

/// How long a source may be.
pub const MAX_SOURCE_BYTES: usize = 64 * 1024;
/// How long a string with expressions may be.
pub const MAX_TEMPLATE_BYTES: usize = 256 * 1024;
/// How large a result may be, as JSON, that is not one piece of a document.
pub const MAX_OUTPUT_BYTES: usize = 1024 * 1024;
/// How many words and signs a source may have: what the parser's time is bounded by.
const MAX_WORDS: usize = 8192;
/// How many words and signs may follow each other without a comma: what the parser's stack is bounded by.
const MAX_CHAIN: usize = 1024;
/// How many nodes a source may be compiled into.
const MAX_NODES: usize = 8192;
/// How deep they may be nested.
const MAX_DEPTH: usize = 100;
/// How long a string may get while it is computed.
const MAX_TEXT_BYTES: usize = 256 * 1024;
/// How many items a list that is made may have.
const MAX_ITEMS: usize = 10_000;

/// A compiled expression. A clone shares it.
#[derive(Clone)]
pub struct Expression(Arc<Program>);

struct Program {
    source: Box<str>,
    node: AstNode,
    variables: Vec<Variable>,
}

impl Expression {
    /// Compiles a source that may use the names of `scope`.
    pub fn compile(source: &str, scope: &Scope) -> Result<Self, CompileError> {
        let compile::Compiled { node, variables } = compile::compile(source, scope)?;
        Ok(Self(Arc::new(Program { source: source.into(), node, variables })))
    }

    /// What it was compiled from.
    pub fn source(&self) -> &str {
        &self.0.source
    }

    /// Whether a message tells that this expression has no value, or another one with the same beginning.
    pub fn is_subject_of(&self, message: &str) -> bool {
        error::is_about(message, self.source())
    }

    /// The variables that it may read, each once, in the order of its source.
    pub fn uses(&self) -> &[Variable] {
        &self.0.variables
    }

    /// The value.
    pub fn evaluate<'a>(
        &self,
        bindings: &dyn Bindings<'a>,
        budget: &mut Budget,
    ) -> Result<Value<'a>, EvaluateError> {
        self.run(bindings, budget, output::give)
    }

    /// What the value is as JSON, if that can be told from the source alone: for a place that takes but one kind.
    pub fn kind(&self) -> Option<json::Kind> {
        self.gives().and_then(ValKind::as_json)
    }

    /// What the value is, if that can be told from the source alone.
    fn gives(&self) -> Option<ValKind> {
        self.0.node.gives()
    }

    /// Evaluates, and makes something of the value while what it borrows from is there.
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
