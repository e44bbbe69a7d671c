//! Checked text with the positions of its containers.

use super::cursor::{Cursor, Result};
use super::error::ParseError;
use super::raw::Raw;
use super::scan::Scan;

/// A text with one JSON value, and the end of each list and object in it.
///
/// With these positions, a lookup in a [`Raw`] skips a whole container in one step.
#[derive(Debug)]
pub struct Text<'a> {
    whole: &'a str,
    start: usize,
    end: usize,
    containers: Vec<Container>,
    /// The offsets of duplicate names, in order.
    repeated: Vec<u32>,
}

/// A list or an object. Containers are in the order in which they open.
#[derive(Clone, Copy, Debug)]
pub(super) struct Container {
    /// The offset after its closing bracket.
    pub(super) end: u32,
    /// The number of the first container that opens after it.
    pub(super) next: u32,
    /// The nesting level. An outermost container has level 1.
    pub(super) level: u32,
}

impl<'a> Text<'a> {
    /// Checks that `bytes` is UTF-8 with one JSON value, surrounded only by white space. The depth is not
    /// limited.
    ///
    /// Duplicate names are recorded and reported by [`Raw::check_names`]. Depth and surrogate pairs are
    /// checked when a value is read from the text.
    pub fn parse(bytes: &'a [u8]) -> Result<Self> {
        let text = std::str::from_utf8(bytes)
            .map_err(|error| ParseError::Encoding { offset: error.valid_up_to() })?;
        let mut cursor = Cursor::new(text);
        if u32::try_from(text.len()).is_err() {
            return cursor.fail("longer than the 4 GiB that are read");
        }
        cursor.skip_space();
        let start = cursor.offset();
        let (end, containers, repeated) = Scan::new(text).whole(start)?;
        cursor.go(end);
        cursor.skip_space();
        if !cursor.at_end() {
            return cursor.fail("something follows the value");
        }
        Ok(Self { whole: text, start, end, containers, repeated })
    }

    /// The value.
    pub fn root(&self) -> Raw<'_> {
        Raw::new(self, self.start, self.end)
    }
}

impl Text<'_> {
    pub(super) fn whole(&self) -> &str {
        self.whole
    }

    pub(super) fn containers(&self) -> &[Container] {
        &self.containers
    }

    /// The depth of container `number`, including itself.
    pub(super) fn depth(&self, number: usize) -> usize {
        let Some(own) = self.containers.get(number) else { return 0 };
        let inside = self.containers.get(number..own.next as usize).unwrap_or_default();
        let deepest = inside.iter().map(|container| container.level).max().unwrap_or(own.level);
        (deepest - own.level) as usize + 1
    }

    /// The offset of the first duplicate name between `start` and `end`.
    pub(super) fn repeated(&self, start: usize, end: usize) -> Option<usize> {
        let first = self.repeated.partition_point(|place| (*place as usize) < start);
        self.repeated.get(first).map(|place| *place as usize).filter(|place| *place < end)
    }
}
