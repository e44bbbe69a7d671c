//! Evaluates loops: `all`, `exists`, `exists_one`, `filter` and `map`.

use super::budget::Budget;
use super::error::{ErrorKind, NodeError};
use super::evaluate::{Evaluated, Run};
use super::node::{AstNode, Loop, LoopKind};
use super::value::{Items, Val, View, check_count};

impl<'v, 'a> Run<'v, '_, 'a, '_> {
    pub(super) fn walk(&mut self, node: &'v AstNode, walk: &'v Loop) -> Evaluated<Val<'v, 'a>> {
        let range = self.value(&walk.range)?;
        let keys;
        let items = match range.view() {
            View::List(items) => items,
            View::Map(members) => {
                walk.range.given(self.budget.spend(members.len()))?;
                keys = members.pairs().into_iter().map(|(key, _)| key).collect::<Vec<_>>();
                Items::Built(&keys)
            }
            _ => {
                let found = range.kind().article();
                let problem = format!("a loop is over a list or a map, not {found}");
                return Err(walk.range.fault(ErrorKind::Failed(problem.into())));
            }
        };
        let mut state = LoopState::new(walk.kind);
        for item in items.iter() {
            node.given(self.budget.spend(1))?;
            self.locals.push(item.clone());
            let goes_on = self.pass(walk, &item, &mut state);
            self.locals.pop();
            if !goes_on? {
                break;
            }
        }
        match state.fault {
            Some(fault) if !state.decided => Err(fault),
            _ => state.result(node, self.budget),
        }
    }

    /// Processes one item. Returns whether the loop continues.
    fn pass(&mut self, walk: &'v Loop, item: &Val<'v, 'a>, state: &mut LoopState<'v, 'a>) -> Evaluated<bool> {
        match walk.kind {
            LoopKind::All | LoopKind::Exists => match self.truth(&walk.body) {
                Ok(flag) if flag == (walk.kind == LoopKind::Exists) => state.decided = true,
                Ok(_) => {}
                Err(fault) if fault.is_final() => return Err(fault),
                Err(fault) => state.fault = state.fault.take().or(Some(fault)),
            },
            LoopKind::ExistsOne => state.count += usize::from(self.truth(&walk.body)?),
            LoopKind::Filter if self.truth(&walk.body)? => state.items.push(item.clone()),
            LoopKind::Filter => {}
            LoopKind::Map => {
                let wanted = walk.filter.as_ref().map_or(Ok(true), |filter| self.truth(filter))?;
                if wanted {
                    state.items.push(self.value(&walk.body)?);
                }
            }
        }
        walk.body.given(check_count(state.items.len()))?;
        Ok(!state.decided)
    }
}

struct LoopState<'v, 'a> {
    kind: LoopKind,
    /// Whether the remaining items can't change the result.
    decided: bool,
    /// The first error of an item. It is the result unless another item decides.
    fault: Option<NodeError>,
    count: usize,
    items: Vec<Val<'v, 'a>>,
}

impl<'v, 'a> LoopState<'v, 'a> {
    fn new(kind: LoopKind) -> Self {
        Self { kind, decided: false, fault: None, count: 0, items: Vec::new() }
    }

    fn result(self, node: &AstNode, budget: &mut Budget) -> Evaluated<Val<'v, 'a>> {
        Ok(match self.kind {
            LoopKind::All => Val::Bool(!self.decided),
            LoopKind::Exists => Val::Bool(self.decided),
            LoopKind::ExistsOne => Val::Bool(self.count == 1),
            LoopKind::Filter | LoopKind::Map => return node.given(Val::list(self.items, budget)),
        })
    }
}
