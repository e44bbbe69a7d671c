//! Unescapes strings.

use super::cursor::{Cursor, Result};

/// Unescapes the rest of `cursor`: a string without its quotes, whose escapes have been checked.
pub(super) fn unescape(mut cursor: Cursor<'_>) -> Result<String> {
    let mut out = String::new();
    loop {
        out.push_str(cursor.plain());
        match cursor.bump() {
            None => return Ok(out),
            // In checked text, only a backslash can follow.
            Some(_backslash) => out.push(escape(&mut cursor)?),
        }
    }
}

/// The character of the escape whose backslash has been consumed.
fn escape(cursor: &mut Cursor<'_>) -> Result<char> {
    Ok(match cursor.bump() {
        Some(b'b') => '\u{8}',
        Some(b'f') => '\u{c}',
        Some(b'n') => '\n',
        Some(b'r') => '\r',
        Some(b't') => '\t',
        Some(b'u') => unicode(cursor)?,
        // `"`, `\` and `/` stand for themselves. The check accepts no other characters.
        Some(plain) => char::from(plain),
        None => return cursor.fail("the text ends inside a string"),
    })
}

fn unicode(cursor: &mut Cursor<'_>) -> Result<char> {
    const PROBLEM: &str = "half a surrogate pair in a string";
    let first = cursor.hex4()?;
    if let Some(character) = char::from_u32(first) {
        return Ok(character);
    }
    // The first half of a pair is 0xd800 to 0xdbff, the second 0xdc00 to 0xdfff.
    if !(0xd800..0xdc00).contains(&first) || (cursor.bump(), cursor.bump()) != (Some(b'\\'), Some(b'u')) {
        return cursor.fail(PROBLEM);
    }
    let second = cursor.hex4()?;
    if !(0xdc00..0xe000).contains(&second) {
        return cursor.fail(PROBLEM);
    }
    let code = 0x1_0000 + ((first - 0xd800) << 10) + (second - 0xdc00);
    char::from_u32(code).map_or_else(|| cursor.fail(PROBLEM), Ok)
}
