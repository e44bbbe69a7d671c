//! The reader: a place in a text, which knows the grammar of RFC 8259.

use std::borrow::Cow;

use super::error::ParseError;
use super::unescape::unescape;

pub(super) type Result<T> = std::result::Result<T, ParseError>;

/// Whether the whole of `text` is one JSON number.
pub(super) fn is_number(text: &str) -> bool {
    let mut cursor = Cursor::new(text);
    matches!(cursor.peek(), Some(b'-' | b'0'..=b'9')) && cursor.skip_number().is_ok() && cursor.at_end()
}

/// A place in a text.
pub(super) struct Cursor<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { text, at: 0 }
    }

    /// The place `at` bytes into the text, which is the boundary of a value.
    pub(super) fn at(text: &'a str, at: usize) -> Self {
        Self { text, at }
    }

    /// Goes on to the place `at` bytes into the text, which is the boundary of a value.
    pub(super) fn go(&mut self, at: usize) {
        self.at = at;
    }

    pub(super) fn offset(&self) -> usize {
        self.at
    }

    /// The text from `start` to here.
    pub(super) fn since(&self, start: usize) -> &'a str {
        &self.text[start..self.at]
    }

    pub(super) fn at_end(&self) -> bool {
        self.at >= self.text.len()
    }

    #[inline]
    pub(super) fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    /// Passes one byte, which is ASCII, and gives it.
    #[inline]
    pub(super) fn bump(&mut self) -> Option<u8> {
        let byte = self.peek()?;
        self.at += 1;
        Some(byte)
    }

    /// Passes the part of a string that needs no second look, and gives it.
    pub(super) fn plain(&mut self) -> &'a str {
        let start = self.at;
        self.at += plain_prefix(&self.text.as_bytes()[start..]);
        self.since(start)
    }

    #[inline]
    pub(super) fn skip_space(&mut self) {
        self.at = past_space(self.text.as_bytes(), self.at);
    }

    #[cold]
    pub(super) fn fail<T>(&self, problem: &'static str) -> Result<T> {
        Err(ParseError::Syntax { offset: self.at, problem })
    }

    #[inline]
    fn expect(&mut self, byte: u8, problem: &'static str) -> Result<()> {
        if self.peek() == Some(byte) {
            self.at += 1;
            Ok(())
        } else {
            self.fail(problem)
        }
    }

    /// Passes the string, number, boolean or null that begins here, checking its grammar.
    #[inline]
    pub(super) fn skip_scalar(&mut self) -> Result<()> {
        match self.peek() {
            Some(b'"') => self.skip_string().map(drop),
            Some(b'-' | b'0'..=b'9') => self.skip_number(),
            Some(b't') => self.literal("true"),
            Some(b'f') => self.literal("false"),
            Some(b'n') => self.literal("null"),
            Some(_) => self.fail("expected a value"),
            None => self.fail("the text ends where a value should be"),
        }
    }

    /// Reads `"name" :` and the space around it.
    pub(super) fn name(&mut self) -> Result<Cow<'a, str>> {
        if self.peek() != Some(b'"') {
            return self.fail("expected the name of a member, in double quotes");
        }
        let name = self.string()?;
        self.colon()?;
        Ok(name)
    }

    /// Passes `"name" :` and the space around it. Gives whether that is what the name means.
    #[inline]
    pub(super) fn name_is(&mut self, name: &str) -> Result<bool> {
        let Some(end) = self.end_of_plain_string() else { return Ok(self.name()? == name) };
        let same = self.text.as_bytes().get(self.at + 1..end - 1) == Some(name.as_bytes());
        self.at = end;
        self.colon()?;
        Ok(same)
    }

    /// Passes `:` and the space around it.
    #[inline]
    pub(super) fn colon(&mut self) -> Result<()> {
        self.skip_space();
        self.expect(b':', "expected `:`")?;
        self.skip_space();
        Ok(())
    }

    /// Between the members of an object: whether another one follows. Stands behind its `,`, or the `}`.
    pub(super) fn another_member(&mut self, first: bool) -> Result<bool> {
        self.another(first, b'}', "expected `,` or `}`")
    }

    /// Between the items of a list: whether another one follows. Stands behind its `,`, or the `]`.
    pub(super) fn another_item(&mut self, first: bool) -> Result<bool> {
        self.another(first, b']', "expected `,` or `]`")
    }

    fn another(&mut self, first: bool, close: u8, problem: &'static str) -> Result<bool> {
        self.skip_space();
        match self.peek() {
            Some(byte) if byte == close => {
                self.at += 1;
                Ok(false)
            }
            _ if first => Ok(true),
            Some(b',') => {
                self.at += 1;
                self.skip_space();
                Ok(true)
            }
            _ => self.fail(problem),
        }
    }

    /// Passes an opening `{`, if that is what is here.
    pub(super) fn enter_object(&mut self) -> bool {
        self.enter(b'{')
    }

    /// Passes an opening `[`, if that is what is here.
    pub(super) fn enter_list(&mut self) -> bool {
        self.enter(b'[')
    }

    fn enter(&mut self, bracket: u8) -> bool {
        let entered = self.peek() == Some(bracket);
        self.at += usize::from(entered);
        entered
    }

    pub(super) fn literal(&mut self, word: &'static str) -> Result<()> {
        if self.text.as_bytes()[self.at..].starts_with(word.as_bytes()) {
            self.at += word.len();
            Ok(())
        } else {
            self.fail("expected a value")
        }
    }

    #[inline]
    pub(super) fn skip_number(&mut self) -> Result<()> {
        if self.peek() == Some(b'-') {
            self.at += 1;
        }
        match self.peek() {
            Some(b'0') => self.at += 1,
            Some(b'1'..=b'9') => self.skip_digits(),
            _ => return self.fail("expected a digit"),
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            if !matches!(self.peek(), Some(b'0'..=b'9')) {
                return self.fail("expected a digit after the decimal point");
            }
            self.skip_digits();
        }
        if let Some(b'e' | b'E') = self.peek() {
            self.at += 1;
            if let Some(b'+' | b'-') = self.peek() {
                self.at += 1;
            }
            if !matches!(self.peek(), Some(b'0'..=b'9')) {
                return self.fail("expected a digit in the exponent");
            }
            self.skip_digits();
        }
        Ok(())
    }

    #[inline]
    fn skip_digits(&mut self) {
        while let Some(b'0'..=b'9') = self.peek() {
            self.at += 1;
        }
    }

    /// Passes a string. Gives whether it holds escapes, whose grammar is checked.
    #[inline]
    fn skip_string(&mut self) -> Result<bool> {
        if let Some(end) = self.end_of_plain_string() {
            self.at = end;
            return Ok(false);
        }
        self.at += 1;
        self.skip_rest_of_string()
    }

    /// Where the string that begins here ends, if it is an easy one.
    #[inline]
    fn end_of_plain_string(&self) -> Option<usize> {
        let bytes = self.text.as_bytes();
        let [b'"', string @ ..] = bytes.get(self.at..)? else { return None };
        plain_string(string).map(|behind| bytes.len() - behind.len())
    }

    /// Passes what is left of a string, with whatever is in it.
    #[cold]
    fn skip_rest_of_string(&mut self) -> Result<bool> {
        let mut escaped = false;
        loop {
            self.at += plain_prefix(&self.text.as_bytes()[self.at..]);
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(escaped);
                }
                Some(b'\\') => {
                    escaped = true;
                    self.at += 1;
                    match self.peek() {
                        Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => self.at += 1,
                        Some(b'u') => {
                            self.at += 1;
                            self.hex4()?;
                        }
                        Some(_) => return self.fail("no such escape in a string"),
                        None => return self.fail("the text ends inside a string"),
                    }
                }
                Some(_) => return self.fail("a control character in a string"),
                None => return self.fail("the text ends inside a string"),
            }
        }
    }

    pub(super) fn hex4(&mut self) -> Result<u32> {
        let mut code = 0;
        for _ in 0..4 {
            let Some(digit) = self.peek().and_then(|byte| char::from(byte).to_digit(16)) else {
                return self.fail("expected four hexadecimal digits after `\\u`");
            };
            code = code * 16 + digit;
            self.at += 1;
        }
        Ok(code)
    }

    /// Reads a string; without escapes it is a piece of the text.
    pub(super) fn string(&mut self) -> Result<Cow<'a, str>> {
        let start = self.at + 1;
        if self.skip_string()? {
            let end = self.at - 1;
            unescape(Cursor { text: &self.text[..end], at: start }).map(Cow::Owned)
        } else {
            Ok(Cow::Borrowed(&self.text[start..self.at - 1]))
        }
    }
}

