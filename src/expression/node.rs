//! What a source is compiled into: names are resolved to places, functions to what does them, patterns are built.

use super::functions::Function;
use super::pattern::Pattern;
use super::value::Kind;

/// A part of an expression.
#[derive(Debug)]
pub(super) struct Node {
    /// Where it is, in bytes of the source.
    pub(super) offset: u32,
    /// How many lists, maps and optionals its value may have around a piece of a document.
    pub(super) levels: usize,
    pub(super) op: Op,
}

/// What a [`Node`] does.
#[derive(Debug)]
pub(super) enum Op {
    Null,
    Bool(bool),
    Int(i64),
    Double(f64),
    Text(Box<str>),
    Type(Kind),
    /// A variable, by its number among those that the expression uses.
    Variable(usize),
    /// `has` of a variable that is a member of a group.
    HasVariable(usize),
    /// `cluster.?region`
    OptionalVariable(usize),
    /// The variable of a loop, by the number of loops around its own.
    Local(usize),
    Select(Box<Node>, Box<str>),
    Has(Box<Node>, Box<str>),
    OptionalSelect(Box<Node>, Box<str>),
    Index(Box<[Node; 2]>),
    OptionalIndex(Box<[Node; 2]>),
    List(Box<[Item]>),
    Map(Box<[Entry]>),
    Not(Box<Node>),
    Negate(Box<Node>),
    And(Box<[Node; 2]>),
    Or(Box<[Node; 2]>),
    Conditional(Box<[Node; 3]>),
    Binary(Binary, Box<[Node; 2]>),
    Loop(Box<Loop>),
    /// `optMap`, and `optFlatMap` if the second is set.
    OptionalMap(Box<[Node; 2]>, bool),
    /// `or`, and `orValue` if the second is set: the argument is evaluated only if there is no value.
    OptionalElse(Box<[Node; 2]>, bool),
    Call(Function, Box<[Node]>),
    Matches(Box<Node>, Box<Pattern>),
    /// The first match; with the second set, a list of all.
    Find(Box<Node>, Box<Pattern>, bool),
}

/// An item of a list, which may be left out if it is optional.
#[derive(Debug)]
pub(super) struct Item {
    pub(super) value: Node,
    pub(super) optional: bool,
}

/// A member of a map.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) key: Node,
    pub(super) value: Node,
    pub(super) optional: bool,
}

/// An operator with two sides that are both evaluated.
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
    /// As it is written.
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

/// A walk over a list, or the keys of a map.
#[derive(Debug)]
pub(super) struct Loop {
    pub(super) kind: LoopKind,
    pub(super) range: Node,
    /// What is done with each item.
    pub(super) body: Node,
    /// Which items it is done with.
    pub(super) filter: Option<Node>,
}

/// What a [`Loop`] makes of its items.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LoopKind {
    All,
    Exists,
    ExistsOne,
    Filter,
    Map,
}

impl Node {
    /// What the value is, if that can be told from the source alone.
    pub(super) fn gives(&self) -> Option<Kind> {
        Some(match &self.op {
            Op::Null => Kind::Null,
            Op::Int(_) => Kind::Int,
            Op::Double(_) => Kind::Double,
            Op::Text(_) | Op::Find(_, _, false) => Kind::String,
            Op::Type(_) => Kind::Type,
            Op::List(_) | Op::Find(_, _, true) => Kind::List,
            Op::Map(_) => Kind::Map,
            Op::OptionalVariable(_)
            | Op::OptionalSelect(..)
            | Op::OptionalIndex(_)
            | Op::OptionalMap(..)
            | Op::OptionalElse(_, false) => Kind::Optional,
            Op::Loop(walk) => match walk.kind {
                LoopKind::All | LoopKind::Exists | LoopKind::ExistsOne => Kind::Bool,
                LoopKind::Filter | LoopKind::Map => Kind::List,
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
                // There is no arithmetic with sides of two kinds.
                return sides.iter().find_map(Self::gives);
            }
            Op::Bool(_)
            | Op::HasVariable(_)
            | Op::Has(..)
            | Op::Not(_)
            | Op::And(_)
            | Op::Or(_)
            | Op::Matches(..)
            | Op::Binary(..) => Kind::Bool,
            Op::Call(function, _) => return function.gives(),
            Op::Variable(_) | Op::Local(_) | Op::Select(..) | Op::Index(_) | Op::OptionalElse(_, true) => {
                return None;
            }
        })
    }
}

impl Op {
    /// The [`levels`](Node::levels) of what it gives; those of a loop's variable are `local`'s to know.
    pub(super) fn levels(&self, local: impl Fn(usize) -> usize) -> usize {
        let most = |nodes: &[Node]| nodes.iter().map(|node| node.levels).max().unwrap_or(0);
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
