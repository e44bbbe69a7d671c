//! Computes the minimal patch between two values. docs/interpreter.md, "The patch", defines what minimal
//! means.

use super::{Operation, Patch};
use crate::json::{Object, Pointer, Value};

/// The patch that turns `before` into `after`.
///
/// * Only places whose value changes are touched. Objects are compared member by member, so an unchanged
///   sibling is never named.
/// * Of two lists the common head and tail are kept, and the items between them are compared one by one. The
///   remaining items are removed from the back, or added in order.
/// * A number with another spelling is a change. Another order of the members of an object is not.
/// * The operations follow the members of `before`, then the new members in the order of `after`.
pub fn diff<'a>(before: &Value<'a>, after: &Value<'a>) -> Patch<'a> {
    let mut walk = Differ { path: Vec::new(), operations: Vec::new() };
    walk.values(before, after);
    let patch = Patch(walk.operations);
    debug_assert!(super::oracle::turns(before, after, &patch), "{patch:?} does not turn one into the other");
    patch
}

enum PathStep<'s> {
    Name(&'s str),
    Index(usize),
}

struct Differ<'s, 'a> {
    /// The current place. It becomes a pointer only where an operation needs one.
    path: Vec<PathStep<'s>>,
    operations: Vec<Operation<'a>>,
}

impl<'s, 'a> Differ<'s, 'a> {
    fn values(&mut self, before: &'s Value<'a>, after: &'s Value<'a>) {
        if before.is_same(after) {
            return;
        }
        match (before, after) {
            (Value::Object(before), Value::Object(after)) => self.objects(before, after),
            (Value::Array(before), Value::Array(after)) => self.lists(before, after),
            _ if before == after => {}
            _ => {
                let operation = Operation::Replace(self.here(), after.clone());
                self.operations.push(operation);
            }
        }
    }

    fn objects(&mut self, before: &'s Object<'a>, after: &'s Object<'a>) {
        let (index_before, index_after) = (before.index(), after.index());
        for (name, value) in before.iter() {
            self.path.push(PathStep::Name(name));
            if let Some(changed) = index_after.get(name) {
                self.values(value, changed);
            } else {
                let operation = Operation::Remove(self.here());
                self.operations.push(operation);
            }
            self.path.pop();
        }
        for (name, value) in after.iter().filter(|(name, _)| index_before.get(name).is_none()) {
            self.add(PathStep::Name(name), value);
        }
    }

    fn lists(&mut self, before: &'s [Value<'a>], after: &'s [Value<'a>]) {
        let same = |(a, b): &(&Value<'a>, &Value<'a>)| a == b;
        let head = before.iter().zip(after).take_while(same).count();
        let (before, after) = (&before[head..], &after[head..]);
        let tail = before.iter().rev().zip(after.iter().rev()).take_while(same).count();
        let (before, after) = (&before[..before.len() - tail], &after[..after.len() - tail]);
        for (position, (was, is)) in before.iter().zip(after).enumerate() {
            self.path.push(PathStep::Index(head + position));
            self.values(was, is);
            self.path.pop();
        }
        for position in (after.len()..before.len()).rev() {
            self.path.push(PathStep::Index(head + position));
            let operation = Operation::Remove(self.here());
            self.operations.push(operation);
            self.path.pop();
        }
        for (position, value) in after.iter().enumerate().skip(before.len()) {
            self.add(PathStep::Index(head + position), value);
        }
    }

    fn add(&mut self, step: PathStep<'s>, value: &Value<'a>) {
        self.path.push(step);
        let operation = Operation::Add(self.here(), value.clone());
        self.operations.push(operation);
        self.path.pop();
    }

    fn here(&self) -> Pointer {
        Pointer::of(self.path.iter().map(|step| match step {
            PathStep::Name(name) => (*name).to_owned(),
            PathStep::Index(index) => index.to_string(),
        }))
    }
}
