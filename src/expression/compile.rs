//! Compiles source text to [`AstNode`]s. The crate `cel` parses; names are resolved and checked here.
//!
//! The parser runs without macros, so loops and `has` arrive as plain calls.

use cel::Env;
use cel::common::ast::{EntryExpr, Expr, IdedExpr, LiteralValue, SelectExpr, SourceInfo};
use cel::common::ast::{ListExpr, MapExpr};
use cel::parser::ParseErrors;

use super::error::CompileError;
use super::extent::{self, Extent};
use super::node::{AstNode, Item, MapEntry, Op};
use super::scope::{Scope, Variable, hint};
use super::value::ValKind;
use super::{MAX_CHAIN, MAX_DEPTH, MAX_NODES, MAX_SOURCE_BYTES, MAX_WORDS};

pub(super) type Result<T> = std::result::Result<T, CompileError>;

pub(super) struct Compiled {
    pub(super) node: AstNode,
    pub(super) variables: Vec<Variable>,
}

const SPLIT: &str = "split it with `variables`, or give a table of clusters as `values` of a variable";

/// Compiles a source. An error has the position of the problem.
pub(super) fn compile(source: &str, scope: &Scope) -> Result<Compiled> {
    let refuse = |problem: String| Err(CompileError::new(source, 0, problem));
    if source.len() > MAX_SOURCE_BYTES {
        return refuse(format!("an expression has at most {MAX_SOURCE_BYTES} bytes; {SPLIT}"));
    }
    if source.trim().is_empty() {
        return Err(CompileError::new(source, 0, "the expression is empty").or_literal());
    }
    let Extent { words, chain } = extent::of(source);
    if words > MAX_WORDS {
        return refuse(format!(
            "an expression has at most {MAX_WORDS} words and signs, this has {words}; {SPLIT}"
        ));
    }
    if chain > MAX_CHAIN {
        return refuse(format!(
            "an item of a list, a map or a call has at most {MAX_CHAIN} words and signs, with those around it; {SPLIT}"
        ));
    }
    let parser = Env::default().parser().enable_ident_escape_syntax(true);
    let (expression, info) =
        parser.parse_with_source_info(source).map_err(|errors| syntax(source, &errors))?;
    let mut compiler = Compiler {
        source,
        info: &info,
        scope,
        nodes: 0,
        depth: 0,
        variables: Vec::new(),
        locals: Vec::new(),
    };
    let node = compiler.node(&expression)?;
    Ok(Compiled { node, variables: compiler.variables })
}

/// The first error of the parser.
fn syntax(source: &str, errors: &ParseErrors) -> CompileError {
    const LONGEST: usize = 160;
    let Some(first) = errors.errors.first() else {
        return CompileError::new(source, 0, "no expression");
    };
    let (line, column) = first.pos;
    let before = |count: isize| usize::try_from(count - 1).unwrap_or(0);
    let line_start: usize = source.split_inclusive('\n').take(before(line)).map(str::len).sum();
    let rest = &source[line_start..];
    let within = rest.char_indices().nth(before(column)).map_or(rest.len(), |(at, _)| at);
    // The parser's message lists every token that would be valid there. Only the part before the list is
    // useful.
    if first.msg.contains("Recursion limit") {
        return CompileError::new(
            source,
            0,
            "it is nested deeper than the parser goes; make it flatter, or use `variables`",
        );
    }
    let message = first.msg.split(" expecting ").next().unwrap_or_default().replace('\n', " ");
    let message = message.trim_start_matches("Syntax error: ");
    let message = message.chars().take(LONGEST).collect::<String>();
    CompileError::new(source, line_start + within, message).or_literal()
}

pub(super) struct Compiler<'c> {
    source: &'c str,
    info: &'c SourceInfo,
    pub(super) scope: &'c Scope,
    nodes: usize,
    depth: usize,
    variables: Vec<Variable>,
    /// The variables of the enclosing loops, outermost first.
    locals: Vec<Local>,
}

struct Local {
    name: String,
    /// The [`levels`](AstNode::levels) of its values.
    levels: usize,
}

