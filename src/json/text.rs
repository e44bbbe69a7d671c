//! Checked text, and where its containers end.

use std::collections::HashSet;

use super::MAX_DEPTH;
use super::cursor::{Cursor, Result, past_space, plain_string};
use super::error::ParseError;
use super::raw::Raw;

/// Containers nested deeper than this are checked like all others, but it is not noted where they end. Nobody goes
/// that deep: what is deeper than [`MAX_DEPTH`] is refused as a whole.
const NOTED_LEVELS: usize = 2 * MAX_DEPTH;

/// Kubernetes objects have about a list or an object in so many bytes.
const USUAL_BYTES_A_CONTAINER: usize = 32;

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
        let mut scan = Scan {
            text,
            open: Vec::with_capacity(16),
            containers: Vec::with_capacity(8 + text.len() / USUAL_BYTES_A_CONTAINER),
            deepest: 0,
            names: Vec::with_capacity(32),
            repeated: Vec::new(),
        };
        let mut cursor = scan.value(&cursor)?;
        let end = cursor.offset();
        cursor.skip_space();
        if !cursor.at_end() {
            return cursor.fail("something follows the value");
        }
        let Scan { containers, mut repeated, .. } = scan;
        repeated.sort_unstable();
        Ok(Self { whole: text, start, end, containers, repeated })
    }

    /// The value.
    pub fn root(&self) -> Raw<'_> {
        Raw::new(self, self.start, self.end)
    }
}

/// A walk over all of a text. It uses no recursion.
struct Scan<'a> {
    text: &'a str,
    /// The containers that are open, outermost first.
    open: Vec<Open>,
    containers: Vec<Container>,
    /// How deep the innermost noted container is, if it is deeper than the notes are.
    deepest: usize,
    /// The names that the open objects have had so far.
    names: Vec<Name>,
    repeated: Vec<u32>,
}

/// The name of a member.
#[derive(Clone, Copy)]
struct Name {
    /// Where its opening quote is.
    start: u32,
    /// Tells most names apart.
    digest: u32,
}

/// A container that is open.
#[derive(Clone, Copy)]
struct Open {
    bracket: u8,
    /// Its number; that of its innermost noted parent if it is not noted itself.
    number: u32,
    /// How many names there were when it opened.
    names: usize,
    /// Whether its names have to be compared by what they mean, once all are there.
    closely: bool,
}

/// Up to so many names of an object are compared with each other as they come; more go through a set.
const FEW: usize = 24;

