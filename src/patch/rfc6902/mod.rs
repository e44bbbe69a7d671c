//! JSON patch (RFC 6902): all six operations.
//!
//! As the RFC has it. kubectl's library is laxer: it counts an index of -1 from the end, reads `01` as an index, copies what is not
//! there as null, lets `replace` add, and takes `~2` literally.

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
    /// Sets a member, or puts an item in front of the one at the index; `-` is the end of a list.
    Add(Pointer, Value<'a>),
    /// Takes out what is there.
    Remove(Pointer),
    /// Puts a value in the place of what is there.
    Replace(Pointer, Value<'a>),
    /// Takes out what is at the first place, and adds it at the second.
    Move(Pointer, Pointer),
    /// Adds what is at the first place at the second.
    Copy(Pointer, Pointer),
    /// Fails if there is anything else; numbers are compared by what they mean.
    Test(Pointer, Value<'a>),
}

impl Op<'_> {
    /// Its places, each with the name of its field.
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

/// What to do where the object lacks the place of an operation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MissingPath {
    /// The patch fails, as the RFC has it.
    #[default]
    Fail,
    /// What is missing on the way to a place where something is added, or replaced, is made: a list where the next step is `-` or
    /// `0`, else a map. A null on the way is taken for missing. `remove`, `test` and the first place of `move` and `copy` still fail.
    Create,
    /// The operation is left out. `test` still fails.
    Skip,
}