impl Compiler<'_> {
    pub(super) fn node(&mut self, expression: &IdedExpr) -> Result<AstNode> {
        self.nodes += 1;
        if self.nodes > MAX_NODES {
            return self.fail(expression, format!("an expression has at most {MAX_NODES} parts; {SPLIT}"));
        }
        if self.depth == MAX_DEPTH {
            return self.fail(expression, format!("an expression is nested at most {MAX_DEPTH} levels deep"));
        }
        self.depth += 1;
        let op = match &expression.expr {
            Expr::Literal(literal) => self.literal(expression, literal),
            Expr::Ident(name) => self.identifier(expression, name),
            Expr::Select(select) => self.select(expression, select),
            Expr::Call(call) => self.call(expression, call),
            Expr::List(list) => self.list(list),
            Expr::Map(map) => self.map(map),
            Expr::Struct(_) => {
                self.fail(expression, "there are no messages here, only maps: {\"name\": value}")
            }
            Expr::Comprehension(_) | Expr::Unspecified => self.fail(expression, "this is no expression"),
        }?;
        self.depth -= 1;
        let levels = op.levels(|number| self.locals.get(number).map_or(0, |local| local.levels));
        if levels > MAX_DEPTH {
            let problem = format!("the lists and maps of a value are nested at most {MAX_DEPTH} levels deep");
            return self.fail(expression, problem);
        }
        Ok(AstNode { levels, offset: u32::try_from(self.offset(expression)).unwrap_or(u32::MAX), op })
    }

    pub(super) fn boxed(&mut self, expression: &IdedExpr) -> Result<Box<AstNode>> {
        self.node(expression).map(Box::new)
    }

    pub(super) fn pair(&mut self, a: &IdedExpr, b: &IdedExpr) -> Result<Box<[AstNode; 2]>> {
        Ok(Box::new([self.node(a)?, self.node(b)?]))
    }

    fn literal(&self, expression: &IdedExpr, literal: &LiteralValue) -> Result<Op> {
        Ok(match literal {
            LiteralValue::Null => Op::Null,
            LiteralValue::Boolean(flag) => Op::Bool(*flag.inner()),
            LiteralValue::Int(number) => Op::Int(*number.inner()),
            LiteralValue::Double(number) if number.inner().is_finite() => Op::Double(*number.inner()),
            LiteralValue::Double(_) => {
                return self.fail(expression, "the number is beyond what a double holds");
            }
            LiteralValue::String(text) => Op::Text(text.inner().into()),
            LiteralValue::UInt(_) => {
                return self.fail(expression, "there are no unsigned integers here: leave the `u` away");
            }
            LiteralValue::Bytes(_) => return self.fail(expression, "there are no bytes here, only strings"),
        })
    }

    fn identifier(&mut self, expression: &IdedExpr, name: &str) -> Result<Op> {
        if let Some(local) = self.local(name) {
            return Ok(Op::Local(local));
        }
        let name = name.trim_start_matches('.');
        if let Some(variable) = self.scope.root(name) {
            return Ok(Op::Variable(self.variable(variable)));
        }
        if self.scope.is_group(name) {
            let members = self.scope.members(name).join(", ");
            let problem = format!("`{name}` is no value by itself, its members are: {members}");
            return self.fail(expression, problem);
        }
        if let Some(kind) = ValKind::named(name) {
            return Ok(Op::Type(kind));
        }
        let group = ["variables", "allocations", "cluster", "binding"]
            .into_iter()
            .find(|group| self.scope.is_group(group) && self.scope.members(group).contains(&name));
        let advice = match group {
            Some(group) => format!("; did you mean `{group}.{name}`?"),
            None => hint(
                name,
                self.scope.names().into_iter().chain(self.locals.iter().map(|local| local.name.as_str())),
            ),
        };
        let problem = format!("unknown variable `{name}`{advice}");
        let error = CompileError::new(self.source, self.offset(expression), problem);
        Err(if advice.is_empty() { error.or_literal() } else { error })
    }

    fn select(&mut self, expression: &IdedExpr, select: &SelectExpr) -> Result<Op> {
        if let Some(group) = self.group(&select.operand) {
            return self.member(expression, &group, &select.field).map(Op::Variable);
        }
        Ok(Op::Select(self.boxed(&select.operand)?, select.field.as_str().into()))
    }

    fn list(&mut self, list: &ListExpr) -> Result<Op> {
        let mut items = Vec::with_capacity(list.elements.len());
        for (position, element) in list.elements.iter().enumerate() {
            let optional = list.optional_indices.contains(&position);
            items.push(Item { value: self.node(element)?, optional });
        }
        Ok(Op::List(items.into()))
    }

    fn map(&mut self, map: &MapExpr) -> Result<Op> {
        let mut entries = Vec::with_capacity(map.entries.len());
        for entry in &map.entries {
            let EntryExpr::MapEntry(entry) = &entry.expr else { continue };
            let key = self.node(&entry.key)?;
            if key.gives().is_some_and(|kind| kind != ValKind::String) {
                return self.fail(&entry.key, "the keys of maps are strings, as in JSON");
            }
            entries.push(MapEntry { key, value: self.node(&entry.value)?, optional: entry.optional });
        }
        Ok(Op::Map(entries.into()))
    }

    /// Compiles with the variable of a loop in scope.
    pub(super) fn with_local<T>(
        &mut self,
        variable: &IdedExpr,
        levels: usize,
        body: impl FnOnce(&mut Self) -> Result<T>,
    ) -> Result<T> {
        let Expr::Ident(name) = &variable.expr else {
            return self.fail(variable, "the first argument is the name of a variable");
        };
        if name.starts_with('.') {
            return self.fail(variable, "the name of a variable has no point");
        }
        self.locals.push(Local { name: name.clone(), levels });
        let compiled = body(self);
        self.locals.pop();
        compiled
    }

    /// The index of a loop's variable. A name with a leading dot is never a loop's variable.
    fn local(&self, name: &str) -> Option<usize> {
        self.locals.iter().rposition(|local| local.name == name)
    }

    /// The name of the group (such as `cluster`) that the expression refers to.
    pub(super) fn group(&self, expression: &IdedExpr) -> Option<String> {
        let Expr::Ident(name) = &expression.expr else { return None };
        let bare = name.trim_start_matches('.');
        (self.local(name).is_none() && self.scope.is_group(bare)).then(|| bare.to_owned())
    }

    /// The index of a variable that is a member of a group.
    pub(super) fn member(&mut self, expression: &IdedExpr, group: &str, member: &str) -> Result<usize> {
        if let Some(variable) = self.scope.member(group, member) {
            return Ok(self.variable(variable));
        }
        let advice = hint(member, self.scope.members(group));
        let place = self.place_after(expression, member);
        Err(CompileError::new(self.source, place, format!("unknown variable `{group}.{member}`{advice}")))
    }

    fn variable(&mut self, variable: Variable) -> usize {
        let known = self.variables.iter().position(|other| *other == variable);
        known.unwrap_or_else(|| {
            self.variables.push(variable);
            self.variables.len() - 1
        })
    }

    pub(super) fn is_local(&self, name: &str) -> bool {
        self.local(name).is_some()
    }

    pub(super) fn fail<T>(&self, expression: &IdedExpr, problem: impl Into<String>) -> Result<T> {
        Err(CompileError::new(self.source, self.offset(expression), problem))
    }

    /// Fails at the name of the called function.
    pub(super) fn fail_at_name<T>(&self, expression: &IdedExpr, name: &str, problem: String) -> Result<T> {
        let offset = self.offset(expression);
        let end = self.source.floor_char_boundary(offset + name.len());
        let place = self.source[..end].rfind(name).unwrap_or(offset);
        Err(CompileError::new(self.source, place, problem))
    }

    /// The position of a name that follows the operator of an expression.
    fn place_after(&self, expression: &IdedExpr, name: &str) -> usize {
        let offset = self.offset(expression);
        self.source[offset..].find(name).map_or(offset, |at| offset + at)
    }

    /// The start of an expression: its first token, or its operator.
    fn offset(&self, expression: &IdedExpr) -> usize {
        let (start, _) = self.info.offset_for(expression.id).unwrap_or_default();
        self.source.floor_char_boundary(start as usize)
    }
}
