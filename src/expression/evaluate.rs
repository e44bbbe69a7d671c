//! Evaluates nodes. Each step is taken from the budget.
//!
//! Recursion is bounded: by the nesting of the expression, which compilation limits, and by the nesting of
//! documents.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::rc::Rc;

use super::budget::Budget;
use super::error::{ErrorKind, NodeError};
use super::node::{AstNode, Item, MapEntry, Op};
use super::operators::binary;
use super::scope::{Bindings, Missing, Variable};
use super::value::{Val, View, check_count, spend_search};
use crate::json::Value;

/// The values of the variables, each looked up at most once.
pub(super) type Slots<'b, 'a> = [OnceCell<Cow<'b, Value<'a>>>];

pub(super) type Evaluated<T> = Result<T, NodeError>;

pub(super) struct Run<'v, 'b, 'a, 'u> {
    pub(super) variables: &'v [Variable],
    pub(super) slots: &'v Slots<'b, 'a>,
    pub(super) bindings: &'b (dyn Bindings<'a> + 'b),
    pub(super) budget: &'u mut Budget,
    /// The values of the variables of the enclosing loops, outermost first.
    pub(super) locals: Vec<Val<'v, 'a>>,
}

impl AstNode {
    pub(super) fn fault(&self, problem: ErrorKind) -> NodeError {
        NodeError { offset: self.offset, problem }
    }

    pub(super) fn given<T>(&self, result: Result<T, ErrorKind>) -> Evaluated<T> {
        result.map_err(|problem| self.fault(problem))
    }
}

impl NodeError {
    /// Whether the error ends the evaluation, so that no other operand can replace it.
    pub(super) fn is_final(&self) -> bool {
        matches!(self.problem, ErrorKind::Limit(_))
    }
}

impl<'v, 'a> Run<'v, '_, 'a, '_> {
    pub(super) fn value(&mut self, node: &'v AstNode) -> Evaluated<Val<'v, 'a>> {
        node.given(self.budget.spend(1))?;
        Ok(match &node.op {
            Op::Null => Val::Null,
            Op::Bool(flag) => Val::Bool(*flag),
            Op::Int(number) => Val::Int(*number),
            Op::Double(number) => Val::Double(*number),
            Op::Text(text) => Val::Str(text),
            Op::Type(kind) => Val::Type(*kind),
            Op::Local(number) => self.locals[*number].clone(),
            Op::Variable(number) => node.given(self.variable(*number))?,
            Op::HasVariable(number) => Val::Bool(node.given(self.look_up(*number))?.is_some()),
            Op::OptionalVariable(number) => optional(node.given(self.look_up(*number))?),
            Op::And(sides) => Val::Bool(self.until(sides, false)?),
            Op::Or(sides) => Val::Bool(self.until(sides, true)?),
            Op::Not(operand) => Val::Bool(!self.truth(operand)?),
            Op::Select(..) | Op::Has(..) | Op::OptionalSelect(..) => return self.member(node),
            Op::Index(sides) => return self.index(node, sides),
            Op::OptionalIndex(sides) => return self.optional_index(node, sides),
            Op::Binary(operator, sides) => {
                let (a, b) = (self.value(&sides[0])?, self.value(&sides[1])?);
                node.given(binary(*operator, &a, &b, self.budget))?
            }
            Op::Conditional(parts) => {
                let branch = if self.truth(&parts[0])? { &parts[1] } else { &parts[2] };
                return self.value(branch);
            }
            Op::Negate(operand) => return self.negate(node, operand),
            Op::List(items) => return self.list(node, items),
            Op::Map(entries) => return self.map(node, entries),
            Op::Loop(walk) => return self.walk(node, walk),
            Op::OptionalMap(parts, flat) => return self.optional_map(node, parts, *flat),
            Op::OptionalElse(parts, value) => return self.optional_else(node, parts, *value),
            Op::Call(function, arguments) => {
                let values =
                    arguments.iter().map(|argument| self.value(argument)).collect::<Evaluated<Vec<_>>>()?;
                node.given(function.call(&values, self.budget))?
            }
            Op::Matches(..) | Op::Find(..) => return self.pattern(node),
        })
    }

    /// The value of a boolean node. Any other kind of value is an error.
    pub(super) fn truth(&mut self, node: &'v AstNode) -> Evaluated<bool> {
        let value = self.value(node)?;
        if let View::Bool(flag) = value.view() {
            return Ok(flag);
        }
        let found = value.kind().article();
        Err(node.fault(ErrorKind::failed(format!("a boolean is needed here, not {found}"))))
    }

    fn variable(&self, number: usize) -> Result<Val<'v, 'a>, ErrorKind> {
        if let Some(value) = self.look_up(number)? {
            return Ok(value);
        }
        let variable = &self.variables[number];
        let why = match self.bindings.look_up(variable) {
            Err(Missing::Lacking(why)) => Some(why),
            _ => None,
        };
        Err(ErrorKind::Undefined { variable: variable.to_string(), why })
    }

    /// The value of a variable, or `None` if it is certain to have none.
    fn look_up(&self, number: usize) -> Result<Option<Val<'v, 'a>>, ErrorKind> {
        let slot = &self.slots[number];
        if slot.get().is_none() {
            match self.bindings.look_up(&self.variables[number]) {
                Ok(value) => drop(slot.set(value)),
                Err(Missing::Absent | Missing::Lacking(_)) => return Ok(None),
                Err(Missing::Unknown(why)) => {
                    let variable = self.variables[number].to_string();
                    return Err(ErrorKind::Undefined { variable, why: Some(why) });
                }
            }
        }
        Ok(slot.get().map(|value| Val::Json(value.as_ref())))
    }

