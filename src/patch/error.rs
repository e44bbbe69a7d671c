//! What is wrong with a patch, or why it cannot be applied to an object.

use std::fmt;

use crate::json::{Kind, Pointer, PointerError};

/// Why a patch is refused before it is applied to anything, and where in the patch.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("failed to read the patch{}", At(.place))]
pub struct InvalidPatchError {
    /// The place in the patch.
    pub place: Pointer,
    /// What is wrong there.
    #[source]
    pub problem: PatchErrorKind,
}

/// Why a patch cannot be applied to an object, and where in the object.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("failed to patch the object{}{}", At(.place), By(.operation))]
pub struct PatchError {
    /// The place in the object.
    pub place: Pointer,
    /// The index of the operation of a JSON patch, from 0.
    pub operation: Option<usize>,
    /// What is wrong there.
    #[source]
    pub problem: PatchErrorKind,
}

/// What can be wrong. The messages name fields and directives of the patch, but no values of the object.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PatchErrorKind {
    /// The patch or the object is not a map.
    #[error("a strategic merge patch is a map for a map, found {0}")]
    NotAMap(Kind),
    /// `$patch` has an unknown value.
    #[error("`$patch` is `replace` or `delete`")]
    UnknownWord,
    /// `$patch: delete` at the root of the patch.
    #[error("`$patch: delete` would leave nothing of the object")]
    DeletesAll,
    /// A key that is probably a misspelled directive.
    #[error("`{found}` is no directive: is `{meant}` meant?")]
    NearlyDirective {
        /// The key.
        found: String,
        /// The most similar directive.
        meant: &'static str,
    },
    /// A directive about a list that does not name the list.
    #[error("`{0}` names the list that it is about, as in `{0}/containers`")]
    NoListName(&'static str),
    /// A directive or its list is not a list.
    #[error("`{directive}` needs a list, found {found}")]
    NotAList {
        /// The directive.
        directive: String,
        /// The type found.
        found: Kind,
    },
    /// A directive has an item that cannot be compared.
    #[error("`{directive}` cannot hold {found} here")]
    BadItem {
        /// The directive.
        directive: String,
        /// The type found.
        found: Kind,
    },
    /// The patch sets a field that `$retainKeys` does not list.
    #[error("`$retainKeys` lists all fields that the patch sets beside it, and `{0}` is not listed")]
    NotRetained(String),
    /// The patch sets a field and deletes values from it.
    #[error("`{0}` is set to what `$deleteFromPrimitiveList/{0}` takes out of it")]
    SetAndDeleted(String),
    /// A map or list in a field that does not exist or is a scalar.
    #[error("the kind has no {holds} `{name}` here that could be merged")]
    UnknownField {
        /// The name of the field.
        name: String,
        /// What the patch has in the field.
        holds: &'static str,
    },
    /// A list with items of several types, with lists or with nulls.
    #[error("the items of a list that is merged are all maps, all strings, all integers or the like")]
    MixedItems,
    /// A list to order that exists neither in the object nor in the patch.
    #[error("`$setElementOrder/{0}` has nothing to put in order")]
    NothingToOrder(String),
    /// A list of maps without a merge key.
    #[error("the list has no merge key, so its items cannot be told apart: it can only be replaced")]
    NoKey,
    /// An item without its merge key.
    #[error("the list is merged by `{key}`, and an item of the {of} has none")]
    KeyMissing {
        /// The merge key.
        key: String,
        /// Where the item is: `patch`, `object` or the name of a directive.
        of: &'static str,
    },
    /// A merge key that is not unique in the object or in the patch.
    #[error("several items have the `{key}` that the patch names, and it does not say which is meant: {}", Unclear(.lacks))]
    Ambiguous {
        /// The merge keys.
        key: String,
        /// The key that would identify the item, and that the item of the patch lacks.
        lacks: Option<String>,
    },
    /// `$patch: delete` in a list that is replaced.
    #[error(
        "the list is replaced as a whole, so `$patch: delete` in it deletes no item: declare `mergeKeys` for it or use \
         a JSON patch, in a policy"
    )]
    DeletesOfWhole,
    /// Two new items with the same merge key.
    #[error(
        "the patch adds two items with one `{key}`, of which the second would go into the first: use a JSON patch, \
         or replace the list with `$patch: replace`"
    )]
    AddedTwice {
        /// The merge key.
        key: String,
    },
    /// The items of the patch are not in the order of `$setElementOrder`.
    #[error("`$setElementOrder/{0}` does not list the items of the patch, or in another order")]
    OutOfOrder(String),
    /// `$setElementOrder` does not list an item.
    #[error("`$setElementOrder/{0}` does not say where a new item goes")]
    NoPlace(String),

    /// The patch is not a list.
    #[error("a JSON patch is a list of operations, found {0}")]
    NotOperations(Kind),
    /// An operation is not a map.
    #[error("an operation of a JSON patch is a map, found {0}")]
    NotAnOperation(Kind),
    /// The operation is unknown.
    #[error("`op` is add, remove, replace, move, copy or test")]
    UnknownOperation,
    /// The operation lacks a required field.
    #[error("the operation needs `{0}`")]
    FieldMissing(&'static str),
    /// A path is not a string.
    #[error("a path is a string, found {0}")]
    NotAPath(Kind),
    /// A path is not a valid pointer.
    #[error(transparent)]
    BadPointer(#[from] PointerError),
    /// A value would be moved into itself.
    #[error("a value cannot be moved into itself")]
    IntoItself,
    /// The place does not exist.
    #[error("the object has nothing there")]
    Missing,
    /// The path goes through a scalar.
    #[error("{0} has no fields and no items")]
    NoContainer(Kind),
    /// A token is not a valid index of the list.
    #[error("the list has no such index: it is a number, or `-` for the end")]
    NoIndex,
    /// The value that `test` found is different.
    #[error("the object has another value there than `test` asks for")]
    TestFailed,
    /// The whole document would be removed.
    #[error("the whole object cannot be removed")]
    RemovesAll,
    /// The result is nested too deep.
    #[error("the object would be nested deeper than {} levels", crate::json::MAX_DEPTH)]
    TooDeep,
    /// The copied values are too large. The field is the limit in bytes.
    #[error("the copies of the patch are larger than {0} bytes")]
    TooLarge(usize),
}

/// Displays how to identify an item. The field is the key that the item lacks.
struct Unclear<'l>(&'l Option<String>);

impl fmt::Display for Unclear<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(key) => write!(f, "name `{key}` in the item of the patch too"),
            None => f.write_str("declare `mergeKeys` that tell them apart, or use a JSON patch"),
        }
    }
}

/// Displays a place within a sentence.
struct At<'p>(&'p Pointer);

impl fmt::Display for At<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_root() { Ok(()) } else { write!(f, " at {}", self.0) }
    }
}

/// Displays an operation within a sentence.
struct By<'o>(&'o Option<usize>);

impl fmt::Display for By<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.map_or(Ok(()), |operation| write!(f, " with operation {operation}"))
    }
}
