//! Errors of the reader, with their position.

use std::fmt;

use crate::json::{MAX_DEPTH, ParseError};

use super::MAX_NODES;

/// A position in a text. Lines and columns start at 1; columns count characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Position {
    /// The line.
    pub line: usize,
    /// The column.
    pub column: usize,
}

impl Position {
    /// The position of the byte at `offset` of `text`.
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

/// Why a text can't be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{position}: {problem}")]
pub struct YamlError {
    pub position: Position,
    pub problem: YamlErrorKind,
}

/// The kind of a [`YamlError`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum YamlErrorKind {
    /// The text is not valid YAML.
    #[error("{0}")]
    Syntax(String),
    /// The text was read as JSON and is not valid JSON.
    #[error("{0}")]
    Json(ParseError),
    /// A tab in the indentation of a line.
    #[error("the line is indented with a tab; YAML wants spaces")]
    Tab,
    /// A character that YAML does not allow.
    #[error("the character U+{:04X} is not allowed; in double quotes an escape stands for it", u32::from(*.0))]
    Character(char),
    /// A map has the same key twice.
    #[error("the key {name:?} is there twice, the first time on line {first}")]
    DuplicateKey {
        /// The key, truncated if it is long.
        name: String,
        first: usize,
    },
    /// A key is a list, a map or null.
    #[error("a key has to be a string, a number or a boolean, not {0}")]
    Key(crate::json::Kind),
    /// `.inf`, `.nan`, or a number that is too large for a key.
    #[error("JSON has no such number: {0}")]
    NotFinite(String),
    /// A tag that has no JSON type.
    #[error("the tag {0} is not known here")]
    UnknownTag(String),
    /// A tag that does not match its node.
    #[error("what follows the tag {0} is something else")]
    WrongTag(String),
    /// The value of `<<` can't be merged.
    #[error("`<<` wants a map or a list of maps")]
    Merge,
    /// An alias of an anchor that is not before it in this document.
    #[error("the alias names an anchor that this document does not have before it")]
    UnknownAnchor,
    /// An alias inside the node that it refers to.
    #[error("the alias stands inside of what it stands for")]
    EndlessAlias,
    /// Lists and maps are nested deeper than [`MAX_DEPTH`].
    #[error("nested more than the {MAX_DEPTH} levels deep that are read")]
    TooDeep,
    /// With its aliases expanded, the text has more than [`MAX_NODES`] nodes.
    #[error("more than the {MAX_NODES} nodes that are read, with all aliases expanded")]
    TooMany,
}
