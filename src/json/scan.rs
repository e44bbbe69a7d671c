//! Checks the grammar of a whole text and finds its containers, in one pass.

use std::borrow::Cow;
use std::collections::HashSet;

use super::cursor::{Cursor, Result, past_spaces, plain_string};
use super::text::Container;

/// Kubernetes objects have about a list or an object in so many bytes.
const USUAL_BYTES_A_CONTAINER: usize = 32;

/// Up to so many names of an object are compared with each other; more are put in a set.
const FEW: usize = 24;

/// In place of a closing bracket while nothing is open. UTF-8 has no such byte.
const NONE: u8 = 0xff;

/// A pass over a text, without recursion. Its position is the rest of the text.
pub(super) struct Scan<'a> {
    text: &'a str,
    /// While a container is open, its `end` is where it begins and its `next` is the number of its parent.
    containers: Vec<Container>,
    /// The number of the innermost container that is open.
    innermost: u32,
    /// How many containers are open.
    level: u32,
    /// The names of the open objects, outermost first, each with its place.
    names: Vec<(u32, Cow<'a, str>)>,
    /// Where the names of each open object begin in `names`.
    objects: Vec<usize>,
    /// The places of names that their objects had before.
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

    /// Passes the value that begins at `start`, checking its grammar.
    ///
    /// Gives where it ends, the containers in it, and the places of names that their objects had before, in order.
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

    /// What follows the list or object that begins here.
    fn container(&mut self, mut rest: &'a [u8]) -> Result<&'a [u8]> {
        let mut closing = NONE;
        'value: loop {
            if closing == b'}' {
                rest = self.name(rest)?;
            }
            // A value begins here.
            rest = loop {
                break match rest {
                    [b'"', string @ ..] => match plain_string(string) {
                        Some(behind) => behind,
                        None => self.scalar(rest)?,
                    },
                    [opening @ (b'{' | b'['), inside @ ..] => {
                        // In ASCII, a closing bracket is two behind its opening bracket.
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
            // A value ended here: close what it completes, or go on to its neighbour.
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

    /// Where this rest of the text begins.
    #[inline]
    fn offset(&self, rest: &[u8]) -> usize {
        self.text.len() - rest.len()
    }

    #[cold]
    fn fail<T>(&self, rest: &[u8], problem: &'static str) -> Result<T> {
        Cursor::at(self.text, self.offset(rest)).fail(problem)
    }

    /// What follows the string, number, boolean or null that begins here.
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

    /// Passes `"name" :` and the space before both, and notes the name.
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

    /// What follows the byte that has to be here, behind some white space.
    #[cold]
    fn behind_space(&self, rest: &'a [u8], byte: u8, problem: &'static str) -> Result<&'a [u8]> {
        match past_spaces(rest) {
            [first, behind @ ..] if *first == byte => Ok(behind),
            other => self.fail(other, problem),
        }
    }

    /// Passes a name that has escapes, and notes it.
    #[cold]
    fn escaped_name(&mut self, string: &'a [u8]) -> Result<&'a [u8]> {
        let quote = self.offset(string) - 1;
        let behind = self.scalar(&self.text.as_bytes()[quote..])?;
        // Half a surrogate pair is refused where the name is read.
        if let Ok(name) = Cursor::at(self.text, quote).string() {
            self.names.push((number(quote), name));
        }
        Ok(behind)
    }

    /// Notes a container that ended as it began.
    #[inline]
    fn note_empty(&mut self, behind: &[u8]) {
        let end = number(self.offset(behind));
        let next = number(self.containers.len() + 1);
        self.containers.push(Container { end, next, level: self.level + 1 });
    }

    /// Notes that a container begins.
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

    /// Notes that a container ends. Gives the closing bracket of its parent.
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

    /// Finds the names of an object, which begin at `begin`, that it had before.
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
    // On the wire there is hardly any.
    match rest {
        [b' ' | b'\n' | b'\r' | b'\t', ..] => past_spaces(rest),
        _ => rest,
    }
}

/// A count of things in a text of less than 4 GiB.
#[expect(
    clippy::cast_possible_truncation,
    reason = "no text has as many bytes as would not fit, and nothing is counted twice"
)]
fn number(count: usize) -> u32 {
    count as u32
}
