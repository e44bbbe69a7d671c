//! Patches: values in, values out; knows no policy and no protocol.
//!
//! [`diff`] writes the JSON patch (RFC 6902) that turns one value into another. It is minimal in the sense of
//! docs/interpreter.md ("The patch"), and a function of its two arguments alone. Builds with debug assertions hold every patch against an
//! implementation that is not ours, the crate `json-patch`.
//!
//! The other way round there are the three kinds of patches that people write: [`strategic`], [`merge`] (RFC 7386) and [`rfc6902`].
//! They give a new value, and share with the old one whatever they do not change. A patch that fails changes nothing.

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

pub use diff::{diff, diff_at};
pub use error::{InvalidPatchError, PatchError, PatchErrorKind};
pub use operation::{Operation, Patch};