/// The first place from `at` on that is no white space.
#[inline]
fn past_space(bytes: &[u8], at: usize) -> usize {
    // On the wire there is hardly any.
    match bytes.get(at) {
        Some(byte) if *byte <= b' ' => bytes.len() - past_spaces(&bytes[at..]).len(),
        _ => at,
    }
}

/// What follows the white space that is here.
#[cold]
pub(super) fn past_spaces(mut rest: &[u8]) -> &[u8] {
    const EIGHT: [u8; 8] = [b' '; 8];
    while let [b' ' | b'\n' | b'\r' | b'\t', behind @ ..] = rest {
        rest = behind;
        // Indented text is mostly runs of spaces.
        while let Some((&EIGHT, behind)) = rest.split_first_chunk() {
            rest = behind;
        }
    }
    rest
}

/// What follows the string whose opening quote has been passed; `None` if it has escapes or errors.
#[inline]
pub(super) fn plain_string(string: &[u8]) -> Option<&[u8]> {
    match &string[plain_prefix(string)..] {
        [b'"', behind @ ..] => Some(behind),
        _ => None,
    }
}

/// How many bytes at the front are neither `"`, `\` nor control characters.
#[inline]
fn plain_prefix(bytes: &[u8]) -> usize {
    let mut rest = bytes;
    while let Some((eight, behind)) = rest.split_first_chunk() {
        let special = special(u64::from_le_bytes(*eight));
        if special != 0 {
            return bytes.len() - rest.len() + special.trailing_zeros() as usize / 8;
        }
        rest = behind;
    }
    let special = |byte: &u8| *byte < 0x20 || *byte == b'"' || *byte == b'\\';
    bytes.len() - rest.len() + rest.iter().position(special).unwrap_or(rest.len())
}

/// Of eight bytes, the lowest first, sets the high bit of the first that is `"`, `\` or a control character; those above it may
/// be set or not. None is set if there is no such byte.
#[inline]
fn special(word: u64) -> u64 {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const HIGHS: u64 = ONES << 7;
    // With this bit turned, `"` is a space, and what was below a space still is: one comparison for both.
    let turned = word ^ (ONES * 2);
    let backslash = word ^ (ONES * u64::from(b'\\'));
    // In both a byte whose high bit comes out set was zero, or not above a space; bytes above the first such one may be marked
    // by its borrow.
    ((turned.wrapping_sub(ONES * 0x21) & !turned) | (backslash.wrapping_sub(ONES) & !backslash)) & HIGHS
}
