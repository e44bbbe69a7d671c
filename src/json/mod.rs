//! JSON as it was written: numbers keep their spelling, objects keep the order of their members,
//! and the whole of it is bounded.
//!
//! Three shapes, cheapest first:
//!
//! * [`Text`], checked, and [`Raw`], a value in it. Members can be looked up in that without building anything;
//!   this is how the envelope of a request and the few fields that an operation needs are read.
//! * [`Value`], a tree that borrows its strings from the text, shares its lists and objects by reference
//!   count, and copies one only when it is changed. A revision therefore costs what it changes.
//! * text again, compact, through [`Value`]'s [`Display`](std::fmt::Display).
//!
//! What is refused, and where: text that is not JSON (RFC 8259) by [`Text::parse`]; an object that holds one
//! name twice, and containers nested deeper than [`MAX_DEPTH`], by [`Raw::to_value`]. No input, however deep,
//! uses more than a bounded piece of stack.
//!
//! This module is not specific to Kubernetes, and uses no other module of the crate.

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

/// How deep containers may be nested in a [`Value`]: `[]` is one level, `[[]]` two.
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
