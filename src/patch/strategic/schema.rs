//! Defines how the fields of a kind are merged: by the built-in table, and by the keys that a rule declares.

use std::collections::BTreeMap;

use super::table::{KINDS, OBJECT_META, POD_TEMPLATE, TYPES};
use crate::json::Pointer;

/// A field that holds maps or lists: its name in JSON, and how it is merged.
pub(super) type Field = (&'static str, Holds);

/// A key of server-side apply other than the merge key: its name and its default.
pub(super) type OtherKey = (&'static str, Option<&'static str>);

/// The type of a field and how it is merged.
#[derive(Clone, Copy, Debug)]
pub(super) enum Holds {
    /// A map whose fields are in this row of the table.
    Map(usize),
    /// A map without known fields. Scalars in it are merged. Maps and lists in it cannot be.
    Free,
    /// A map that is replaced.
    Whole,
    /// A list of scalars that is replaced.
    Atomic,
    /// A list of maps that is replaced. The fields of its items are in this row of the table.
    AtomicMaps(usize),
    /// A list of scalars that is merged.
    Set,
    /// A list of maps that is merged by this key. The fields of its items are in this row of the table.
    Keyed(&'static str, &'static [OtherKey], usize),
}

/// How the objects of one kind are merged.
#[derive(Clone, Debug)]
pub struct Schema {
    known: Known,
    declared: Level,
}

/// A list that a rule declares as merged, and the keys of its items.
#[derive(Clone, Copy, Debug)]
pub struct Declared<'k> {
    /// The list. A step `*` stands for every item of a list on the path.
    pub path: &'k Pointer,
    /// The places of the keys in an item.
    pub keys: &'k [Pointer],
}

/// How a list is merged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ListMerge {
    /// The list is replaced.
    Replaced,
    /// The items are scalars, and the items of the patch are added.
    Set,
    /// The items are maps. They are identified by `keys`, and also by `more` if a patch has all of these.
    Keyed {
        /// The places of the keys in an item.
        keys: Vec<Pointer>,
        /// The other keys of server-side apply.
        more: Vec<Pointer>,
    },
}

/// The built-in kinds of an `apiVersion`.
pub fn kinds(api_version: &str) -> impl Iterator<Item = &'static str> {
    KINDS.iter().filter(move |(version, ..)| *version == api_version).map(|(_, kind, _)| *kind)
}

/// The declarations for one place of a kind and for the places below it.
#[derive(Clone, Debug, Default)]
pub(super) struct Level {
    /// The map has the fields in this row of the table.
    fields: Option<usize>,
    /// The keys of the items, if this is a declared list.
    keys: Vec<Pointer>,
    below: BTreeMap<String, Self>,
}

/// The step of a declared path that stands for each item of a list.
pub(super) const ITEMS: &str = "*";

impl Schema {
    /// The schema of a built-in kind. `None` if the kind is not built in. `api_version` is `apps/v1` or `v1`,
    /// for example.
    pub fn built_in(api_version: &str, kind: &str) -> Option<Self> {
        let position =
            KINDS.binary_search_by(|(version, name, _)| (*version, *name).cmp(&(api_version, kind))).ok()?;
        Some(Self { known: Known::Type(KINDS[position].2), declared: Level::default() })
    }

    /// The schema of a custom kind.
    ///
    /// `metadata` is merged as in all kinds, and the places in `pod_templates` as pod templates. The root is
    /// such a place for a kind that has the `metadata` and `spec` of a pod. All other maps are merged, and
    /// all other lists are replaced.
    pub fn custom(pod_templates: &[Pointer]) -> Self {
        let mut declared = Level::default();
        declared.reach(&Pointer::of(["metadata"])).fields = Some(OBJECT_META);
        for place in pod_templates {
            declared.reach(place).fields = Some(POD_TEMPLATE);
        }
        let known = declared.fields.map_or(Known::Open, Known::Like);
        Self { known, declared }
    }

