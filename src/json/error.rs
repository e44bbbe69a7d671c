//! Why a text is refused.

use super::MAX_DEPTH;

/// Why a text is not the JSON that it should be, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ParseError {
    /// The text breaks the grammar of RFC 8259.
    #[error("not JSON at byte {offset}: {problem}")]
    Syntax {
        /// Bytes before the place.
        offset: usize,
        /// What was found or missed there.
        problem: &'static str,
    },
    /// The bytes are not UTF-8, which RFC 8259 asks for.
    #[error("not UTF-8 at byte {offset}")]
    Encoding {
        /// Bytes before the place.
        offset: usize,
    },
    /// An object holds one name twice; readers disagree about which of the two counts.
    #[error("the member {name:?} is there twice, the second time at byte {offset}")]
    Duplicate {
        /// The name, shortened if it is long.
        name: String,
        /// Bytes before the second one.
        offset: usize,
    },
    /// Containers are nested deeper than [`MAX_DEPTH`].
    #[error("nested {depth} levels deep, more than the {MAX_DEPTH} that are read")]
    TooDeep {
        /// How deep the text is.
        depth: usize,
    },
}

/// The error for a name that is there twice.
pub(super) fn duplicate(name: &str, offset: usize) -> ParseError {
    ParseError::Duplicate { name: name.chars().take(64).collect(), offset }
}