    /// `&&` and `||`: if one side decides the result, an error on the other side is ignored, whatever the
    /// order.
    fn until(&mut self, sides: &'v [AstNode; 2], decisive: bool) -> Evaluated<bool> {
        let left = self.truth(&sides[0]);
        match &left {
            Ok(flag) if *flag == decisive => return left,
            Err(fault) if fault.is_final() => return left,
            _ => {}
        }
        match (left, self.truth(&sides[1])) {
            (_, Ok(flag)) if flag == decisive => Ok(decisive),
            (_, Err(fault)) if fault.is_final() => Err(fault),
            (Err(fault), _) => Err(fault),
            (Ok(_), right) => right,
        }
    }

    fn negate(&mut self, node: &'v AstNode, operand: &'v AstNode) -> Evaluated<Val<'v, 'a>> {
        let value = self.value(operand)?;
        node.given(match value.view() {
            View::Int(number) => number
                .checked_neg()
                .map(Val::Int)
                .ok_or_else(|| ErrorKind::failed("the result is beyond what an integer holds")),
            View::Double(number) => Ok(Val::Double(-number)),
            _ => Err(ErrorKind::failed(format!("`-` takes a number, not {}", value.kind().article()))),
        })
    }

    fn list(&mut self, node: &'v AstNode, items: &'v [Item]) -> Evaluated<Val<'v, 'a>> {
        let mut values = Vec::with_capacity(items.len());
        for item in items {
            let value = self.value(&item.value)?;
            values.extend(if item.optional { unwrap(&item.value, &value)? } else { Some(value) });
        }
        node.given(Val::list(values, self.budget))
    }

    fn map(&mut self, node: &'v AstNode, entries: &'v [MapEntry]) -> Evaluated<Val<'v, 'a>> {
        let mut members: Vec<(Val<'v, 'a>, Val<'v, 'a>)> = Vec::with_capacity(entries.len());
        for entry in entries {
            let key = self.value(&entry.key)?;
            let Some(name) = key.as_text() else {
                let found = key.kind().article();
                let problem = format!("the keys of maps are strings, as in JSON, and not {found}");
                return Err(entry.key.fault(ErrorKind::Failed(problem.into())));
            };
            entry.key.given(self.budget.spend(1))?;
            entry.key.given(spend_search(members.len(), name, self.budget))?;
            if members.iter().any(|(other, _)| other.as_text() == Some(name)) {
                return Err(entry.key.fault(ErrorKind::failed("the map has this key twice")));
            }
            let value = self.value(&entry.value)?;
            let value = if entry.optional { unwrap(&entry.value, &value)? } else { Some(value) };
            members.extend(value.map(|value| (key, value)));
        }
        node.given(check_count(members.len()))?;
        Ok(Val::Map(members.into()))
    }

    fn optional_map(
        &mut self,
        node: &'v AstNode,
        parts: &'v [AstNode; 2],
        flat: bool,
    ) -> Evaluated<Val<'v, 'a>> {
        let target = self.value(&parts[0])?;
        let Some(inner) = unwrap(&parts[0], &target)? else { return Ok(Val::Optional(None)) };
        self.locals.push(inner);
        let mapped = self.value(&parts[1]);
        self.locals.pop();
        let mapped = mapped?;
        if flat {
            unwrap(node, &mapped)?;
            return Ok(mapped);
        }
        Ok(optional(Some(mapped)))
    }

    fn optional_else(
        &mut self,
        node: &'v AstNode,
        parts: &'v [AstNode; 2],
        value: bool,
    ) -> Evaluated<Val<'v, 'a>> {
        let target = self.value(&parts[0])?;
        match unwrap(&parts[0], &target)? {
            Some(inner) if value => Ok(inner),
            Some(_) => Ok(target),
            None => {
                let other = self.value(&parts[1])?;
                if !value {
                    unwrap(node, &other)?;
                }
                Ok(other)
            }
        }
    }

    fn pattern(&mut self, node: &'v AstNode) -> Evaluated<Val<'v, 'a>> {
        let (Op::Matches(operand, pattern) | Op::Find(operand, pattern, _)) = &node.op else {
            unreachable!("only these are passed on");
        };
        let value = self.value(operand)?;
        let Some(text) = value.as_text() else {
            let found = value.kind().article();
            return Err(node.fault(ErrorKind::failed(format!("a pattern is for a string, not for {found}"))));
        };
        let most = match &node.op {
            Op::Matches(..) => {
                return node.given(pattern.is_match(text, self.budget)).map(Val::Bool);
            }
            Op::Find(_, _, true) => usize::MAX,
            _ => 1,
        };
        let mut found = Vec::new();
        for (start, end) in node.given(pattern.find(text, most, self.budget))? {
            found.push(node.given(value.part(start, end, self.budget))?);
        }
        if most == 1 {
            return Ok(found.pop().unwrap_or(Val::Str("")));
        }
        node.given(Val::list(found, self.budget))
    }
}

pub(super) fn optional<'v, 'a>(value: Option<Val<'v, 'a>>) -> Val<'v, 'a> {
    Val::Optional(value.map(Rc::new))
}

/// The content of an optional. Any other kind of value is an error.
fn unwrap<'v, 'a>(node: &AstNode, value: &Val<'v, 'a>) -> Evaluated<Option<Val<'v, 'a>>> {
    if let Val::Optional(inner) = value {
        return Ok(inner.as_deref().cloned());
    }
    let found = value.kind().article();
    Err(node.fault(ErrorKind::failed(format!("an optional is needed here, not {found}"))))
}
