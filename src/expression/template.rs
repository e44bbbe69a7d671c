//! Strings that contain `${...}`.

use super::budget::Budget;
use super::error::{CompileError, EvaluateError};
use super::scope::{Bindings, Scope, Variable};
use super::value::ValKind;
use super::{Expression, MAX_TEMPLATE_BYTES, output, scan};
use crate::json::{self, Value};

/// A string of a policy in which `${expression}` is replaced by a value.
///
/// A string that is exactly one expression gives the value itself, of any kind. Any other string gives a
/// string, and its expressions must give strings, numbers, booleans or quantities. `$${` is a literal `${`; a
/// `$` before anything else is literal.
#[derive(Clone, Debug)]
pub struct Template {
    parts: Vec<Part>,
    uses: Vec<Variable>,
}

#[derive(Clone, Debug)]
enum Part {
    Text(String),
    Expression(Expression),
}

impl Template {
    /// Compiles a string. Offsets in errors are relative to the whole string.
    pub fn compile(text: &str, scope: &Scope) -> Result<Self, CompileError> {
        let parts = split(text, scope)?;
        let mut uses: Vec<Variable> = Vec::new();
        for part in &parts {
            let Part::Expression(expression) = part else { continue };
            uses.extend_from_slice(expression.uses());
        }
        uses.sort();
        uses.dedup();
        Ok(Self { parts, uses })
    }

    /// Whether `text` is exactly one `${...}`.
    pub fn is_one_expression(text: &str) -> bool {
        text.starts_with("${") && scan::closing_brace(text, 2).is_some_and(|end| end + 1 == text.len())
    }

    /// The string, if it has no expression.
    pub fn constant(&self) -> Option<&str> {
        match self.parts.as_slice() {
            [] => Some(""),
            [Part::Text(text)] => Some(text),
            _ => None,
        }
    }

    /// The JSON kind of the result, if the string determines it. For fields that accept one kind only.
    pub fn kind(&self) -> Option<json::Kind> {
        match self.parts.as_slice() {
            [Part::Expression(expression)] => expression.kind(),
            _ => Some(json::Kind::String),
        }
    }

    pub fn expressions(&self) -> impl Iterator<Item = &Expression> {
        self.parts.iter().filter_map(|part| match part {
            Part::Text(_) => None,
            Part::Expression(expression) => Some(expression),
        })
    }

    /// The variables that the expressions read, sorted, each once.
    pub fn uses(&self) -> &[Variable] {
        &self.uses
    }

    pub fn evaluate<'a>(
        &self,
        bindings: &dyn Bindings<'a>,
        budget: &mut Budget,
    ) -> Result<Value<'a>, EvaluateError> {
        if let [Part::Expression(expression)] = self.parts.as_slice() {
            return expression.evaluate(bindings, budget);
        }
        let mut whole = String::new();
        for part in &self.parts {
            match part {
                Part::Text(text) => whole.push_str(text),
                Part::Expression(expression) => expression
                    .run(bindings, budget, |value, budget| output::write_text(value, &mut whole, budget))?,
            }
        }
        Ok(Value::from(whole))
    }
}

/// Splits a string into literal text and expressions.
fn split(text: &str, scope: &Scope) -> Result<Vec<Part>, CompileError> {
    let mut parts = Vec::new();
    let mut literal = String::new();
    let mut at = 0;
    while let Some(found) = text[at..].find("${") {
        let dollar = at + found;
        if text.len() > MAX_TEMPLATE_BYTES {
            let problem = format!("a string with expressions has at most {MAX_TEMPLATE_BYTES} bytes");
            return Err(CompileError::new(text, dollar, problem));
        }
        if let Some(before) = text[at..dollar].strip_suffix('$') {
            literal.push_str(before);
            literal.push_str("${");
            at = dollar + 2;
            continue;
        }
        literal.push_str(&text[at..dollar]);
        let start = dollar + 2;
        let Some(end) = scan::closing_brace(text, start) else {
            return Err(CompileError::new(
                text,
                dollar,
                "`${` is not closed; a literal one is written `$${`",
            ));
        };
        let expression =
            Expression::compile(&text[start..end], scope).map_err(|error| error.within(text, start, end))?;
        at = end + 1;
        let whole = dollar == 0 && at == text.len();
        if !whole {
            refuse_in_text(&expression).map_err(|problem| CompileError::new(text, start, problem))?;
        }
        if !literal.is_empty() {
            parts.push(Part::Text(std::mem::take(&mut literal)));
        }
        parts.push(Part::Expression(expression));
    }
    literal.push_str(&text[at..]);
    if !literal.is_empty() {
        parts.push(Part::Text(literal));
    }
    Ok(parts)
}

/// Fails if the result of the expression is certain not to fit into a string.
fn refuse_in_text(expression: &Expression) -> Result<(), String> {
    match expression.gives() {
        Some(kind @ (ValKind::Null | ValKind::List | ValKind::Map | ValKind::Type)) => {
            Err(output::not_in_text(kind))
        }
        _ => Ok(()),
    }
}
