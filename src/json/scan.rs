//! Checks the grammar of a text and finds its containers, in one pass.

use std::borrow::Cow;
use std::collections::HashSet;

use super::cursor::{Cursor, Result, past_spaces, plain_string};
use super::text::Container;

/// Kubernetes objects have about one list or object in this number of bytes.
const USUAL_BYTES_A_CONTAINER: usize = 32;

/// Up to this number of names in an object are compared with each other. More are put in a set.
const FEW: usize = 24;

/// The closing bracket while no container is open. This byte never occurs in UTF-8.
const NONE: u8 = 0xff;

/// A pass over a text without recursion. The position is the rest of the text.
pub(super) struct Scan<'a> {
    text: &'a str,
    /// While a container is open, its `end` is its start and its `next` is the number of its parent.
    containers: Vec<Container>,
    /// The number of the innermost open container.
    innermost: u32,
    /// The number of open containers.
    level: u32,
    /// The names of the open objects, outermost first, each with its offset.
    names: Vec<(u32, Cow<'a, str>)>,
    /// The start of the names of each open object in `names`.
    objects: Vec<usize>,
    /// The offsets of duplicate names.
    repeated: Vec<u32>,
}

impl<'a> Scan<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self {
            text,
            containers: Vec::with_capacity(8 + text.len() / USUAL_BYTES_A_CONTAINER),
            innermost: u32::MAX,
            level: 0,
            names: Vec::with_capacity(64),
            objects: Vec::with_capacity(16),
            repeated: Vec::new(),
        }
    }

    /// Consumes the value that begins at `start`, and checks its grammar.
    ///
    /// Returns the end of the value, its containers, and the offsets of duplicate names in order.
    pub(super) fn whole(mut self, start: usize) -> Result<(usize, Vec<Container>, Vec<u32>)> {
        let rest = &self.text.as_bytes()[start..];
        let rest = match rest {
            [b'{' | b'[', ..] => self.container(rest)?,
            _ => self.scalar(rest)?,
        };
        let end = self.offset(rest);
        self.repeated.sort_unstable();
        Ok((end, self.containers, self.repeated))
    }

    /// The text after the list or object at the start of `rest`.
    fn container(&mut self, mut rest: &'a [u8]) -> Result<&'a [u8]> {
        let mut closing = NONE;
        'value: loop {
            if closing == b'}' {
                rest = self.name(rest)?;
            }
            // Expects a value.
            rest = loop {
                break match rest {
                    [b'"', string @ ..] => match plain_string(string) {
                        Some(behind) => behind,
                        None => self.scalar(rest)?,
                    },
                    [opening @ (b'{' | b'['), inside @ ..] => {
                        // In ASCII, a closing bracket is the opening bracket plus 2.
                        let close = opening + 2;
                        match past_space(inside) {
                            [byte, behind @ ..] if *byte == close => {
                                self.note_empty(behind);
                                if closing == NONE {
                                    return Ok(behind);
                                }
                                behind
                            }
                            inside => {
                                self.enter(rest, close);
                                closing = close;
                                rest = inside;
                                continue 'value;
                            }
                        }
                    }
                    [b' ' | b'\n' | b'\r' | b'\t', ..] => {
                        rest = past_spaces(rest);
                        continue;
                    }
                    _ => self.scalar(rest)?,
                };
            };
            // After a value: close containers, or continue with the next item or member.
            loop {
                match rest {
                    [b',', behind @ ..] => {
                        rest = behind;
                        break;
                    }
                    [byte, behind @ ..] if *byte == closing => {
                        rest = behind;
                        closing = self.leave(behind, closing);
                        if closing == NONE {
                            return Ok(behind);
                        }
                    }
                    [b' ' | b'\n' | b'\r' | b'\t', ..] => rest = past_spaces(rest),
                    _ => return self.fail(rest, unexpected(rest, closing)),
                }
            }
        }
    }

    /// The offset of `rest` in the text.
    #[inline]
    fn offset(&self, rest: &[u8]) -> usize {
        self.text.len() - rest.len()
    }

    #[cold]
    fn fail<T>(&self, rest: &[u8], problem: &'static str) -> Result<T> {
        Cursor::at(self.text, self.offset(rest)).fail(problem)
    }

    /// The text after the string, number, boolean or null at the start of `rest`.
    fn scalar(&self, rest: &'a [u8]) -> Result<&'a [u8]> {
        match rest {
            [b't', b'r', b'u', b'e', behind @ ..]
            | [b'n', b'u', b'l', b'l', behind @ ..]
            | [b'f', b'a', b'l', b's', b'e', behind @ ..] => Ok(behind),
            _ => {
                let mut cursor = Cursor::at(self.text, self.offset(rest));
                cursor.skip_scalar()?;
                Ok(&self.text.as_bytes()[cursor.offset()..])
            }
        }
    }

    /// Consumes `"name" :` with the white space before both, and records the name.
    #[inline]
    fn name(&mut self, rest: &'a [u8]) -> Result<&'a [u8]> {
        let string = match rest {
            [b'"', string @ ..] => string,
            _ => self.behind_space(rest, b'"', "expected the name of a member, in double quotes")?,
        };
        let behind = match plain_string(string) {
            Some(behind) => {
                let start = self.offset(string);
                let name = &self.text[start..self.offset(behind) - 1];
                self.names.push((number(start - 1), Cow::Borrowed(name)));
                behind
            }
            None => self.escaped_name(string)?,
        };
        match behind {
            [b':', value @ ..] => Ok(value),
            _ => self.behind_space(behind, b':', "expected `:`"),
        }
    }

    /// The text after the expected `byte` and the white space before it.
    #[cold]
    fn behind_space(&self, rest: &'a [u8], byte: u8, problem: &'static str) -> Result<&'a [u8]> {
        match past_spaces(rest) {
            [first, behind @ ..] if *first == byte => Ok(behind),
            other => self.fail(other, problem),
        }
    }

    /// Consumes and records a name with escapes.
    #[cold]
    fn escaped_name(&mut self, string: &'a [u8]) -> Result<&'a [u8]> {
        let quote = self.offset(string) - 1;
        let behind = self.scalar(&self.text.as_bytes()[quote..])?;
        // Unpaired surrogates are an error only when the name is read.
        if let Ok(name) = Cursor::at(self.text, quote).string() {
            self.names.push((number(quote), name));
        }
        Ok(behind)
    }

    /// Records an empty container.
    #[inline]
    fn note_empty(&mut self, behind: &[u8]) {
        let end = number(self.offset(behind));
        let next = number(self.containers.len() + 1);
        self.containers.push(Container { end, next, level: self.level + 1 });
    }

    /// Records the start of a container.
    #[inline]
    fn enter(&mut self, begin: &[u8], closing: u8) {
        self.level += 1;
        let own = number(self.containers.len());
        let begin = number(self.offset(begin));
        self.containers.push(Container { end: begin, next: self.innermost, level: self.level });
        self.innermost = own;
        if closing == b'}' {
            self.objects.push(self.names.len());
        }
    }

    /// Records the end of a container. Returns the closing bracket of its parent.
    #[inline]
    fn leave(&mut self, behind: &[u8], closing: u8) -> u8 {
        let end = number(self.offset(behind));
        let next = number(self.containers.len());
        let Some(own) = self.containers.get_mut(self.innermost as usize) else { return NONE };
        own.end = end;
        let parent = std::mem::replace(&mut own.next, next);
        if closing == b'}'
            && let Some(begin) = self.objects.pop()
        {
            self.find_repeated(begin);
            self.names.truncate(begin);
        }
        self.level -= 1;
        self.innermost = parent;
        let opening = self.containers.get(parent as usize).map(|parent| parent.end as usize);
        let opening = opening.and_then(|begin| self.text.as_bytes().get(begin));
        opening.map_or(NONE, |opening| opening + 2)
    }

    /// Finds the duplicate names of an object, whose names start at `begin`.
    fn find_repeated(&mut self, begin: usize) {
        let names = &self.names[begin..];
        if names.len() > FEW {
            let mut seen = HashSet::with_capacity(names.len());
            let repeated = names.iter().filter(|(_, name)| !seen.insert(name));
            self.repeated.extend(repeated.map(|(place, _)| *place));
            return;
        }
        for (position, (place, name)) in names.iter().enumerate() {
            if names[..position].iter().any(|(_, other)| other == name) {
                self.repeated.push(*place);
            }
        }
    }
}

#[cold]
fn unexpected(rest: &[u8], closing: u8) -> &'static str {
    match closing {
        _ if rest.is_empty() => "the text ends inside a list or an object",
        b']' => "expected `,` or `]`",
        _ => "expected `,` or `}`",
    }
}

#[inline]
fn past_space(rest: &[u8]) -> &[u8] {
    // JSON from an API server has almost no white space.
    match rest {
        [b' ' | b'\n' | b'\r' | b'\t', ..] => past_spaces(rest),
        _ => rest,
    }
}

/// The text is smaller than 4 GiB, so offsets and counts fit.
#[expect(
    clippy::cast_possible_truncation,
    reason = "no text has as many bytes as would not fit, and nothing is counted twice"
)]
fn number(count: usize) -> u32 {
    count as u32
}
