//! Checks values against their types.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use jiff::Timestamp;

use super::shape::Shape;
use super::{Type, table};
use crate::domain::Quantity;
use crate::json::{Kind, Number, Pointer, Value};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mismatch {
    pub place: Pointer,
    pub problem: MismatchKind,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MismatchKind {
    /// The API server does not decode the object.
    Type { expected: &'static str, found: String },
    /// The type has no such field. The API server drops it, or refuses it where it validates fields strictly.
    UnknownField,
}

impl fmt::Display for MismatchKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Type { expected, found } => write!(f, "must be {expected}, is {found}"),
            Self::UnknownField => f.write_str("unknown field"),
        }
    }
}

/// The values in `value` that do not fit `shape`, in the order of the document. `value` is at `place`.
///
/// A null fits where Go's decoder ignores it: everywhere but in a map of strings, where it would become an
/// empty string and Karmada would drop the whole map.
pub fn check(value: &Value<'_>, shape: Shape<'_>, place: &Pointer) -> Vec<Mismatch> {
    let mut mismatches = Vec::new();
    walk(value, shape, place, &mut mismatches);
    mismatches
}

fn walk(value: &Value<'_>, shape: Shape<'_>, place: &Pointer, mismatches: &mut Vec<Mismatch>) {
    let Some(known) = shape.known() else {
        return descend(value, shape, place, mismatches);
    };
    match (misfit(value, known), value) {
        (Some((expected, found)), _) => {
            mismatches
                .push(Mismatch { place: place.clone(), problem: MismatchKind::Type { expected, found } });
        }
        (None, Value::Object(members)) if known == Type::Map(&Type::String) => {
            for (name, _) in members.iter().filter(|(_, value)| value.is_null()) {
                let problem = MismatchKind::Type { expected: "a string", found: Kind::Null.to_string() };
                mismatches.push(Mismatch { place: place.join(name), problem });
            }
            descend(value, shape, place, mismatches);
        }
        (None, _) => descend(value, shape, place, mismatches),
    }
}

fn descend(value: &Value<'_>, shape: Shape<'_>, place: &Pointer, mismatches: &mut Vec<Mismatch>) {
    if matches!(shape, Shape::Unknown | Shape::Exact(Type::Any) | Shape::AtLeast(Type::Any)) {
        return;
    }
    match value {
        Value::Object(members) => {
            for (name, member) in members.iter() {
                let place = place.join(name);
                match shape.field(name) {
                    Some(field) => walk(member, field, &place, mismatches),
                    None => mismatches.push(Mismatch { place, problem: MismatchKind::UnknownField }),
                }
            }
        }
        Value::Array(items) => {
            for (position, item) in items.iter().enumerate() {
                walk(item, shape.item(), &place.join(position.to_string()), mismatches);
            }
        }
        _ => {}
    }
}

/// The expected and the actual type, if `value` itself does not fit.
fn misfit(value: &Value<'_>, of: Type) -> Option<(&'static str, String)> {
    if value.is_null() {
        return None;
    }
    let expected = expected(of);
    let wrong = || Some((expected, value.kind().to_string()));
    let spelled = |fits: bool| (!fits).then(|| (expected, value.to_string()));
    match (of, value) {
        (Type::Any, _)
        | (Type::String | Type::IntOrString, Value::String(_))
        | (Type::Boolean, Value::Bool(_))
        | (Type::Number, Value::Number(_))
        | (Type::List(_), Value::Array(_))
        | (Type::Map(_) | Type::Struct(_), Value::Object(_)) => None,
        (Type::Int64, Value::Number(number)) => spelled(integer(number).is_some()),
        (Type::Int32 | Type::IntOrString, Value::Number(number)) => {
            spelled(integer(number).is_some_and(|integer| i32::try_from(integer).is_ok()))
        }
        (Type::Quantity, Value::Number(number)) => spelled(Quantity::parse(number.as_str()).is_ok()),
        (Type::Quantity, Value::String(text)) => spelled(Quantity::parse(text).is_ok()),
        (Type::Time, Value::String(text)) => spelled(text.parse::<Timestamp>().is_ok()),
        (Type::Bytes, Value::String(text)) => {
            let text: Vec<u8> = text.bytes().filter(|byte| !matches!(byte, b'\r' | b'\n')).collect();
            // The value may be secret.
            STANDARD.decode(text).err().map(|_| (expected, "another string".to_owned()))
        }
        _ => wrong(),
    }
}

/// The integer that an API server stores.
fn integer(number: &Number<'_>) -> Option<i64> {
    number.as_stored().as_i64()
}

fn expected(of: Type) -> &'static str {
    match of {
        Type::String => "a string",
        Type::Boolean => "true or false",
        Type::Int32 => "an integer of 32 bits",
        Type::Int64 => "an integer of 64 bits",
        Type::Number => "a number",
        Type::IntOrString => "an integer of 32 bits or a string",
        Type::Quantity => "a quantity such as 500m or 1Gi",
        Type::Time => "a time such as 2026-01-02T15:04:05Z",
        Type::Bytes => "a string in base64",
        Type::List(_) => "a list",
        Type::Map(_) | Type::Struct(_) => "a map",
        Type::Any => "any value",
    }
}

/// `value` with each number and boolean spelled as a string where only a string fits `shape`.
pub fn write_as_text<'a>(value: Value<'a>, shape: Shape<'_>) -> Value<'a> {
    if shape.known() == Some(Type::String) {
        return match value {
            Value::Number(number) => number.as_str().to_owned().into(),
            Value::Bool(flag) => flag.to_string().into(),
            other => other,
        };
    }
    match (shape, value) {
        (Shape::Unknown, value) => value,
        (_, Value::Array(items)) => {
            Value::array(items.iter().map(|item| write_as_text(item.clone(), shape.item())).collect())
        }
        (_, Value::Object(members)) => {
            let written = |(name, member): (&str, &Value<'a>)| match shape.field(name) {
                Some(field) => (name.to_owned(), write_as_text(member.clone(), field)),
                None => (name.to_owned(), member.clone()),
            };
            Value::Object(members.iter().map(written).collect())
        }
        (_, scalar) => scalar,
    }
}

impl Shape<'_> {
    /// The expected type, if no result of an expression of this kind fits. Numbers and booleans fit where a
    /// string does.
    pub fn refuses(self, kind: Kind) -> Option<&'static str> {
        let of = self.known()?;
        let fits = match kind {
            Kind::Null => true,
            Kind::Bool => matches!(of, Type::Boolean | Type::String | Type::Any),
            Kind::Number => !matches!(
                of,
                Type::Boolean | Type::Time | Type::Bytes | Type::List(_) | Type::Map(_) | Type::Struct(_)
            ),
            Kind::String => !matches!(
                of,
                Type::Boolean
                    | Type::Int32
                    | Type::Int64
                    | Type::Number
                    | Type::List(_)
                    | Type::Map(_)
                    | Type::Struct(_)
            ),
            Kind::Array => matches!(of, Type::List(_) | Type::Any),
            Kind::Object => matches!(of, Type::Map(_) | Type::Struct(_) | Type::Any),
        };
        (!fits).then(|| expected(of))
    }
}

impl Shape<'static> {
    /// `metadata` of every object.
    pub const OBJECT_META: Self = Self::AtLeast(table::OBJECT_META);

    /// The `spec` of a pod.
    pub const POD_SPEC: Self = Self::Exact(table::POD_SPEC);
}
