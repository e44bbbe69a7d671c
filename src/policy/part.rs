//! The parts of a patch, as far as the document shows them.

use crate::engine::Templated;
use crate::json::{Object, Pointer, Value};

/// A value within a patch. It may contain expressions.
#[derive(Clone, Copy)]
pub(super) enum Part<'t> {
    Templated(&'t Templated),
    Value(&'t Value<'static>),
}

impl<'t> Part<'t> {
    /// The value, if it contains no expression.
    pub(super) fn constant(self) -> Option<&'t Value<'static>> {
        match self {
            Self::Templated(templated) => templated.constant(),
            Self::Value(value) => Some(value),
        }
    }

    /// Whether it is an expression, so that its value is not known.
    pub(super) fn is_expression(self) -> bool {
        matches!(self, Self::Templated(Templated::Template(_)))
    }

    /// The text, if it is a string without an expression.
    pub(super) fn text(self) -> Option<&'t str> {
        self.constant().and_then(Value::as_str)
    }

    /// The members of a map. Empty for other values.
    pub(super) fn members(self) -> Vec<(&'t str, Self)> {
        if let Self::Templated(Templated::Map(members)) = self {
            return members.iter().map(|(name, member)| (name.as_str(), Self::Templated(member))).collect();
        }
        let members = self.constant().and_then(Value::as_object);
        members.into_iter().flat_map(Object::iter).map(|(name, value)| (name, Self::Value(value))).collect()
    }

    /// The value at a path through maps. `None` if it does not exist or an expression is on the path.
    pub(super) fn at(self, place: &Pointer) -> Option<Self> {
        place.tokens().iter().try_fold(self, |part, name| {
            part.members().into_iter().find(|(member, _)| member == name).map(|(_, part)| part)
        })
    }

    pub(super) fn is_list(self) -> bool {
        matches!(self, Self::Templated(Templated::List(_)))
            || self.constant().and_then(Value::as_array).is_some()
    }

    /// The items of a list. Empty for other values.
    pub(super) fn items(self) -> Vec<Self> {
        if let Self::Templated(Templated::List(items)) = self {
            return items.iter().map(Self::Templated).collect();
        }
        let items = self.constant().and_then(Value::as_array).unwrap_or_default();
        items.iter().map(Self::Value).collect()
    }
}
