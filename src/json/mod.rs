//! JSON that preserves the spelling of numbers and the order of members, with bounded depth.
//!
//! There are three representations, from cheap to expensive:
//!
//! * [`Text`] is checked text, and [`Raw`] a value in it. Members can be looked up without building a tree.
//!   The envelope of a request and single fields are read this way.
//! * [`Value`] is a tree. It borrows strings from the text, shares lists and objects by reference count, and
//!   copies them only on a change. So the cost of a revision depends on the size of the change.
//! * Compact text is written from a [`Value`] by its [`Display`](std::fmt::Display).
//!
//! [`Text::parse`] refuses text that is not JSON (RFC 8259). [`Raw::to_value`] refuses duplicate names in an
//! object, and containers nested deeper than [`MAX_DEPTH`]. Stack use is bounded for every input.
//!
//! This module is independent of Kubernetes, and uses no other module of the crate.

mod build;
mod cursor;
mod decode;
mod error;
mod field;
mod number;
mod pointer;
mod raw;
mod scan;
mod text;
mod unescape;
mod value;
mod walk;
mod write;

/// The maximum depth of containers in a [`Value`]: `[]` is one level, `[[]]` two.
pub const MAX_DEPTH: usize = 512;

#[cfg(test)]
mod tests;

pub use decode::{Node, Notes};
pub use error::ParseError;
pub use field::field_path;
pub use number::Number;
pub use pointer::{Pointer, PointerError};
pub use raw::{Members, Raw};
pub use text::Text;
pub use value::{Index, Kind, Object, Value};
pub use write::write_string;
