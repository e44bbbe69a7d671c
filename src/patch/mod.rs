//! Creates and applies patches. This module is independent of policies and protocols.
//!
//! [`diff`] creates the JSON patch (RFC 6902) that turns one value into another. The patch is minimal as
//! docs/interpreter.md ("The patch") defines it, and depends only on the two values. Builds with debug
//! assertions verify each patch with the crate `json-patch`.
//!
//! [`strategic`], [`merge`] (RFC 7386) and [`rfc6902`] apply patches that users write. They return a new
//! value, which shares its unchanged parts with the old one. A patch that fails changes nothing.

mod diff;
mod edits;
mod error;
pub mod merge;
mod operation;
mod oracle;
mod path;
pub mod rfc6902;
pub mod strategic;

#[cfg(test)]
mod tests;

pub use diff::diff;
pub use error::{InvalidPatchError, PatchError, PatchErrorKind};
pub use operation::{Operation, Patch};
