//! Walks over the values in a container.

use super::cursor::{Cursor, Result};
use super::text::Container;

/// A walk over the values in a container. It skips nested containers.
pub(super) struct ValueWalk<'a> {
    pub(super) cursor: Cursor<'a>,
    containers: &'a [Container],
    /// The number of the next container that opens.
    number: usize,
}

impl<'a> ValueWalk<'a> {
    /// A walk from `cursor` on. `number` is the number of the first container that opens there or later.
    pub(super) fn new(cursor: Cursor<'a>, containers: &'a [Container], number: usize) -> Self {
        Self { cursor, containers, number }
    }

    /// The number of the next container that opens.
    pub(super) fn number(&self) -> usize {
        self.number
    }

    /// Consumes the value at the cursor.
    #[inline]
    pub(super) fn pass(&mut self) -> Result<()> {
        match (self.cursor.peek(), self.containers.get(self.number)) {
            (Some(b'{' | b'['), Some(container)) => {
                self.cursor.go(container.end as usize);
                self.number = container.next as usize;
                Ok(())
            }
            _ => self.cursor.skip_scalar(),
        }
    }
}
