//! What can be wrong with a text, and where.

use std::fmt;

use crate::json::{MAX_DEPTH, ParseError};

use super::MAX_NODES;

/// A place in a text, as editors count: both from 1, columns in characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Position {
    /// The line.
    pub line: usize,
    /// The column.
    pub column: usize,
}

impl Position {
    /// The place of the byte at `offset` of `text`.
    pub(super) fn of_byte(text: &str, offset: usize) -> Self {
        let before = &text[..text.floor_char_boundary(offset)];
        let line = before.rfind('\n').map_or(before, |end| &before[end + 1..]);
        Self {
            line: before.bytes().filter(|&byte| byte == b'\n').count() + 1,
            column: line.chars().count() + 1,
        }
    }
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}", self.line, self.column)
    }
}

/// Why a text is not read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{position}: {problem}")]
pub struct YamlError {
    /// Where the problem shows.
    pub position: Position,
    /// What it is.
    pub problem: YamlErrorKind,
}

/// What is wrong at the place that a [`YamlError`] names.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum YamlErrorKind {
    /// The text breaks the grammar of YAML.
    #[error("{0}")]
    Syntax(String),
    /// The text was read as JSON, and something is wrong with that.
    #[error("{0}")]
    Json(ParseError),
    /// A tab in the indentation of a line.
    #[error("the line is indented with a tab; YAML wants spaces")]
    Tab,
    /// A character that YAML does not allow in a text.
    #[error("the character U+{:04X} is not allowed; in double quotes an escape stands for it", u32::from(*.0))]
    Character(char),
    /// A map holds one key twice.
    #[error("the key {name:?} is there twice, the first time on line {first}")]
    DuplicateKey {
        /// The key, shortened if it is long.
        name: String,
        /// The line of the first one.
        first: usize,
    },
    /// A key that is a list, a map or null.
    #[error("a key has to be a string, a number or a boolean, not {0}")]
    Key(crate::json::Kind),
    /// `.inf`, `.nan`, or a key beyond all bounds.
    #[error("JSON has no such number: {0}")]
    NotFinite(String),
    /// A tag that names no JSON type.
    #[error("the tag {0} is not known here")]
    UnknownTag(String),
    /// A tag that does not fit what follows it.
    #[error("what follows the tag {0} is something else")]
    WrongTag(String),
    /// `<<` with something that cannot be merged.
    #[error("`<<` wants a map or a list of maps")]
    Merge,
    /// An alias of an anchor that is not in this document, or not yet.
    #[error("the alias names an anchor that this document does not have before it")]
    UnknownAnchor,
    /// An alias inside of what it stands for.
    #[error("the alias stands inside of what it stands for")]
    EndlessAlias,
    /// Lists and maps are nested deeper than [`MAX_DEPTH`].
    #[error("nested more than the {MAX_DEPTH} levels deep that are read")]
    TooDeep,
    /// With its aliases expanded, the text has more than [`MAX_NODES`] nodes.
    #[error("more than the {MAX_NODES} nodes that are read, with all aliases expanded")]
    TooMany,
}
