//! Expressions that say yes or no.

use super::Expression;
use super::budget::Budget;
use super::error::{CompileError, ErrorKind, EvaluateError};
use super::scope::{Bindings, Scope, Variable};
use super::value::{ValKind, View};

/// An expression that says yes or no.
#[derive(Clone, Debug)]
pub struct Condition(Expression);

impl Condition {
    /// Compiles a condition. An expression that can be seen to give anything else than a boolean is refused.
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

    /// What it was compiled from.
    pub fn source(&self) -> &str {
        self.0.source()
    }

    /// The expression.
    pub fn expression(&self) -> &Expression {
        &self.0
    }

    /// The variables that it reads.
    pub fn uses(&self) -> &[Variable] {
        self.0.uses()
    }

    /// Whether it holds. Anything else than a boolean is an error.
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
