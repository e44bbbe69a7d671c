//! Evaluates member access and indexing.

use super::budget::Budget;
use super::error::{ErrorKind, NO_SUCH_MEMBER};
use super::evaluate::{Evaluated, Run, optional};
use super::node::{AstNode, Op};
use super::value::{Val, View};

impl<'v, 'a> Run<'v, '_, 'a, '_> {
    /// `a.b`, `has(a.b)` and `a.?b`. A member of an optional is optional.
    pub(super) fn member(&mut self, node: &'v AstNode) -> Evaluated<Val<'v, 'a>> {
        let (Op::Select(operand, name) | Op::Has(operand, name) | Op::OptionalSelect(operand, name)) =
            &node.op
        else {
            unreachable!("only these are passed on");
        };
        let container = self.value(operand)?;
        let (inner, from_optional) = match container.view() {
            View::Optional(Some(inner)) => (Some(inner), true),
            View::Optional(None) => (None, true),
            _ => (Some(&container), false),
        };
        let found = match inner.map(Val::view) {
            None => None,
            Some(View::Map(members)) => node.given(members.get(name, self.budget))?,
            // A value that can't have members counts as one without the member.
            Some(_) if from_optional || matches!(node.op, Op::OptionalSelect(..)) => None,
            Some(_) => {
                let found = inner.unwrap_or(&container).kind().article();
                let problem = format!("{name:?} is read from {found}, which has no members");
                return Err(node.fault(ErrorKind::Failed(problem.into())));
            }
        };
        match &node.op {
            Op::Has(..) => Ok(Val::Bool(found.is_some())),
            Op::Select(..) if !from_optional => {
                found.ok_or_else(|| node.fault(ErrorKind::failed(format!("the map has no member {name:?}"))))
            }
            _ => Ok(optional(found)),
        }
    }

    pub(super) fn index(&mut self, node: &'v AstNode, sides: &'v [AstNode; 2]) -> Evaluated<Val<'v, 'a>> {
        let container = self.value(&sides[0])?;
        if let View::Optional(_) = container.view() {
            return self.index_optional(node, &container, &sides[1]);
        }
        let key = self.value(&sides[1])?;
        match node.given(element(&container, &key, self.budget))? {
            Some(found) => Ok(found),
            // The key may come from the object, and must not be in the message.
            None if matches!(container.view(), View::List(_)) => {
                Err(node.fault(ErrorKind::failed("the index is outside of the list")))
            }
            None => Err(node.fault(ErrorKind::failed(NO_SUCH_MEMBER))),
        }
    }

    pub(super) fn optional_index(
        &mut self,
        node: &'v AstNode,
        sides: &'v [AstNode; 2],
    ) -> Evaluated<Val<'v, 'a>> {
        let container = self.value(&sides[0])?;
        self.index_optional(node, &container, &sides[1])
    }

    fn index_optional(
        &mut self,
        node: &'v AstNode,
        container: &Val<'v, 'a>,
        key: &'v AstNode,
    ) -> Evaluated<Val<'v, 'a>> {
        let inner = match container.view() {
            View::Optional(None) => return Ok(Val::Optional(None)),
            View::Optional(Some(inner)) => inner,
            _ => container,
        };
        let key = self.value(key)?;
        match element(inner, &key, self.budget) {
            // A value that can't be indexed counts as one without the item.
            Err(ErrorKind::Failed(_)) => Ok(Val::Optional(None)),
            found => node.given(found).map(optional),
        }
    }
}

/// The item at an index, or the member with a name; `None` if it does not exist.
fn element<'v, 'a>(
    container: &Val<'v, 'a>,
    key: &Val<'v, 'a>,
    budget: &mut Budget,
) -> Result<Option<Val<'v, 'a>>, ErrorKind> {
    match (container.view(), key.view()) {
        (View::List(items), View::Int(index)) => {
            Ok(usize::try_from(index).ok().and_then(|index| items.get(index)))
        }
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "it is whole, and what is beyond a list is in none"
        )]
        (View::List(items), View::Double(index)) if index.fract() == 0.0 => {
            Ok((index >= 0.0).then(|| items.get(index as usize)).flatten())
        }
        (View::Map(members), View::Text(name)) => members.get(name, budget),
        (View::Map(_), View::Int(_) | View::Double(_) | View::Bool(_)) => Ok(None),
        (_, _) => {
            let (container, key) = (container.kind().article(), key.kind().article());
            Err(ErrorKind::failed(format!("{container} can't be indexed with {key}")))
        }
    }
}
