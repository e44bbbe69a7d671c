//! The types of the fields of objects: of the built-in kinds of Kubernetes, and of custom kinds where they
//! are known.
//!
//! [`ObjectType`] is the type of a kind. [`Shape`] is the type of one value in an object of it. [`check`]
//! finds the values that an API server does not decode, or drops; [`write_as_text`] spells numbers and
//! booleans where only a string fits.
//!
//! Only types are checked here. `engine::validate` checks whether a value of the right type is valid.

mod check;
mod shape;
mod table;

#[cfg(test)]
mod tests;

pub use check::{Mismatch, MismatchKind, check, write_as_text};
pub use shape::{ObjectType, Shape};

/// What the JSON of a field has to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Type {
    String,
    Boolean,
    /// An integer of 32 bits.
    Int32,
    /// An integer of 64 bits.
    Int64,
    Number,
    /// `intstr.IntOrString`: an integer of 32 bits, or a string.
    IntOrString,
    /// `resource.Quantity`: a number, or a string such as `500m`.
    Quantity,
    /// `metav1.Time`: a string with a time of RFC 3339.
    Time,
    /// `[]byte`: a string in base64.
    Bytes,
    /// Any JSON.
    Any,
    List(&'static Self),
    /// A map with any names.
    Map(&'static Self),
    /// A map with the fields of this row of the table.
    Struct(usize),
}