    /// The schema of a built-in or custom kind.
    pub fn of(api_version: &str, kind: &str, pod_templates: &[Pointer]) -> Self {
        Self::built_in(api_version, kind).unwrap_or_else(|| Self::custom(pod_templates))
    }

    /// The same schema with lists that are merged by declared keys. These override the merge key of the kind.
    ///
    /// All other fields keep their schema. [`reach`](Self::reach) reports a declared list that cannot exist.
    #[must_use]
    pub fn declaring<'k>(mut self, lists: impl IntoIterator<Item = Declared<'k>>) -> Self {
        for list in lists {
            self.declared.reach(list.path).keys = list.keys.to_vec();
        }
        self
    }

    /// How the list at `place` is merged. A step of `None` stands for an item of a list.
    pub fn list_at(&self, place: &[Option<&str>]) -> ListMerge {
        match self.field_at(place) {
            Some(ListField::Keyed(keys, _)) => keys.to_merge(),
            Some(ListField::Set) => ListMerge::Set,
            Some(ListField::Replaced) | None => ListMerge::Replaced,
        }
    }

    /// Whether a list exists or may exist at `place`, and is replaced.
    pub fn replaces(&self, place: &[Option<&str>]) -> bool {
        matches!(self.field_at(place), Some(ListField::Replaced))
    }

    fn field_at(&self, place: &[Option<&str>]) -> Option<ListField<'_>> {
        let mut node = self.root();
        let mut steps = place.iter().peekable();
        while let Some(step) = steps.next() {
            let name = (*step)?;
            let is_last = steps.peek().is_none();
            let into_item = steps.next_if(|next| next.is_none()).is_some();
            node = match node.list(name) {
                field if is_last => return field,
                Some(ListField::Keyed(_, below)) if into_item => below,
                _ if into_item => return None,
                _ => match node.map(name)? {
                    MapField::Merged(below) => below,
                    MapField::Replaced => return None,
                },
            };
        }
        None
    }

    pub(super) fn root(&self) -> SchemaNode<'_> {
        SchemaNode { known: self.known, declared: Some(&self.declared) }
    }
}

impl Level {
    fn reach(&mut self, place: &Pointer) -> &mut Self {
        place.tokens().iter().fold(self, |level, token| level.below.entry(token.clone()).or_default())
    }
}

/// The schema of a map.
#[derive(Clone, Copy, Debug)]
enum Known {
    /// The map has the fields in this row of the table, and no other fields that can be merged.
    Type(usize),
    /// The map has the fields in this row of the table, and perhaps others.
    Like(usize),
    /// The map has no fields that can be merged.
    Free,
    /// The fields are unknown. Maps are merged, and lists are replaced.
    Open,
}

impl Known {
    /// The type of the field `name`. `None` if it is unknown.
    fn field(self, name: &str) -> Option<Holds> {
        match self {
            Self::Type(row) | Self::Like(row) => lookup(row, name),
            Self::Free | Self::Open => None,
        }
    }

    /// Whether the map may have unknown fields.
    fn is_open(self) -> bool {
        matches!(self, Self::Like(_) | Self::Open)
    }
}

/// The schema of the map at one place, and the declarations for it.
#[derive(Clone, Copy, Debug)]
pub(super) struct SchemaNode<'s> {
    known: Known,
    declared: Option<&'s Level>,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum MapField<'s> {
    Merged(SchemaNode<'s>),
    Replaced,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum ListField<'s> {
    Replaced,
    Set,
    Keyed(Keys<'s>, SchemaNode<'s>),
}

/// The keys that identify the items of a list.
#[derive(Clone, Copy, Debug)]
pub(super) enum Keys<'s> {
    /// The merge key of the kind, as in kubectl. The other keys are used where the merge key is not enough.
    Merge(&'static str, &'static [OtherKey]),
    /// The places that a rule declares. A missing key counts as the default of the kind.
    Declared(&'s [Pointer], &'static [OtherKey]),
}

