//! A JSON patch and its text.

use crate::json::{Pointer, Value};

/// One operation of a [`Patch`]. These three of the operations of RFC 6902 can describe any change.
#[derive(Clone, Debug, PartialEq)]
pub enum Operation<'a> {
    /// Adds a new member, or inserts an item before the index.
    Add(Pointer, Value<'a>),
    /// Removes a member or an item.
    Remove(Pointer),
    /// Replaces a value.
    Replace(Pointer, Value<'a>),
}

impl Operation<'_> {
    /// The place that the operation changes.
    pub fn path(&self) -> &Pointer {
        match self {
            Self::Add(path, _) | Self::Remove(path) | Self::Replace(path, _) => path,
        }
    }
}

impl Operation<'_> {
    /// The same operation without borrowed values.
    #[must_use]
    pub fn into_owned(self) -> Operation<'static> {
        match self {
            Self::Add(path, value) => Operation::Add(path, value.into_owned()),
            Self::Remove(path) => Operation::Remove(path),
            Self::Replace(path, value) => Operation::Replace(path, value.into_owned()),
        }
    }

    /// The same operation for an object that contains the current one at `place`.
    #[must_use]
    pub fn below(self, place: &Pointer) -> Self {
        match self {
            Self::Add(path, value) => Self::Add(place.concat(&path), value),
            Self::Remove(path) => Self::Remove(place.concat(&path)),
            Self::Replace(path, value) => Self::Replace(place.concat(&path), value),
        }
    }
}

/// A JSON patch (RFC 6902).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Patch<'a>(pub Vec<Operation<'a>>);

impl Patch<'_> {
    /// The place of each operation.
    pub fn places(&self) -> impl Iterator<Item = &Pointer> {
        self.0.iter().map(Operation::path)
    }

    /// Whether the patch has no operations.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The compact JSON text. `[]` for a patch without operations.
    pub fn to_text(&self) -> String {
        let mut out = String::with_capacity(2 + 128 * self.0.len());
        out.push('[');
        for (position, operation) in self.0.iter().enumerate() {
            if position > 0 {
                out.push(',');
            }
            let (name, value) = match operation {
                Operation::Add(_, value) => ("add", Some(value)),
                Operation::Remove(_) => ("remove", None),
                Operation::Replace(_, value) => ("replace", Some(value)),
            };
            out.push_str(r#"{"op":""#);
            out.push_str(name);
            out.push_str(r#"","path":"#);
            operation.path().write_to(&mut out);
            if let Some(value) = value {
                out.push_str(r#","value":"#);
                value.write_to(&mut out);
            }
            out.push('}');
        }
        out.push(']');
        out
    }
}
