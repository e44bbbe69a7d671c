//! The walk over all of a text that checks it.

use std::borrow::Cow;
use std::collections::HashSet;

use super::cursor::{Cursor, Result, mix, past_spaces, plain_string};
use super::text::Container;
use super::walk::ValueWalk;

/// Kubernetes objects have about a list or an object in so many bytes.
const USUAL_BYTES_A_CONTAINER: usize = 32;

/// Up to so many names of an object are compared with each other; more go through a set.
const FEW: usize = 24;

/// The closing bracket where nothing is open. It is in no text, because no UTF-8 has such a byte.
const NONE: u8 = 0xff;

/// A walk over all of a text. It uses no recursion.
///
/// The places that it goes to are pieces of the text that reach to its end: a look at what comes next is one comparison of
/// lengths then.
pub(super) struct Scan<'a> {
    text: &'a str,
    /// Of a container that is open `end` is still where it begins, and `next` the number of the container that it is in.
    containers: Vec<Container>,
    /// The number of the innermost container that is open.
    innermost: u32,
    /// How many containers are open.
    level: u32,
    /// The names of the open objects, outermost first.
    names: Vec<Names>,
    /// Where names are that their objects had before.
    repeated: Vec<u32>,
}

/// What is known of the names that an object has had so far.
///
/// Each name sets two bits of many. One that finds both set may be there twice, or just be unlucky; the names of such an object
/// are compared once all are there. So next to nothing is kept of the names of all the others.
#[derive(Clone, Copy)]
struct Names {
    bits: [u64; 4],
    /// Whether two may be the same.
    closely: bool,
}

impl Names {
    const NONE: Self = Self { bits: [0; 4], closely: false };

    #[inline]
    fn note(&mut self, digest: u64) {
        let [first, second, ..] = digest.to_be_bytes();
        let bits = &mut self.bits[usize::from(first / 64)];
        let own = 1 << (first % 64) | 1 << (second % 64);
        self.closely |= *bits & own == own;
        *bits |= own;
    }
}

impl<'a> Scan<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self {
            text,
            containers: Vec::with_capacity(8 + text.len() / USUAL_BYTES_A_CONTAINER),
            innermost: u32::MAX,
            level: 0,
            names: Vec::with_capacity(16),
            repeated: Vec::new(),
        }
    }

    /// Passes the value that begins at `start`, checking its grammar.
    ///
    /// Gives where it ends, the containers in it, and where names are that their objects had before, in order.
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
                        Some((behind, _)) => behind,
                        None => self.scalar(rest)?,
                    },
                    [opening @ (b'{' | b'['), inside @ ..] => {
                        // So it is for both kinds.
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
            Some((behind, digest)) => {
                if let Some(names) = self.names.last_mut() {
                    names.note(digest);
                }
                behind
            }
            None => self.unusual_name(string)?,
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

    /// Passes a name that holds escapes, and notes it.
    #[cold]
    fn unusual_name(&mut self, string: &'a [u8]) -> Result<&'a [u8]> {
        let quote = self.offset(string) - 1;
        let behind = self.scalar(&self.text.as_bytes()[quote..])?;
        let spelled = string.get(..string.len() - behind.len()).unwrap_or_default();
        if let Some(names) = self.names.last_mut() {
            match digest_of_escaped(spelled) {
                Some(digest) => names.note(digest),
                None => names.closely = true,
            }
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
            self.names.push(Names::NONE);
        }
    }

    /// Notes that a container ends. Gives the closing bracket of the one that it is in.
    #[inline]
    fn leave(&mut self, behind: &[u8], closing: u8) -> u8 {
        let end = number(self.offset(behind));
        let next = number(self.containers.len());
        let Some(own) = self.containers.get_mut(self.innermost as usize) else { return NONE };
        let begin = std::mem::replace(&mut own.end, end);
        let parent = std::mem::replace(&mut own.next, next);
        if closing == b'}' && self.names.pop().is_some_and(|names| names.closely) {
            self.compare_closely(begin);
        }
        self.level -= 1;
        self.innermost = parent;
        let opening = self.containers.get(parent as usize).map(|parent| parent.end as usize);
        let opening = opening.and_then(|begin| self.text.as_bytes().get(begin));
        opening.map_or(NONE, |opening| opening + 2)
    }

    /// Compares the names of the innermost object by what they mean, and notes those that it had before.
    #[cold]
    fn compare_closely(&mut self, begin: u32) {
        let cursor = Cursor::at(self.text, begin as usize);
        let mut walk = ValueWalk::new(cursor, &self.containers, self.innermost as usize + 1);
        let mut seen = Seen::default();
        walk.cursor.enter_object();
        let mut first = true;
        while let Ok(true) = walk.cursor.another_member(first) {
            first = false;
            let start = walk.cursor.offset();
            // Half a surrogate pair means nothing, and is refused where the name is read.
            if walk.cursor.string().is_ok_and(|name| !seen.insert(name)) {
                self.repeated.push(number(start));
            }
            if walk.cursor.colon().and_then(|()| walk.pass()).is_err() {
                return;
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

/// Names: looked through while few, kept in a set when many.
#[derive(Default)]
struct Seen<'a> {
    few: Vec<Cow<'a, str>>,
    many: HashSet<Cow<'a, str>>,
}

impl<'a> Seen<'a> {
    /// Whether `name` was none of them, which it is now.
    fn insert(&mut self, name: Cow<'a, str>) -> bool {
        if self.few.len() < FEW {
            let new = !self.few.contains(&name);
            if new {
                self.few.push(name);
            }
            return new;
        }
        if self.many.is_empty() {
            self.many.extend(self.few.iter().cloned());
        }
        self.many.insert(name)
    }
}

/// A digest of a name with escapes, if no other spelling means the same: if they are those of `"` and `\`, which have to be
/// escaped. Kubernetes has such names for the items of lists that somebody manages.
fn digest_of_escaped(spelled: &[u8]) -> Option<u64> {
    let (mut digest, mut behind_backslash) = (0, false);
    for byte in spelled {
        if behind_backslash && !matches!(byte, b'"' | b'\\') {
            return None;
        }
        behind_backslash = *byte == b'\\' && !behind_backslash;
        digest = mix(digest ^ u64::from(*byte));
    }
    Some(digest)
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
