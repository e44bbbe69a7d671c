//! Finds the constant strings that an expression compares a variable with.

use super::Expression;
use super::node::{AstNode, Binary, Op};
use super::scope::Variable;

struct Search<'s> {
    variable: &'s Variable,
    /// Returns the expression of a variable that the policy declares.
    declared: &'s dyn Fn(&str) -> Option<Expression>,
    found: Vec<String>,
}

impl Expression {
    /// The constant strings that `variable` is compared with: the other side of `==`, `!=` and `in`, and the
    /// keys of maps that are indexed by it. `declared` returns the expression of a variable of the policy,
    /// which may be such a map or list.
    pub fn compared_with(&self, variable: &Variable, declared: &dyn Fn(&str) -> Option<Self>) -> Vec<String> {
        let mut search = Search { variable, declared, found: Vec::new() };
        search.visit(self, &self.0.node);
        search.found
    }
}

impl Search<'_> {
    /// Recursive. Compilation bounds the depth.
    fn visit(&mut self, whole: &Expression, node: &AstNode) {
        match &node.op {
            Op::Index(sides) | Op::OptionalIndex(sides) => {
                let [table, key] = &**sides;
                self.compare(whole, key, table);
            }
            Op::Binary(Binary::In, sides) => {
                let [item, list] = &**sides;
                self.compare(whole, item, list);
            }
            Op::Binary(Binary::Equal | Binary::NotEqual, sides) => {
                let [left, right] = &**sides;
                self.compare(whole, left, right);
                self.compare(whole, right, left);
            }
            _ => {}
        }
        each_child(&node.op, &mut |child| self.visit(whole, child));
    }

    /// Adds the constants of `other` if `side` is the variable.
    fn compare(&mut self, whole: &Expression, side: &AstNode, other: &AstNode) {
        if variable(whole, side) != Some(self.variable) {
            return;
        }
        match variable(whole, other) {
            Some(Variable::Declared(name)) => {
                if let Some(declared) = (self.declared)(name) {
                    self.constants(&declared.0.node);
                }
            }
            _ => self.constants(other),
        }
    }

    fn constants(&mut self, node: &AstNode) {
        let mut keep = |node: &AstNode| {
            if let Op::Text(text) = &node.op {
                self.found.push(text.to_string());
            }
        };
        match &node.op {
            Op::List(items) => items.iter().for_each(|item| keep(&item.value)),
            Op::Map(entries) => entries.iter().for_each(|entry| keep(&entry.key)),
            _ => keep(node),
        }
    }
}

/// The variable that a node reads, if the node is nothing but a variable.
fn variable<'e>(whole: &'e Expression, node: &AstNode) -> Option<&'e Variable> {
    match node.op {
        Op::Variable(number) | Op::OptionalVariable(number) => whole.0.variables.get(number),
        _ => None,
    }
}

fn each_child(op: &Op, each: &mut dyn FnMut(&AstNode)) {
    match op {
        Op::Null
        | Op::Bool(_)
        | Op::Int(_)
        | Op::Double(_)
        | Op::Text(_)
        | Op::Type(_)
        | Op::Variable(_)
        | Op::HasVariable(_)
        | Op::OptionalVariable(_)
        | Op::Local(_) => {}
        Op::Select(inner, _)
        | Op::Has(inner, _)
        | Op::OptionalSelect(inner, _)
        | Op::Not(inner)
        | Op::Negate(inner)
        | Op::Matches(inner, _)
        | Op::Find(inner, ..) => each(inner),
        Op::Index(nodes)
        | Op::OptionalIndex(nodes)
        | Op::And(nodes)
        | Op::Or(nodes)
        | Op::Binary(_, nodes)
        | Op::OptionalMap(nodes, _)
        | Op::OptionalElse(nodes, _) => nodes.iter().for_each(each),
        Op::Conditional(nodes) => nodes.iter().for_each(each),
        Op::Call(_, nodes) => nodes.iter().for_each(each),
        Op::List(items) => items.iter().for_each(|item| each(&item.value)),
        Op::Map(entries) => entries.iter().for_each(|entry| {
            each(&entry.key);
            each(&entry.value);
        }),
        Op::Loop(walk) => {
            each(&walk.range);
            each(&walk.body);
            walk.filter.iter().for_each(each);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expression::Scope;

    #[test]
    fn names_are_keys_items_and_sides() {
        let scope = Scope::new().with_variable("table").with_variable("other");
        let table = Expression::compile(r#"{"v1": {"a": 1}, "v2": {}}"#, &scope).unwrap();
        let declared = |name: &str| (name == "table").then(|| table.clone());
        for (source, expected) in [
            (r#"{"a": 1, "b": 2}[cluster.name]"#, &["a", "b"][..]),
            (r#"{"a": {"x": 1}}[cluster.name].x + {"b": 1}[cluster.name]"#, &["a", "b"]),
            (r#"{"a": 1}[?cluster.name].orValue(2)"#, &["a"]),
            (
                r#"cluster.name in ["a", "b"] || "c" == cluster.name || cluster.name != "d""#,
                &["a", "b", "c", "d"],
            ),
            (r#"cluster.name in {"a": true}"#, &["a"]),
            (r#"object.l.exists(x, {"a": 1}[cluster.name] == x)"#, &["a"]),
            ("variables.table[cluster.name].a", &["v1", "v2"]),
            (r#"variables.other[cluster.name] == "a""#, &[]),
            (r#"{"a": 1}[object.name] + {"a": 1}["b"]"#, &[]),
            (r#"cluster.region == "eu" ? "a" : "b""#, &[]),
        ] {
            let expression = Expression::compile(source, &scope).unwrap();
            assert_eq!(expression.compared_with(&Variable::ClusterName, &declared), expected, "{source}");
        }
    }
}
