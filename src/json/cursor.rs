//! A position in a text, with the grammar of RFC 8259.

use std::borrow::Cow;

use super::error::ParseError;
use super::unescape::unescape;

pub(super) type Result<T> = std::result::Result<T, ParseError>;

pub(super) fn is_number(text: &str) -> bool {
    let mut cursor = Cursor::new(text);
    matches!(cursor.peek(), Some(b'-' | b'0'..=b'9')) && cursor.skip_number().is_ok() && cursor.at_end()
}

/// A position in a text.
pub(super) struct Cursor<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { text, at: 0 }
    }

    /// The position `at` bytes into the text, which must be the boundary of a value.
    pub(super) fn at(text: &'a str, at: usize) -> Self {
        Self { text, at }
    }

    /// Moves to the position `at` bytes into the text, which must be the boundary of a value.
    pub(super) fn go(&mut self, at: usize) {
        self.at = at;
    }

    pub(super) fn offset(&self) -> usize {
        self.at
    }

    /// The text from `start` to the current position.
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

    /// Consumes one byte, which must be ASCII, and returns it.
    #[inline]
    pub(super) fn bump(&mut self) -> Option<u8> {
        let byte = self.peek()?;
        self.at += 1;
        Some(byte)
    }

    /// Consumes the plain part of a string, up to a quote, a backslash or a control character, and returns
    /// it.
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

    /// Consumes the string, number, boolean or null at the cursor, and checks its grammar.
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

    /// Consumes `"name" :` with the white space around it. Returns the name.
    pub(super) fn name(&mut self) -> Result<Cow<'a, str>> {
        if self.peek() != Some(b'"') {
            return self.fail("expected the name of a member, in double quotes");
        }
        let name = self.string()?;
        self.colon()?;
        Ok(name)
    }

    /// Consumes `"name" :` with the white space around it. Returns whether the name is equal to `name`.
    #[inline]
    pub(super) fn name_is(&mut self, name: &str) -> Result<bool> {
        let Some(end) = self.end_of_plain_string() else { return Ok(self.name()? == name) };
        let same = self.text.as_bytes().get(self.at + 1..end - 1) == Some(name.as_bytes());
        self.at = end;
        self.colon()?;
        Ok(same)
    }

    /// Consumes `:` with the white space around it.
    #[inline]
    pub(super) fn colon(&mut self) -> Result<()> {
        self.skip_space();
        self.expect(b':', "expected `:`")?;
        self.skip_space();
        Ok(())
    }

    /// Whether another member of the object follows. Consumes the `,` or `}`.
    pub(super) fn another_member(&mut self, first: bool) -> Result<bool> {
        self.another(first, b'}', "expected `,` or `}`")
    }

    /// Whether another item of the list follows. Consumes the `,` or `]`.
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

    /// Consumes a `{`, if it is next.
    pub(super) fn enter_object(&mut self) -> bool {
        self.enter(b'{')
    }

    /// Consumes a `[`, if it is next.
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

    /// Consumes a string. Returns whether it has escapes, whose grammar is checked.
    #[inline]
    fn skip_string(&mut self) -> Result<bool> {
        if let Some(end) = self.end_of_plain_string() {
            self.at = end;
            return Ok(false);
        }
        self.at += 1;
        self.skip_rest_of_string()
    }

    /// The end of the string at the cursor. `None` if it has escapes or errors.
    #[inline]
    fn end_of_plain_string(&self) -> Option<usize> {
        let bytes = self.text.as_bytes();
        let [b'"', string @ ..] = bytes.get(self.at..)? else { return None };
        plain_string(string).map(|behind| bytes.len() - behind.len())
    }

    /// Consumes the rest of a string, with or without escapes.
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

    /// Reads a string. It is borrowed if it has no escapes.
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

/// The first position from `at` on that is not white space.
#[inline]
fn past_space(bytes: &[u8], at: usize) -> usize {
    // JSON from an API server has almost no white space.
    match bytes.get(at) {
        Some(byte) if *byte <= b' ' => bytes.len() - past_spaces(&bytes[at..]).len(),
        _ => at,
    }
}

/// The text after the white space at its start.
#[cold]
pub(super) fn past_spaces(mut rest: &[u8]) -> &[u8] {
    const EIGHT: [u8; 8] = [b' '; 8];
    while let [b' ' | b'\n' | b'\r' | b'\t', behind @ ..] = rest {
        rest = behind;
        // Indented text has long runs of spaces.
        while let Some((&EIGHT, behind)) = rest.split_first_chunk() {
            rest = behind;
        }
    }
    rest
}

/// The text after the string whose opening quote has been consumed. `None` if the string has escapes or
/// errors.
#[inline]
pub(super) fn plain_string(string: &[u8]) -> Option<&[u8]> {
    match &string[plain_prefix(string)..] {
        [b'"', behind @ ..] => Some(behind),
        _ => None,
    }
}

/// The number of leading bytes that are not `"`, `\` or control characters.
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

/// Sets the high bit of the first byte, in little-endian order, that is `"`, `\` or a control character.
/// Higher bytes may have any high bit. The result is 0 if there is no such byte.
#[inline]
fn special(word: u64) -> u64 {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const HIGHS: u64 = ONES << 7;
    // Flipping this bit turns `"` into a space and keeps bytes below a space below it, so one comparison
    // finds both.
    let turned = word ^ (ONES * 2);
    let backslash = word ^ (ONES * u64::from(b'\\'));
    // In both terms, the lowest byte with its high bit set is a match. A borrow can set the high bits of the
    // bytes above it.
    ((turned.wrapping_sub(ONES * 0x21) & !turned) | (backslash.wrapping_sub(ONES) & !backslash)) & HIGHS
}
