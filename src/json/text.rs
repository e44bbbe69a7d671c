//! Checked text, and where its containers end.

use super::cursor::{Cursor, Result};
use super::error::ParseError;
use super::raw::Raw;
use super::scan::Scan;

/// A text that is one JSON value, with a note of where each list and each object in it ends.
///
/// The notes are what makes [`Raw`] cheap: to look something up in it passes over whole containers in one step.
#[derive(Debug)]
pub struct Text<'a> {
    whole: &'a str,
    start: usize,
    end: usize,
    containers: Vec<Container>,
    /// Where names are that their objects had before, in order.
    repeated: Vec<u32>,
}

/// One list or object. They are kept in the order in which they open.
#[derive(Clone, Copy, Debug)]
pub(super) struct Container {
    /// Bytes before the place behind its closing bracket.
    pub(super) end: u32,
    /// The number of the first container that opens behind it.
    pub(super) next: u32,
    /// How many containers it is in, itself counted.
    pub(super) level: u32,
}

impl<'a> Text<'a> {
    /// Checks `bytes`: UTF-8, one JSON value, nothing but space around it. The text may be nested as deep as it is long.
    ///
    /// Names that are there twice are noted; [`Raw::check_names`] tells. Depth, and whether surrogates come in pairs, is
    /// looked at where something is read out of the text.
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

    /// How deep the containers in container `number` are nested, itself counted.
    pub(super) fn depth(&self, number: usize) -> usize {
        let Some(own) = self.containers.get(number) else { return 0 };
        let inside = self.containers.get(number..own.next as usize).unwrap_or_default();
        let deepest = inside.iter().map(|container| container.level).max().unwrap_or(own.level);
        (deepest - own.level) as usize + 1
    }

    /// The first place between these two where a name is that its object had before.
    pub(super) fn repeated(&self, start: usize, end: usize) -> Option<usize> {
        let first = self.repeated.partition_point(|place| (*place as usize) < start);
        self.repeated.get(first).map(|place| *place as usize).filter(|place| *place < end)
    }
}
