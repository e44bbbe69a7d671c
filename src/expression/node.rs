//! What a source is compiled into: names are resolved to places, functions to what does them, patterns are built.

use super::functions::Function;
use super::pattern::Pattern;
use super::value::Kind;

/// A part of an expression.
#[derive(Debug)]
pub(super) struct Node {
    /// Where it is, in bytes of the source.
    pub(super) offset: u32,
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
