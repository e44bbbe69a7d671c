//! Checked text, and where its containers end.

use super::MAX_DEPTH;
use super::cursor::{Cursor, Result};
use super::error::ParseError;
use super::raw::Raw;

/// Containers nested deeper than this are checked like all others, but it is not noted where they end. Nobody goes
/// that deep: what is deeper than [`MAX_DEPTH`] is refused as a whole.
const NOTED_LEVELS: usize = 2 * MAX_DEPTH;

/// A text that is one JSON value, with a note of where each list and each object in it ends.
///
/// The notes are what makes [`Raw`] cheap: to look something up in it passes over whole containers in one step.
#[derive(Debug)]
pub struct Text<'a> {
    whole: &'a str,
    start: usize,
    end: usize,
    containers: Vec<Container>,
}

/// One list or object. They are kept in the order in which they open.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Container {
    /// Bytes before the place behind its closing bracket.
    pub(super) end: u32,
    /// The number of the first container that opens behind it.
    pub(super) next: u32,
    /// How deep it is: 1 if there is no container in it.
    pub(super) depth: u32,
}

impl<'a> Text<'a> {
    /// Checks `bytes`: UTF-8, one JSON value, nothing but space around it. The text may be nested as deep as it is long.
    ///
    /// Names that are there twice, surrogates and depth are looked at where something is read out of the text.
    pub fn parse(bytes: &'a [u8]) -> Result<Self> {
        let text = std::str::from_utf8(bytes)
            .map_err(|error| ParseError::Encoding { offset: error.valid_up_to() })?;
        let mut cursor = Cursor::new(text);
        if u32::try_from(text.len()).is_err() {
            return cursor.fail("longer than the 4 GiB that are read");
        }
        cursor.skip_space();
        let start = cursor.offset();
        let mut scan = Scan { open: Vec::new(), noted: Vec::new(), containers: Vec::new(), deepest: 0 };
        scan.value(&mut cursor)?;
        let end = cursor.offset();
        cursor.skip_space();
        if !cursor.at_end() {
            return cursor.fail("something follows the value");
        }
        Ok(Self { whole: text, start, end, containers: scan.containers })
    }

    /// The value.
    pub fn root(&self) -> Raw<'_> {
        Raw::new(self.whole, &self.containers, self.start, self.end)
    }
}

/// A walk over all of a text. It uses no recursion.
struct Scan {
    /// The opening brackets of the containers that are open.
    open: Vec<u8>,
    /// Those of them that are noted, by their numbers.
    noted: Vec<u32>,
    containers: Vec<Container>,
    /// How deep the innermost noted container is, if it is deeper than the notes are.
    deepest: usize,
}

impl Scan {
    /// Passes the value that begins at the cursor, checking its grammar.
    fn value(&mut self, cursor: &mut Cursor<'_>) -> Result<()> {
        loop {
            // A value begins here.
            match cursor.peek() {
                Some(bracket @ (b'{' | b'[')) => {
                    cursor.bump();
                    self.enter(bracket);
                    cursor.skip_space();
                    if cursor.peek() == Some(closing(bracket)) {
                        cursor.bump();
                        self.leave(cursor);
                    } else {
                        if bracket == b'{' {
                            cursor.skip_name()?;
                        }
                        continue;
                    }
                }
                _ => cursor.skip_scalar()?,
            }
            // A value ended here: close what it completes, or go on to its neighbour.
            loop {
                let Some(&bracket) = self.open.last() else {
                    return Ok(());
                };
                cursor.skip_space();
                match cursor.peek() {
                    Some(b',') => {
                        cursor.bump();
                        cursor.skip_space();
                        if bracket == b'{' {
                            cursor.skip_name()?;
                        }
                        break;
                    }
                    Some(byte) if byte == closing(bracket) => {
                        cursor.bump();
                        self.leave(cursor);
                    }
                    None => return cursor.fail("the text ends inside a list or an object"),
                    Some(_) if bracket == b'[' => return cursor.fail("expected `,` or `]`"),
                    Some(_) => return cursor.fail("expected `,` or `}`"),
                }
            }
        }
    }

    fn enter(&mut self, bracket: u8) {
        self.open.push(bracket);
        if self.open.len() <= NOTED_LEVELS {
            self.noted.push(number(self.containers.len()));
            self.containers.push(Container { depth: 1, ..Container::default() });
        } else {
            self.deepest = self.deepest.max(self.open.len());
        }
    }

    fn leave(&mut self, cursor: &Cursor<'_>) {
        let level = self.open.len();
        self.open.pop();
        if level > NOTED_LEVELS {
            return;
        }
        let Some(own) = self.noted.pop() else { return };
        let next = number(self.containers.len());
        let own = &mut self.containers[own as usize];
        own.end = number(cursor.offset());
        own.next = next;
        if level == NOTED_LEVELS && self.deepest > 0 {
            own.depth = number(self.deepest - NOTED_LEVELS + 1);
            self.deepest = 0;
        }
        let depth = own.depth + 1;
        if let Some(&parent) = self.noted.last() {
            let parent = &mut self.containers[parent as usize];
            parent.depth = parent.depth.max(depth);
        }
    }
}

fn closing(bracket: u8) -> u8 {
    if bracket == b'{' { b'}' } else { b']' }
}

/// A count of things in a text of less than 4 GiB.
#[expect(
    clippy::cast_possible_truncation,
    reason = "no text has as many bytes as would not fit, and nothing is counted twice"
)]
fn number(count: usize) -> u32 {
    count as u32
}
