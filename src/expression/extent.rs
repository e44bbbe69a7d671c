//! The size of a source, measured before it is parsed. The parser's time grows with the number of tokens, and
//! its stack with the number of tokens that follow each other within one item of a list, map or call.

use super::scan::{end_of_string, is_raw};

/// The size of a source. It is an upper bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Extent {
    /// Identifiers, numbers, operators and punctuation. A string literal counts as one.
    pub(super) words: usize,
    /// The largest number of tokens in one chain, which bounds the depth of the tree. A comma ends the chains
    /// in its brackets.
    pub(super) chain: usize,
}

pub(super) fn of(source: &str) -> Extent {
    // If the parser may find other strings and brackets than this module does, the whole source counts as one
    // chain.
    counted(source).unwrap_or_else(|| {
        let words = words(source);
        Extent { words, chain: words }
    })
}

/// An upper bound on the tokens of `source`, whatever strings and brackets it has.
fn words(source: &str) -> usize {
    let mut before = Class::Space;
    let mut count = 0;
    for character in source.chars() {
        let class = Class::of(character);
        let begins = class.begins(before);
        count += usize::from(begins);
        before = class.after(before, begins);
    }
    count
}

#[derive(PartialEq, Clone, Copy)]
enum Class {
    Space,
    Letter,
    Digit,
    Sign,
}

impl Class {
    fn of(character: char) -> Self {
        match character {
            c if c.is_ascii_whitespace() => Self::Space,
            '0'..='9' => Self::Digit,
            'a'..='z' | 'A'..='Z' | '_' => Self::Letter,
            _ => Self::Sign,
        }
    }

    /// Whether a character of this class starts a token after one of class `before`. `1in` is two tokens,
    /// `in1` is one.
    fn begins(self, before: Self) -> bool {
        let goes_on = self == before || (self == Self::Digit && before == Self::Letter);
        self == Self::Sign || (self != Self::Space && !goes_on)
    }

    /// The class of the token that the character belongs to.
    fn after(self, before: Self, begins: bool) -> Self {
        if self == Self::Digit && !begins { before } else { self }
    }
}

/// The extent of a source in which each string is well formed and each bracket has its pair; `None` for any
/// other.
fn counted(source: &str) -> Option<Extent> {
    let bytes = source.as_bytes();
    let mut extent = Extent { words: 0, chain: 0 };
    // The open brackets, each with the token count of the enclosing item.
    let mut open: Vec<(u8, usize)> = Vec::new();
    // The token count of the current item, and of all enclosing items.
    let (mut item, mut around) = (0, 0);
    let (mut at, mut before) = (0, Class::Space);
    while let Some(&byte) = bytes.get(at) {
        if bytes[at..].starts_with(b"//") {
            at += bytes[at..].iter().position(|byte| *byte == b'\n').unwrap_or(bytes.len() - at);
            before = Class::Space;
            continue;
        }
        let literal_end = match byte {
            b'"' | b'\'' => Some(end_of_literal(source, at)?),
            b'`' => Some(end_of_name(bytes, at)?),
            _ => None,
        };
        let class = if byte.is_ascii() { Class::of(byte.into()) } else { Class::Sign };
        let begins = class.begins(before);
        before = class.after(before, begins);
        extent.words += usize::from(begins);
        item += usize::from(begins);
        extent.chain = extent.chain.max(around + item);
        match byte {
            b'(' | b'[' | b'{' => {
                open.push((byte, item));
                around += item;
                item = 0;
            }
            b')' | b']' | b'}' => {
                let (bracket, outer) = open.pop()?;
                if !matches!((bracket, byte), (b'(', b')') | (b'[', b']') | (b'{', b'}')) {
                    return None;
                }
                around -= outer;
                item = outer + 1;
            }
            b',' if open.is_empty() => return None,
            b',' => item = 0,
            _ => {}
        }
        at = literal_end.unwrap_or(at + 1);
    }
    open.is_empty().then_some(extent)
}

/// The end of the string whose opening quote is at `start`; `None` if the parser may not read it as one
/// string.
fn end_of_literal(source: &str, start: usize) -> Option<usize> {
    let bytes = source.as_bytes();
    let word = bytes[..start].iter().rev().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_');
    let prefix = &source[start - word.count()..start];
    if !["", "r", "b", "br"].contains(&prefix.to_ascii_lowercase().as_str()) {
        return None;
    }
    let raw = is_raw(&bytes[..start]);
    let end = end_of_string(bytes, start, raw)?;
    let whole = source.get(start..end)?;
    let long = whole.len() >= 6 && whole.as_bytes().starts_with(&[bytes[start]; 3]);
    let has_line_end = whole.contains(['\n', '\r']);
    ((long || !has_line_end) && (raw || are_escapes(whole))).then_some(end)
}

/// Whether each backslash starts an escape of CEL.
fn are_escapes(text: &str) -> bool {
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        rest = &rest[at + 1..];
        let Some(first) = rest.chars().next() else { return false };
        let (digits, radix) = match first {
            'a' | 'b' | 'f' | 'n' | 'r' | 't' | 'v' | '"' | '\'' | '\\' | '?' | '`' => (0, 16),
            'x' | 'X' => (2, 16),
            'u' => (4, 16),
            'U' => (8, 16),
            '0'..='3' => (2, 8),
            _ => return false,
        };
        let following = rest.chars().skip(1).take(digits);
        if following.filter(|digit| digit.is_digit(radix)).count() != digits {
            return false;
        }
        rest = &rest[1 + digits..];
    }
    true
}

/// The end of the quoted identifier whose first backtick is at `start`.
fn end_of_name(bytes: &[u8], start: usize) -> Option<usize> {
    let inner = |byte: &u8| byte.is_ascii_alphanumeric() || b"_.-/ ".contains(byte);
    let length = bytes[start + 1..].iter().take_while(|byte| inner(byte)).count();
    let end = start + 1 + length;
    (length > 0 && bytes.get(end) == Some(&b'`')).then_some(end + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_string_is_one_word_and_a_comma_ends_a_chain() {
        for (source, words, chain) in [
            ("", 0, 0),
            ("1 + 1", 3, 3),
            ("'a.b.c.d'", 1, 1),
            (r"r'\d+'", 2, 2),
            (r"'a\'b\n\x41\u00e4\101'", 1, 1),
            ("'''a'\nb,c'''", 1, 1),
            ("[1, 2, 3]", 7, 3),
            ("{'a': 'b.c', 'd': 'e'}", 9, 5),
            ("f(a, [1 + 2, 3])", 12, 7),
            ("f(1) + f(2)", 9, 8),
            ("a.`b/c d`", 3, 3),
            ("1 // [ ' comment\n+ 1", 3, 3),
        ] {
            assert_eq!(of(source), Extent { words, chain }, "{source}");
        }
    }

    #[test]
    fn what_the_parser_may_read_otherwise_is_one_chain() {
        for source in [
            "'a\n,b'",
            r"['\q', 1]",
            r"['\x4', 1]",
            "['a', 'b]",
            "(1, 2]",
            "1, 2",
            "[1, 2",
            "1r'a'",
            "ab'c'",
            "a.`b,c`",
            "['''a', 1]",
        ] {
            assert_eq!(of(source).chain, words(source), "{source}");
        }
    }
}