impl Keys<'_> {
    fn to_merge(self) -> ListMerge {
        let key = |name: &str| Pointer::of([name]);
        match self {
            Self::Merge(name, others) => ListMerge::Keyed {
                keys: vec![key(name)],
                more: others.iter().map(|(name, _)| key(name)).collect(),
            },
            Self::Declared(keys, _) => ListMerge::Keyed { keys: keys.to_vec(), more: Vec::new() },
        }
    }

    /// The default of a key.
    pub(super) fn default_of(self, key: &Pointer) -> Option<&'static str> {
        let (Self::Merge(_, others) | Self::Declared(_, others)) = self;
        let [name] = key.tokens() else { return None };
        others.iter().find(|(other, _)| other == name).and_then(|(_, default)| *default)
    }
}

impl<'s> SchemaNode<'s> {
    /// A place without a schema.
    pub(super) const OPEN: Self = Self { known: Known::Open, declared: None };

    fn below(self, name: &str) -> Option<&'s Level> {
        self.declared.and_then(|level| level.below.get(name))
    }

    /// How the map in the field `name` is merged. `None` if the field cannot hold a map.
    pub(super) fn map(self, name: &str) -> Option<MapField<'s>> {
        let declared = self.below(name);
        let known = match (declared.and_then(|level| level.fields), self.known.field(name)) {
            (Some(row), _) => Known::Like(row),
            (None, Some(Holds::Whole)) => return Some(MapField::Replaced),
            (None, Some(Holds::Map(row))) => Known::Type(row),
            (None, Some(_)) => Known::Free,
            (None, None) if self.known.is_open() => Known::Open,
            (None, None) => return None,
        };
        Some(MapField::Merged(SchemaNode { known, declared }))
    }

    /// How the list in the field `name` is merged. `None` if the field cannot hold a list.
    pub(super) fn list(self, name: &str) -> Option<ListField<'s>> {
        let declared = self.below(name);
        let items = |known| SchemaNode { known, declared: declared.and_then(|level| level.below.get(ITEMS)) };
        let (others, items) = match self.known.field(name) {
            Some(Holds::Set) => return Some(ListField::Set),
            Some(Holds::Atomic) => return Some(ListField::Replaced),
            Some(Holds::Keyed(key, others, row)) => {
                let items = items(Known::Type(row));
                if declared.is_none_or(|level| level.keys.is_empty()) {
                    return Some(ListField::Keyed(Keys::Merge(key, others), items));
                }
                (others, items)
            }
            Some(Holds::AtomicMaps(row)) => (&[][..], items(Known::Type(row))),
            None if self.known.is_open() => (&[][..], items(Known::Open)),
            Some(Holds::Map(_) | Holds::Free | Holds::Whole) | None => return None,
        };
        Some(match declared {
            Some(level) if !level.keys.is_empty() => {
                ListField::Keyed(Keys::Declared(&level.keys, others), items)
            }
            _ => ListField::Replaced,
        })
    }

    /// The names of the known fields that hold maps or lists.
    pub(super) fn names(self) -> Vec<&'static str> {
        match self.known {
            Known::Type(row) | Known::Like(row) => TYPES[row].iter().map(|(name, _)| *name).collect(),
            Known::Free | Known::Open => Vec::new(),
        }
    }

    pub(super) fn is_open(self) -> bool {
        self.known.is_open()
    }

    /// Whether the field `name` is a known or declared list.
    pub(super) fn has_list(self, name: &str) -> bool {
        let is_declared = self.below(name).is_some_and(|level| !level.keys.is_empty());
        is_declared
            || matches!(
                self.known.field(name),
                Some(Holds::Atomic | Holds::AtomicMaps(_) | Holds::Set | Holds::Keyed(..))
            )
    }
}

/// The field `name` of a row. Like the JSON decoder of Go, it ignores case if there is no exact match.
fn lookup(row: usize, name: &str) -> Option<Holds> {
    let fields = TYPES[row];
    let exact = fields.binary_search_by(|(field, _)| (*field).cmp(name)).ok();
    let position = exact.or_else(|| fields.iter().position(|(field, _)| field.eq_ignore_ascii_case(name)));
    position.map(|position| fields[position].1)
}
