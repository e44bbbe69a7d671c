//! Errors of the parser.

use super::MAX_DEPTH;

/// Why a text is not valid JSON, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ParseError {
    /// The text breaks the grammar of RFC 8259.
    #[error("not JSON at byte {offset}: {problem}")]
    Syntax {
        /// The byte offset of the error.
        offset: usize,
        /// What is wrong there.
        problem: &'static str,
    },
    /// The bytes are not UTF-8, which RFC 8259 requires.
    #[error("not UTF-8 at byte {offset}")]
    Encoding {
        /// The byte offset of the first invalid byte.
        offset: usize,
    },
    /// An object has the same name twice. Parsers disagree about which of the values counts.
    #[error("the member {name:?} is there twice, the second time at byte {offset}")]
    Duplicate {
        /// The name, truncated if it is long.
        name: String,
        /// The byte offset of the second occurrence.
        offset: usize,
    },
    /// Containers are nested deeper than [`MAX_DEPTH`].
    #[error("nested {depth} levels deep, more than the {MAX_DEPTH} that are read")]
    TooDeep {
        /// The depth of the text.
        depth: usize,
    },
}

/// The error for a duplicate name.
pub(super) fn duplicate(name: &str, offset: usize) -> ParseError {
    ParseError::Duplicate { name: name.chars().take(64).collect(), offset }
}
