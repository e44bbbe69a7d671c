//! Expressions that evaluate to a boolean.

use super::Expression;
use super::budget::Budget;
use super::error::{CompileError, ErrorKind, EvaluateError};
use super::scope::{Bindings, Scope, Variable};
use super::value::{ValKind, View};

/// An expression that evaluates to a boolean.
#[derive(Clone, Debug)]
pub struct Condition(Expression);

impl Condition {
    /// Compiles a condition. Fails if the result is certain not to be a boolean.
    pub fn compile(source: &str, scope: &Scope) -> Result<Self, CompileError> {
        let expression = Expression::compile(source, scope)?;
        match expression.gives() {
            None | Some(ValKind::Bool) => Ok(Self(expression)),
            Some(other) => {
                let problem = format!("a condition gives a boolean, and this {}", other.article());
                Err(CompileError::new(source, 0, problem))
            }
        }
    }

    pub fn source(&self) -> &str {
        self.0.source()
    }

    pub fn expression(&self) -> &Expression {
        &self.0
    }

    /// The variables that the condition reads.
    pub fn uses(&self) -> &[Variable] {
        self.0.uses()
    }

    /// Evaluates the condition. A result that is not a boolean is an error.
    pub fn holds(&self, bindings: &dyn Bindings<'_>, budget: &mut Budget) -> Result<bool, EvaluateError> {
        self.0.run(bindings, budget, |value, _| {
            if let View::Bool(flag) = value.view() {
                return Ok(flag);
            }
            let found = value.kind().article();
            Err(ErrorKind::failed(format!("a condition gives a boolean, and this gave {found}")))
        })
    }
}