impl<'a> Scan<'a> {
    /// Passes the value that begins at the cursor, checking its grammar.
    fn value(&mut self, cursor: &Cursor<'a>) -> Result<Cursor<'a>> {
        let bytes = self.text.as_bytes();
        let mut at = cursor.offset();
        let mut bracket = 0;
        loop {
            // A value begins here.
            match bytes.get(at) {
                Some(b'"') => at = self.string(at)?.0,
                Some(&opening @ (b'{' | b'[')) => {
                    bracket = opening;
                    self.enter(bracket);
                    at = past_space(bytes, at + 1);
                    if bytes.get(at) == Some(&closing(bracket)) {
                        at += 1;
                        bracket = self.leave(at);
                    } else {
                        if bracket == b'{' {
                            at = self.name(at)?;
                        }
                        continue;
                    }
                }
                _ => {
                    let mut cursor = Cursor::at(self.text, at);
                    cursor.skip_scalar()?;
                    at = cursor.offset();
                }
            }
            // A value ended here: close what it completes, or go on to its neighbour.
            loop {
                if bracket == 0 {
                    return Ok(Cursor::at(self.text, at));
                }
                at = past_space(bytes, at);
                match bytes.get(at) {
                    Some(b',') => {
                        at = past_space(bytes, at + 1);
                        if bracket == b'{' {
                            at = self.name(at)?;
                        }
                        break;
                    }
                    Some(&byte) if byte == closing(bracket) => {
                        at += 1;
                        bracket = self.leave(at);
                    }
                    None => return self.fail(at, "the text ends inside a list or an object"),
                    Some(_) if bracket == b'[' => return self.fail(at, "expected `,` or `]`"),
                    Some(_) => return self.fail(at, "expected `,` or `}`"),
                }
            }
        }
    }

    #[cold]
    fn fail<T>(&self, at: usize, problem: &'static str) -> Result<T> {
        Cursor::at(self.text, at).fail(problem)
    }

    /// Where the string that begins at `at` ends, and whether it holds escapes.
    #[inline]
    fn string(&self, at: usize) -> Result<(usize, bool)> {
        match plain_string(self.text.as_bytes(), at) {
            Some(end) => Ok((end, false)),
            None => Cursor::at(self.text, at).end_of_string(),
        }
    }

    /// Passes `"name" :` and the space around it, and notes the name if its object had it before.
    #[inline]
    fn name(&mut self, at: usize) -> Result<usize> {
        let bytes = self.text.as_bytes();
        if bytes.get(at) != Some(&b'"') {
            return self.fail(at, "expected the name of a member, in double quotes");
        }
        let (end, escaped) = self.string(at)?;
        self.note_name(at, end, escaped);
        let colon = past_space(bytes, end);
        if bytes.get(colon) != Some(&b':') {
            return self.fail(colon, "expected `:`");
        }
        Ok(past_space(bytes, colon + 1))
    }

    #[inline]
    fn note_name(&mut self, start: usize, end: usize, escaped: bool) {
        let bytes = self.text.as_bytes();
        let name = Name { start: number(start), digest: digest(bytes, start, end) };
        let Some(open) = self.open.last_mut() else { return };
        let before = self.names.get(open.names..).unwrap_or_default();
        // Names of one digest may still differ, which takes a closer look.
        open.closely |=
            escaped || before.len() >= FEW || before.iter().any(|other| other.digest == name.digest);
        self.names.push(name);
    }

    /// Compares the names from number `first` on by what they mean, and notes those that their object had before.
    #[cold]
    fn compare_closely(&mut self, first: usize) {
        let mut seen = HashSet::new();
        for name in &self.names[first..] {
            let text = Cursor::at(self.text, name.start as usize).string();
            // Half a surrogate pair means nothing, and is refused where the name is read.
            if text.is_ok_and(|text| !seen.insert(text)) {
                self.repeated.push(name.start);
            }
        }
    }

    fn enter(&mut self, bracket: u8) {
        let open = Open { bracket, number: 0, names: self.names.len(), closely: false };
        if self.open.len() < NOTED_LEVELS {
            self.open.push(Open { number: number(self.containers.len()), ..open });
            self.containers.push(Container { depth: 1, ..Container::default() });
        } else {
            let parent = self.open.last().map_or(0, |open| open.number);
            self.open.push(Open { number: parent, ..open });
            self.deepest = self.deepest.max(self.open.len());
        }
    }

    /// Notes that a container ends. Gives the bracket of the one that it is in; 0 for none.
    fn leave(&mut self, end: usize) -> u8 {
        let level = self.open.len();
        let Some(open) = self.open.pop() else { return 0 };
        if open.closely {
            self.compare_closely(open.names);
        }
        self.names.truncate(open.names);
        let parent = self.open.last().copied();
        let bracket = parent.map_or(0, |parent| parent.bracket);
        if level > NOTED_LEVELS {
            return bracket;
        }
        let next = number(self.containers.len());
        let own = &mut self.containers[open.number as usize];
        own.end = number(end);
        own.next = next;
        if level == NOTED_LEVELS && self.deepest > 0 {
            own.depth = number(self.deepest - NOTED_LEVELS + 1);
            self.deepest = 0;
        }
        let depth = own.depth + 1;
        if let Some(parent) = parent {
            let parent = &mut self.containers[parent.number as usize];
            parent.depth = parent.depth.max(depth);
        }
        bracket
    }
}

fn closing(bracket: u8) -> u8 {
    if bracket == b'{' { b'}' } else { b']' }
}

impl Text<'_> {
    pub(super) fn whole(&self) -> &str {
        self.whole
    }

    pub(super) fn containers(&self) -> &[Container] {
        &self.containers
    }

    /// The first place between these two where a name is that its object had before.
    pub(super) fn repeated(&self, start: usize, end: usize) -> Option<usize> {
        let first = self.repeated.partition_point(|place| (*place as usize) < start);
        self.repeated.get(first).map(|place| *place as usize).filter(|place| *place < end)
    }
}

/// A number that is the same for equal names, from quote to quote, and differs for most others: of length, beginning and end.
#[inline]
fn digest(bytes: &[u8], start: usize, end: usize) -> u32 {
    let byte = |at: usize| u32::from(bytes.get(at).copied().unwrap_or_default());
    let (first, middle, last) = (byte(start + 1), byte(start.midpoint(end)), byte(end.saturating_sub(2)));
    let length = number(end - start) & 0xff;
    length | first << 8 | last << 16 | middle << 24
}

/// A count of things in a text of less than 4 GiB.
#[expect(
    clippy::cast_possible_truncation,
    reason = "no text has as many bytes as would not fit, and nothing is counted twice"
)]
fn number(count: usize) -> u32 {
    count as u32
}
