//! Whether a kind can have a list where one is declared to be merged.

use super::schema::{ITEMS, Keys, ListField, MapField, Schema, SchemaNode};
use crate::json::Pointer;

/// Why a declared list cannot be there, or is not merged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unreached {
    /// The kind has no map and no list of that name.
    NoField {
        /// Where the field would be.
        field: Pointer,
        /// The names of the maps and lists that are there.
        names: Vec<&'static str>,
    },
    /// What is there is no list of maps, or is in a map that is replaced.
    NoListOfMaps,
    /// A list on the way is replaced as a whole, so that nothing in its items is merged.
    Replaced(Pointer),
    /// What follows a list on the way is not the step that stands for its items.
    NoItems(Pointer),
}

impl Schema {
    /// Whether the list at `path`, which is declared, can be there and is merged: the keys of its items, of the declared ones, that have
    /// a default. What nothing is known about can be there.
    pub fn reach(&self, path: &Pointer) -> Result<Vec<Pointer>, Unreached> {
        let mut node = self.root();
        let mut tokens = path.tokens();
        loop {
            let at = || path.prefix(path.tokens().len() - tokens.len() + 1);
            match tokens {
                [] => return Err(Unreached::NoListOfMaps),
                [name] => {
                    return match node.list(name) {
                        Some(ListField::Keyed(keys, _)) if knows(node, name) => Ok(defaulted(keys)),
                        _ if knows(node, name) => Err(Unreached::NoListOfMaps),
                        _ => Err(no_field(node, at())),
                    };
                }
                [_, items] if items == ITEMS => return Err(Unreached::NoListOfMaps),
                [name, _, ..] if !knows(node, name) => return Err(no_field(node, at())),
                [name, items, rest @ ..] if items == ITEMS => match node.list(name) {
                    Some(ListField::Keyed(_, below)) => (node, tokens) = (below, rest),
                    Some(ListField::Replaced) => return Err(Unreached::Replaced(at())),
                    Some(ListField::Set) | None => return Err(Unreached::NoListOfMaps),
                },
                [name, rest @ ..] if !node.has_list(name) => match node.map(name) {
                    Some(MapField::Merged(below)) => (node, tokens) = (below, rest),
                    Some(MapField::Replaced) => return Err(Unreached::NoListOfMaps),
                    None => return Err(no_field(node, at())),
                },
                _ => return Err(Unreached::NoItems(at())),
            }
        }
    }
}

/// Whether there is or may be a map or a list of exactly that name.
fn knows(node: SchemaNode<'_>, name: &str) -> bool {
    node.is_open() || node.names().contains(&name)
}

fn no_field(node: SchemaNode<'_>, field: Pointer) -> Unreached {
    Unreached::NoField { field, names: node.names() }
}

fn defaulted(keys: Keys<'_>) -> Vec<Pointer> {
    match keys {
        Keys::Merge(..) => Vec::new(),
        Keys::Declared(paths, _) => {
            paths.iter().filter(|path| keys.default_of(path).is_some()).cloned().collect()
        }
    }
}
