//! Scalars, as they are compared when lists are merged.

use crate::json::{Number, Value};

/// A scalar that identifies an item of a list. Numbers are read as by the JSON decoder of Go: an integer that
/// fits in 64 bits is an integer, any other number a float. An integer never equals a float.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Scalar<'v> {
    Null,
    Bool(bool),
    Integer(i64),
    /// The bits of a finite float.
    Float(u64),
    /// A number that is too large for a float.
    Large(&'v str),
    Text(&'v str),
}

impl<'v> Scalar<'v> {
    /// The scalar. `None` for a list or a map.
    pub(super) fn of(value: &'v Value<'_>) -> Option<Self> {
        match value {
            Value::Null => Some(Self::Null),
            Value::Bool(flag) => Some(Self::Bool(*flag)),
            Value::Number(number) => Some(Self::number(number)),
            Value::String(text) => Some(Self::Text(text)),
            Value::Array(_) | Value::Object(_) => None,
        }
    }

    fn number(number: &'v Number<'_>) -> Self {
        if let Some(integer) = number.as_i64() {
            return Self::Integer(integer);
        }
        match number.as_str().parse::<f64>() {
            // Adding zero turns -0.0 into 0.0.
            Ok(float) if float.is_finite() => Self::Float((float + 0.0).to_bits()),
            _ => Self::Large(number.as_str()),
        }
    }
}

/// The type of an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Type {
    Bool,
    Integer,
    Float,
    Text,
    Map,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Types {
    /// The list is empty.
    None,
    One(Type),
    /// Several types, nulls or lists. Such a list cannot be merged.
    Mixed,
}

pub(super) fn types<'v, 'a: 'v>(items: impl IntoIterator<Item = &'v Value<'a>>) -> Types {
    let mut all = Types::None;
    for item in items {
        let this = match Scalar::of(item) {
            Some(Scalar::Bool(_)) => Type::Bool,
            Some(Scalar::Integer(_)) => Type::Integer,
            Some(Scalar::Float(_) | Scalar::Large(_)) => Type::Float,
            Some(Scalar::Text(_)) => Type::Text,
            None if item.as_object().is_some() => Type::Map,
            Some(Scalar::Null) | None => return Types::Mixed,
        };
        if all != Types::None && all != Types::One(this) {
            return Types::Mixed;
        }
        all = Types::One(this);
    }
    all
}
