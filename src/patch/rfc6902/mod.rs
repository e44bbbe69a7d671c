//! JSON patch (RFC 6902): all six operations.
//!
//! This follows the RFC exactly. The library of kubectl is more lenient: it counts an index of -1 from the
//! end, reads `01` as an index, copies a missing value as null, lets `replace` add, and reads `~2` literally.

mod apply;
mod parse;

#[cfg(test)]
mod tests;

pub use apply::apply;
pub use parse::parse;

use crate::json::{Pointer, Value};

/// One operation of a JSON patch.
#[derive(Clone, Debug, PartialEq)]
pub enum Op<'a> {
    /// Sets a member, or inserts an item before the index. `-` is the end of a list.
    Add(Pointer, Value<'a>),
    /// Removes the value.
    Remove(Pointer),
    /// Replaces the value.
    Replace(Pointer, Value<'a>),
    /// Removes the value at the first place, and adds it at the second.
    Move(Pointer, Pointer),
    /// Adds the value at the first place at the second.
    Copy(Pointer, Pointer),
    /// Fails if the value is different. Numbers are compared by value.
    Test(Pointer, Value<'a>),
}

impl Op<'_> {
    /// The places of the operation, each with the name of its field.
    pub fn pointers(&self) -> impl Iterator<Item = (&'static str, &Pointer)> {
        let (from, path) = match self {
            Self::Move(from, path) | Self::Copy(from, path) => (Some(from), path),
            Self::Add(path, _) | Self::Remove(path) | Self::Replace(path, _) | Self::Test(path, _) => {
                (None, path)
            }
        };
        from.map(|from| ("from", from)).into_iter().chain([("path", path)])
    }
}

/// What to do if the place of an operation does not exist.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MissingPath {
    /// The patch fails, as in the RFC.
    #[default]
    Fail,
    /// `add` and `replace` create what is missing on the path: a list if the next step is `-` or `0`, else a
    /// map. A null on the path counts as missing. `remove`, `test`, and `move` and `copy` from a missing
    /// place still fail.
    Create,
    /// The operation is skipped. `test` still fails.
    Skip,
}
