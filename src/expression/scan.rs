//! The lexical rules of CEL that are needed before parsing: string literals, and the end of an expression in
//! a template.

/// Whether `source`, the text between `${` and `}`, looks like a shell parameter: `HOME`, `HOME:-x`,
/// `HOME%/*`, `#HOME`, `1`.
pub(super) fn is_shell_parameter(source: &str) -> bool {
    let name = source.trim_start_matches(['#', '!']);
    let rest = name.trim_start_matches(|c: char| c.is_ascii_alphanumeric() || c == '_');
    let has_name = rest.len() < name.len();
    has_name && (rest.is_empty() || rest.starts_with([':', '-', '+', '=', '?', '%', '#', '/', '^', ',', '@']))
}

/// The position of the `}` that closes the expression at `start`, the first byte after `${`.
///
/// Braces in strings and comments are skipped. Braces of maps are matched in pairs.
pub(super) fn closing_brace(text: &str, start: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    let (mut at, mut open) = (start, 0_usize);
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'{' => open += 1,
            b'}' if open == 0 => return Some(at),
            b'}' => open -= 1,
            b'/' if bytes.get(at + 1) == Some(&b'/') => {
                at += bytes[at..].iter().position(|byte| *byte == b'\n')?;
            }
            b'`' => at += 1 + bytes[at + 1..].iter().position(|byte| *byte == b'`')?,
            b'"' | b'\'' => {
                at = end_of_string(bytes, at, is_raw(&bytes[start..at]))?;
                continue;
            }
            _ => {}
        }
        at += 1;
    }
    None
}

/// Whether a string that follows `before` is raw: it has a prefix, not the end of a longer word, that
/// contains an `r`.
pub(super) fn is_raw(before: &[u8]) -> bool {
    let word = before.iter().rev().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_').count();
    let prefix = &before[before.len() - word..];
    matches!(prefix, [b'r' | b'R'] | [b'b' | b'B', b'r' | b'R'])
}

/// The position after the string whose opening quote is at `at`.
pub(super) fn end_of_string(bytes: &[u8], at: usize, raw: bool) -> Option<usize> {
    let quote = bytes[at];
    let long = bytes[at..].starts_with(&[quote; 3]);
    let mut end = if long { at + 3 } else { at + 1 };
    loop {
        match *bytes.get(end)? {
            b'\\' if !raw => end += 2,
            byte if byte == quote && !long => return Some(end + 1),
            byte if byte == quote && bytes[end..].starts_with(&[quote; 3]) => return Some(end + 3),
            _ => end += 1,
        }
    }
}
