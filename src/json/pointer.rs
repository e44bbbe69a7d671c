//! JSON pointers (RFC 6901).

use std::borrow::Cow;
use std::fmt;

use super::write_string;

/// A JSON pointer: the names and indexes that lead from the root of a document to a value.
///
/// It is displayed and parsed in the escaped form of RFC 6901: `/metadata/annotations/reviser.io~1revised`.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Pointer(Vec<String>);

/// Why a text is not a JSON pointer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PointerError {
    /// A non-empty pointer does not start with `/`.
    #[error("a JSON pointer begins with `/`")]
    NoLeadingSlash,
    /// `~` is not part of `~0` (for `~`) or `~1` (for `/`).
    #[error("in a JSON pointer `~` is written `~0`, and `/` inside a name `~1`")]
    BadEscape,
}

impl Pointer {
    /// The pointer to the whole document.
    pub const ROOT: Self = Self(Vec::new());

    /// Parses the escaped form. The empty text is the root.
    pub fn parse(text: &str) -> Result<Self, PointerError> {
        if text.is_empty() {
            return Ok(Self::ROOT);
        }
        let Some(rest) = text.strip_prefix('/') else {
            return Err(PointerError::NoLeadingSlash);
        };
        rest.split('/').map(unescape).collect::<Result<_, _>>().map(Self)
    }

    /// Creates a pointer from unescaped tokens.
    pub fn of<T: Into<String>>(tokens: impl IntoIterator<Item = T>) -> Self {
        Self(tokens.into_iter().map(Into::into).collect())
    }

    /// Appends the escaped form as a JSON string to `out`.
    pub fn write_to(&self, out: &mut String) {
        // Almost all tokens are plain names, which need neither kind of escape.
        let is_plain = |byte: u8| byte >= b' ' && !matches!(byte, b'"' | b'\\' | b'~' | b'/');
        if !self.0.iter().all(|token| token.bytes().all(is_plain)) {
            return write_string(&self.to_string(), out);
        }
        out.push('"');
        for token in &self.0 {
            out.push('/');
            out.push_str(token);
        }
        out.push('"');
    }

    /// The tokens, unescaped.
    pub fn tokens(&self) -> &[String] {
        &self.0
    }

    /// Whether this points to the whole document.
    pub fn is_root(&self) -> bool {
        self.0.is_empty()
    }

    /// Appends a token.
    pub fn push(&mut self, token: impl Into<String>) {
        self.0.push(token.into());
    }

    /// This pointer with another token.
    #[must_use]
    pub fn join(&self, token: impl Into<String>) -> Self {
        let mut joined = self.clone();
        joined.push(token);
        joined
    }

    /// This pointer followed by `tail`.
    #[must_use]
    pub fn concat(&self, tail: &Self) -> Self {
        Self(self.0.iter().chain(&tail.0).cloned().collect())
    }

    /// This pointer without its first `steps` tokens.
    #[must_use]
    pub fn suffix(&self, steps: usize) -> Self {
        Self(self.0[steps.min(self.0.len())..].to_vec())
    }

    /// The pointer to the parent. The parent of the root is the root.
    #[must_use]
    pub fn parent(&self) -> Self {
        self.prefix(self.0.len().saturating_sub(1))
    }

    /// The first `steps` tokens of this pointer.
    #[must_use]
    pub fn prefix(&self, steps: usize) -> Self {
        Self(self.0[..steps.min(self.0.len())].to_vec())
    }

    /// Whether `other` is this place or below it.
    pub fn contains(&self, other: &Self) -> bool {
        other.0.starts_with(&self.0)
    }
}

impl fmt::Display for Pointer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for token in &self.0 {
            f.write_str("/")?;
            f.write_str(&escape(token))?;
        }
        Ok(())
    }
}

/// A token in the escaped form.
pub(super) fn escape(token: &str) -> Cow<'_, str> {
    if token.contains(['~', '/']) {
        Cow::Owned(token.replace('~', "~0").replace('/', "~1"))
    } else {
        Cow::Borrowed(token)
    }
}

fn unescape(token: &str) -> Result<String, PointerError> {
    if !token.contains('~') {
        return Ok(token.to_owned());
    }
    let mut out = String::with_capacity(token.len());
    let mut chars = token.chars();
    while let Some(c) = chars.next() {
        out.push(match c {
            '~' => match chars.next() {
                Some('0') => '~',
                Some('1') => '/',
                _ => return Err(PointerError::BadEscape),
            },
            other => other,
        });
    }
    Ok(out)
}
