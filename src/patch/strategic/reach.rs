//! Decides whether a kind can have a list at a place that is declared as merged.

use super::schema::{ITEMS, Keys, ListField, MapField, Schema, SchemaNode};
use crate::json::Pointer;

/// Why a declared list cannot exist or is not merged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unreached {
    /// The kind has no map or list with this name.
    NoField {
        /// Where the field would be.
        field: Pointer,
        /// The names of the maps and lists at this place.
        names: Vec<&'static str>,
    },
    /// The field is not a list of maps, or is in a map that is replaced.
    NoListOfMaps,
    /// A list on the path is replaced as a whole, so its items are not merged.
    Replaced(Pointer),
    /// The step after a list on the path is not `*`.
    NoItems(Pointer),
}

impl Schema {
    /// Fails if the declared list at `path` cannot exist or is not merged. Returns the declared keys that
    /// have a default. Where the schema is open, any list can exist.
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

/// Whether a map or a list with exactly this name exists or may exist.
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
