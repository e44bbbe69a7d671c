//! What is wrong with a patch, on its own or with an object, and where.

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
    /// The operation of a JSON patch, counted from 0.
    pub operation: Option<usize>,
    /// What is wrong there.
    #[source]
    pub problem: PatchErrorKind,
}

/// What can be wrong. The texts name fields and directives of the patch, and nothing that an object holds.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PatchErrorKind {
    /// The patch, or what it is applied to, is no map.
    #[error("a strategic merge patch is a map for a map, found {0}")]
    NotAMap(Kind),
    /// `$patch` with another word.
    #[error("`$patch` is `replace` or `delete`")]
    UnknownWord,
    /// `$patch: delete` over everything.
    #[error("`$patch: delete` would leave nothing of the object")]
    DeletesAll,
    /// A key that is nearly a directive.
    #[error("`{found}` is no directive: is `{meant}` meant?")]
    NearlyDirective {
        /// The key.
        found: String,
        /// The directive that is most like it.
        meant: &'static str,
    },
    /// A directive that is about a list, without its name.
    #[error("`{0}` names the list that it is about, as in `{0}/containers`")]
    NoListName(&'static str),
    /// Something else than a list, where a directive or its list is one.
    #[error("`{directive}` needs a list, found {found}")]
    NotAList {
        /// The directive.
        directive: String,
        /// What is there.
        found: Kind,
    },
    /// Something in a directive that cannot be compared.
    #[error("`{directive}` cannot hold {found} here")]
    BadItem {
        /// The directive.
        directive: String,
        /// What is there.
        found: Kind,
    },
    /// A field beside `$retainKeys` that it does not list.
    #[error("`$retainKeys` lists all fields that the patch sets beside it, and `{0}` is not listed")]
    NotRetained(String),
    /// A field that is set and deleted from at once.
    #[error("`{0}` is set to what `$deleteFromPrimitiveList/{0}` takes out of it")]
    SetAndDeleted(String),
    /// A map or a list in a field that the kind does not have, or that cannot hold any.
    #[error("the kind has no {holds} `{name}` here that could be merged")]
    UnknownField {
        /// The name of the field.
        name: String,
        /// What the patch has there.
        holds: &'static str,
    },
    /// A list of several types, of lists or of nulls.
    #[error("the items of a list that is merged are all maps, all strings, all integers or the like")]
    MixedItems,
    /// Nothing to put in order.
    #[error("`$setElementOrder/{0}` has nothing to put in order")]
    NothingToOrder(String),
    /// A list of maps that nothing tells apart.
    #[error("the list has no merge key, so its items cannot be told apart: it can only be replaced")]
    NoKey,
    /// An item without the field that tells the items apart.
    #[error("the list is merged by `{key}`, and an item of the {of} has none")]
    KeyMissing {
        /// The merge key.
        key: String,
        /// `patch`, `object` or the name of a directive.
        of: &'static str,
    },
    /// A merge key that is not unique in the object or in the patch.
    #[error("several items have the `{key}` that the patch names, and it does not say which is meant: {}", Unclear(.lacks))]
    Ambiguous {
        /// The keys.
        key: String,
        /// The key that would tell them apart, and that the item of the patch lacks.
        lacks: Option<String>,
    },
    /// `$patch: delete` in a list that is replaced.
    #[error(
        "the list is replaced as a whole, so `$patch: delete` in it deletes no item: declare `mergeKeys` for it or use \
         a JSON patch, in a policy"
    )]
    DeletesOfWhole,
    /// Two new items with one merge key.
    #[error(
        "the patch adds two items with one `{key}`, of which the second would go into the first: use a JSON patch, \
         or replace the list with `$patch: replace`"
    )]
    AddedTwice {
        /// The merge key.
        key: String,
    },
    /// The patch has another order than it asks for.
    #[error("`$setElementOrder/{0}` does not list the items of the patch, or in another order")]
    OutOfOrder(String),
    /// An item that the order leaves out.
    #[error("`$setElementOrder/{0}` does not say where a new item goes")]
    NoPlace(String),

    /// The patch is no list.
    #[error("a JSON patch is a list of operations, found {0}")]
    NotOperations(Kind),
    /// An operation is no map.
    #[error("an operation of a JSON patch is a map, found {0}")]
    NotAnOperation(Kind),
    /// An operation that there is not.
    #[error("`op` is add, remove, replace, move, copy or test")]
    UnknownOperation,
    /// A field that the operation needs.
    #[error("the operation needs `{0}`")]
    FieldMissing(&'static str),
    /// A path that is no text.
    #[error("a path is a string, found {0}")]
    NotAPath(Kind),
    /// A path that is no pointer.
    #[error(transparent)]
    BadPointer(#[from] PointerError),
    /// A value would be inside itself.
    #[error("a value cannot be moved into itself")]
    IntoItself,
    /// Nothing is where the operation needs something.
    #[error("the object has nothing there")]
    Missing,
    /// The way leads through something that holds nothing.
    #[error("{0} has no fields and no items")]
    NoContainer(Kind),
    /// No index of the list.
    #[error("the list has no such index: it is a number, or `-` for the end")]
    NoIndex,
    /// `test` found something else.
    #[error("the object has another value there than `test` asks for")]
    TestFailed,
    /// The whole document would be gone.
    #[error("the whole object cannot be removed")]
    RemovesAll,
    /// Too many levels.
    #[error("the object would be nested deeper than {} levels", crate::json::MAX_DEPTH)]
    TooDeep,
    /// Too much is copied.
    #[error("the copies of the patch are larger than {0} bytes")]
    TooLarge(usize),
}

/// How an item is told from others with its key.
struct Unclear<'l>(&'l Option<String>);

impl fmt::Display for Unclear<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(key) => write!(f, "name `{key}` in the item of the patch too"),
            None => f.write_str("declare `mergeKeys` that tell them apart, or use a JSON patch"),
        }
    }
}

/// A place within a sentence.
struct At<'p>(&'p Pointer);

impl fmt::Display for At<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_root() { Ok(()) } else { write!(f, " at {}", self.0) }
    }
}

/// An operation within a sentence.
struct By<'o>(&'o Option<usize>);

impl fmt::Display for By<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.map_or(Ok(()), |operation| write!(f, " with operation {operation}"))
    }
}
