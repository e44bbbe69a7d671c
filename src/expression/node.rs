//! The compiled form of an expression: names are resolved to indexes and functions, and patterns are built.

use super::functions::Function;
use super::pattern::Pattern;
use super::value::ValKind;

#[derive(Debug)]
pub(super) struct AstNode {
    /// The byte offset in the source.
    pub(super) offset: u32,
    /// An upper bound on how many lists, maps and optionals of the value enclose a piece of a document.
    pub(super) levels: usize,
    pub(super) op: Op,
}

/// What an [`AstNode`] computes.
#[derive(Debug)]
pub(super) enum Op {
    Null,
    Bool(bool),
    Int(i64),
    Double(f64),
    Text(Box<str>),
    Type(ValKind),
    /// A variable, by its index in the variables of the expression.
    Variable(usize),
    /// `has` of a variable in a group, such as `has(cluster.region)`.
    HasVariable(usize),
    /// `cluster.?region`
    OptionalVariable(usize),
    /// The variable of a loop, by the number of enclosing loops.
    Local(usize),
    Select(Box<AstNode>, Box<str>),
    Has(Box<AstNode>, Box<str>),
    OptionalSelect(Box<AstNode>, Box<str>),
    Index(Box<[AstNode; 2]>),
    OptionalIndex(Box<[AstNode; 2]>),
    List(Box<[Item]>),
    Map(Box<[MapEntry]>),
    Not(Box<AstNode>),
    Negate(Box<AstNode>),
    And(Box<[AstNode; 2]>),
    Or(Box<[AstNode; 2]>),
    Conditional(Box<[AstNode; 3]>),
    Binary(Binary, Box<[AstNode; 2]>),
    Loop(Box<Loop>),
    /// `optMap`, or `optFlatMap` if the flag is set.
    OptionalMap(Box<[AstNode; 2]>, bool),
    /// `or`, or `orValue` if the flag is set. The argument is evaluated only if the optional is empty.
    OptionalElse(Box<[AstNode; 2]>, bool),
    Call(Function, Box<[AstNode]>),
    Matches(Box<AstNode>, Box<Pattern>),
    /// `find`, or `findAll` if the flag is set.
    Find(Box<AstNode>, Box<Pattern>, bool),
}

/// An item of a list literal. An optional item is left out if it has no value.
#[derive(Debug)]
pub(super) struct Item {
    pub(super) value: AstNode,
    pub(super) optional: bool,
}

/// A member of a map literal.
#[derive(Debug)]
pub(super) struct MapEntry {
    pub(super) key: AstNode,
    pub(super) value: AstNode,
    pub(super) optional: bool,
}

/// A binary operator that evaluates both sides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Binary {
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    In,
}

impl Binary {
    pub(super) fn sign(self) -> &'static str {
        match self {
            Self::Add => "+",
            Self::Subtract => "-",
            Self::Multiply => "*",
            Self::Divide => "/",
            Self::Remainder => "%",
            Self::Equal => "==",
            Self::NotEqual => "!=",
            Self::Less => "<",
            Self::LessOrEqual => "<=",
            Self::Greater => ">",
            Self::GreaterOrEqual => ">=",
            Self::In => "in",
        }
    }
}

/// A loop over a list, or over the keys of a map.
#[derive(Debug)]
pub(super) struct Loop {
    pub(super) kind: LoopKind,
    pub(super) range: AstNode,
    /// Evaluated for each item.
    pub(super) body: AstNode,
    /// Selects the items of `map(x, filter, body)`.
    pub(super) filter: Option<AstNode>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LoopKind {
    All,
    Exists,
    ExistsOne,
    Filter,
    Map,
}

impl AstNode {
    /// The kind of the value, if the source determines it.
    pub(super) fn gives(&self) -> Option<ValKind> {
        Some(match &self.op {
            Op::Null => ValKind::Null,
            Op::Int(_) => ValKind::Int,
            Op::Double(_) => ValKind::Double,
            Op::Text(_) | Op::Find(_, _, false) => ValKind::String,
            Op::Type(_) => ValKind::Type,
            Op::List(_) | Op::Find(_, _, true) => ValKind::List,
            Op::Map(_) => ValKind::Map,
            Op::OptionalVariable(_)
            | Op::OptionalSelect(..)
            | Op::OptionalIndex(_)
            | Op::OptionalMap(..)
            | Op::OptionalElse(_, false) => ValKind::Optional,
            Op::Loop(walk) => match walk.kind {
                LoopKind::All | LoopKind::Exists | LoopKind::ExistsOne => ValKind::Bool,
                LoopKind::Filter | LoopKind::Map => ValKind::List,
            },
            Op::Conditional(parts) => {
                let [_, yes, no] = &**parts;
                return yes.gives().filter(|kind| no.gives() == Some(*kind));
            }
            Op::Negate(operand) => return operand.gives(),
            Op::Binary(
                Binary::Add | Binary::Subtract | Binary::Multiply | Binary::Divide | Binary::Remainder,
                sides,
            ) => {
                // Arithmetic needs two sides of the same kind.
                return sides.iter().find_map(Self::gives);
            }
            Op::Bool(_)
            | Op::HasVariable(_)
            | Op::Has(..)
            | Op::Not(_)
            | Op::And(_)
            | Op::Or(_)
            | Op::Matches(..)
            | Op::Binary(..) => ValKind::Bool,
            Op::Call(function, _) => return function.gives(),
            Op::Variable(_) | Op::Local(_) | Op::Select(..) | Op::Index(_) | Op::OptionalElse(_, true) => {
                return None;
            }
        })
    }
}

impl Op {
    /// The [`levels`](AstNode::levels) of the value. `local` returns those of a loop's variable.
    pub(super) fn levels(&self, local: impl Fn(usize) -> usize) -> usize {
        let most = |nodes: &[AstNode]| nodes.iter().map(|node| node.levels).max().unwrap_or(0);
        match self {
            Self::Local(number) => local(*number),
            Self::Select(inner, _) | Self::OptionalSelect(inner, _) => inner.levels.max(1),
            Self::Index(sides) | Self::OptionalIndex(sides) => sides[0].levels.max(1),
            Self::List(items) => 1 + items.iter().map(|item| item.value.levels).max().unwrap_or(0),
            Self::Map(entries) => 1 + entries.iter().map(|entry| entry.value.levels).max().unwrap_or(0),
            Self::Conditional(parts) => most(&parts[1..]),
            Self::Binary(Binary::Add, sides) | Self::OptionalElse(sides, _) => most(&**sides),
            Self::Loop(walk) => match walk.kind {
                LoopKind::Filter => walk.range.levels.max(1),
                LoopKind::Map => 1 + walk.body.levels,
                LoopKind::All | LoopKind::Exists | LoopKind::ExistsOne => 0,
            },
            Self::OptionalMap(parts, _) => 1 + parts[1].levels,
            Self::Call(_, arguments) => 1 + most(arguments),
            Self::OptionalVariable(_) | Self::Find(..) => 1,
            _ => 0,
        }
    }
}
