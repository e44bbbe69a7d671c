//! Patches: values in, values out; knows no policy and no protocol.
//!
//! [`diff`] writes the JSON patch (RFC 6902) that turns one value into another. It is minimal in the sense of
//! docs/interpreter.md ("The patch"), and a function of its two arguments alone. Builds with debug assertions hold every patch against an
//! implementation that is not ours, the crate `json-patch`.

mod diff;
mod operation;
mod oracle;

#[cfg(test)]
mod tests;

pub use diff::{diff, diff_at};
pub use operation::{Operation, Patch};
