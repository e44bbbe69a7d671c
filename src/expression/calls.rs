//! Compiles operators, loops and functions. The parser represents all of them as calls.

use cel::common::ast::{CallExpr, Expr, IdedExpr, LiteralValue, operators};

use super::compile::{Compiler, Result};
use super::functions::{Function, NAMESPACES};
use super::node::{Binary, Loop, LoopKind, Op};
use super::operators::no_quantities;
use super::pattern::Pattern;
use super::value::ValKind;

impl Compiler<'_> {
    pub(super) fn call(&mut self, expression: &IdedExpr, call: &CallExpr) -> Result<Op> {
        match (&call.target, call.args.as_slice()) {
            (None, [a]) => match call.func_name.as_str() {
                operators::LOGICAL_NOT => Ok(Op::Not(self.boxed(a)?)),
                operators::NEGATE => Ok(Op::Negate(self.boxed(a)?)),
                operators::HAS => self.has(a),
                _ => self.function(expression, call),
            },
            (None, [a, b]) => self.operator(expression, call, a, b),
            (None, [a, b, c]) if call.func_name == operators::CONDITIONAL => {
                Ok(Op::Conditional(Box::new([self.node(a)?, self.node(b)?, self.node(c)?])))
            }
            (Some(target), arguments) => self.member_call(expression, call, target, arguments),
            _ => self.function(expression, call),
        }
    }

    fn operator(&mut self, expression: &IdedExpr, call: &CallExpr, a: &IdedExpr, b: &IdedExpr) -> Result<Op> {
        let binary = match call.func_name.as_str() {
            operators::LOGICAL_AND => return Ok(Op::And(self.pair(a, b)?)),
            operators::LOGICAL_OR => return Ok(Op::Or(self.pair(a, b)?)),
            operators::INDEX => return self.index(expression, a, b, false),
            operators::OPT_INDEX | operators::OPT_SELECT => return self.index(expression, a, b, true),
            "matches" => return self.pattern(a, b).map(|(text, pattern)| Op::Matches(text, pattern)),
            operators::ADD => Binary::Add,
            operators::SUBSTRACT => Binary::Subtract,
            operators::MULTIPLY => Binary::Multiply,
            operators::DIVIDE => Binary::Divide,
            operators::MODULO => Binary::Remainder,
            operators::EQUALS => Binary::Equal,
            operators::NOT_EQUALS => Binary::NotEqual,
            operators::LESS => Binary::Less,
            operators::LESS_EQUALS => Binary::LessOrEqual,
            operators::GREATER => Binary::Greater,
            operators::GREATER_EQUALS => Binary::GreaterOrEqual,
            operators::IN => Binary::In,
            _ => return self.function(expression, call),
        };
        let sides = self.pair(a, b)?;
        let is_equality = matches!(binary, Binary::Equal | Binary::NotEqual | Binary::In);
        if !is_equality && sides.iter().any(|side| side.gives() == Some(ValKind::Quantity)) {
            return self.fail(expression, no_quantities(binary));
        }
        Ok(Op::Binary(binary, sides))
    }

    /// `a[b]`, `a[?b]` and `a.?b`.
    fn index(&mut self, expression: &IdedExpr, a: &IdedExpr, b: &IdedExpr, optional: bool) -> Result<Op> {
        let name = literal_text(b);
        if let Some(group) = self.group(a) {
            let Some(name) = name else {
                return self.fail(b, format!("a member of `{group}` is named by a literal string"));
            };
            let variable = self.member(expression, &group, name)?;
            return Ok(if optional { Op::OptionalVariable(variable) } else { Op::Variable(variable) });
        }
        Ok(match (name, optional) {
            (Some(name), true) => Op::OptionalSelect(self.boxed(a)?, name.into()),
            (Some(name), false) => Op::Select(self.boxed(a)?, name.into()),
            (None, true) => Op::OptionalIndex(self.pair(a, b)?),
            (None, false) => Op::Index(self.pair(a, b)?),
        })
    }

    fn has(&mut self, argument: &IdedExpr) -> Result<Op> {
        let Expr::Select(select) = &argument.expr else {
            let problem =
                "`has` takes a member, as in has(object.spec); for other keys there is `\"key\" in map`";
            return self.fail(argument, problem);
        };
        if let Some(group) = self.group(&select.operand) {
            return self.member(argument, &group, &select.field).map(Op::HasVariable);
        }
        Ok(Op::Has(self.boxed(&select.operand)?, select.field.as_str().into()))
    }

    fn member_call(
        &mut self,
        expression: &IdedExpr,
        call: &CallExpr,
        target: &IdedExpr,
        arguments: &[IdedExpr],
    ) -> Result<Op> {
        let name = call.func_name.as_str();
        if let Some(namespace) = self.namespace(target) {
            return self.named(expression, &format!("{namespace}.{name}"), false, None, arguments);
        }
        match (name, arguments) {
            ("all", [variable, body]) => self.walk(LoopKind::All, target, variable, None, body),
            ("exists", [variable, body]) => self.walk(LoopKind::Exists, target, variable, None, body),
            ("exists_one" | "existsOne", [variable, body]) => {
                self.walk(LoopKind::ExistsOne, target, variable, None, body)
            }
            ("filter", [variable, body]) => self.walk(LoopKind::Filter, target, variable, None, body),
            ("map", [variable, body]) => self.walk(LoopKind::Map, target, variable, None, body),
            ("map", [variable, filter, body]) => {
                self.walk(LoopKind::Map, target, variable, Some(filter), body)
            }
            ("optMap" | "optFlatMap", [variable, body]) => {
                let target = self.node(target)?;
                let body = self
                    .with_local(variable, target.levels.saturating_sub(1), |compiler| compiler.node(body))?;
                Ok(Op::OptionalMap(Box::new([target, body]), name == "optFlatMap"))
            }
            ("or" | "orValue", [other]) => Ok(Op::OptionalElse(self.pair(target, other)?, name == "orValue")),
            ("matches", [pattern]) => {
                self.pattern(target, pattern).map(|(text, pattern)| Op::Matches(text, pattern))
            }
            ("find" | "findAll", [pattern]) => {
                let all = name == "findAll";
                self.pattern(target, pattern).map(|(text, pattern)| Op::Find(text, pattern, all))
            }
            _ => self.named(expression, name, true, Some(target), arguments),
        }
    }

    /// The namespace `target` if it is the first part of a function's name, such as `lists` in `lists.range`.
    fn namespace(&self, target: &IdedExpr) -> Option<&'static str> {
        let Expr::Ident(name) = &target.expr else { return None };
        NAMESPACES.into_iter().find(|namespace| namespace == name && !self.is_local(name))
    }

    fn walk(
        &mut self,
        kind: LoopKind,
        range: &IdedExpr,
        variable: &IdedExpr,
        filter: Option<&IdedExpr>,
        body: &IdedExpr,
    ) -> Result<Op> {
        let range = self.node(range)?;
        let (filter, body) = self.with_local(variable, range.levels.saturating_sub(1), |compiler| {
            let filter = filter.map(|filter| compiler.node(filter)).transpose()?;
            Ok((filter, compiler.node(body)?))
        })?;
        Ok(Op::Loop(Box::new(Loop { kind, range, body, filter })))
    }

    fn pattern(
        &mut self,
        text: &IdedExpr,
        pattern: &IdedExpr,
    ) -> Result<(Box<super::node::AstNode>, Box<Pattern>)> {
        let Some(source) = literal_text(pattern) else {
            return self
                .fail(pattern, "a pattern is a literal string, so that it can be checked when it is loaded");
        };
        let text = self.boxed(text)?;
        match Pattern::new(source) {
            Ok(pattern) => Ok((text, Box::new(pattern))),
            Err(problem) => self.fail(pattern, problem),
        }
    }

    fn function(&mut self, expression: &IdedExpr, call: &CallExpr) -> Result<Op> {
        self.named(expression, &call.func_name, false, None, &call.args)
    }

    fn named(
        &mut self,
        expression: &IdedExpr,
        name: &str,
        member: bool,
        target: Option<&IdedExpr>,
        arguments: &[IdedExpr],
    ) -> Result<Op> {
        let function = match Function::find(name, member, arguments.len()) {
            Ok(function) => function,
            Err(problem) => return self.fail_at_name(expression, name, problem),
        };
        let nodes: Result<Vec<_>> = target.into_iter().chain(arguments).map(|node| self.node(node)).collect();
        Ok(Op::Call(function, nodes?.into()))
    }
}

fn literal_text(expression: &IdedExpr) -> Option<&str> {
    match &expression.expr {
        Expr::Literal(LiteralValue::String(text)) => Some(text.inner()),
        _ => None,
    }
}
