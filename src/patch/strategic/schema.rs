//! How the fields of a kind are merged: what is known of the kind, and the keys that a rule declares.

use std::collections::BTreeMap;

use super::table::{KINDS, OBJECT_META, POD_TEMPLATE, TYPES};
use crate::json::Pointer;

/// A field that holds maps or lists: its name in JSON, and how it is merged.
pub(super) type Field = (&'static str, Holds);

/// A key by which server-side apply tells items apart, besides the merge key: its name, and the value that an absent one has.
pub(super) type OtherKey = (&'static str, Option<&'static str>);

/// What a field holds, and how that is merged.
#[derive(Clone, Copy, Debug)]
pub(super) enum Holds {
    /// A map with the fields of the row of that number.
    Map(usize),
    /// A map in which no field is known. Scalars in it are merged; maps and lists in it cannot be.
    Free,
    /// A map that is replaced.
    Whole,
    /// A list of scalars that is replaced.
    Atomic,
    /// A list of maps that is replaced. Its items have the fields of the row of that number.
    AtomicMaps(usize),
    /// A list of scalars that is merged.
    Set,
    /// A list of maps that is merged by that field of its items, which have the fields of the row of that number.
    Keyed(&'static str, &'static [OtherKey], usize),
}

/// How the objects of one kind are merged.
#[derive(Clone, Debug)]
pub struct Schema {
    known: Known,
    declared: Level,
}

/// A list that a rule declares to be merged, and the keys of its items.
#[derive(Clone, Copy, Debug)]
pub struct Declared<'k> {
    /// The list. A step `*` stands for every item of a list on the way.
    pub path: &'k Pointer,
    /// Where the keys are in an item.
    pub keys: &'k [Pointer],
}

/// How a list is merged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ListMerge {
    /// It is replaced.
    Replaced,
    /// Its items are scalars, and those of the patch are added.
    Set,
    /// Its items are maps, told apart by the values at `keys`, and by those at `more` too where a patch names all of these.
    Keyed {
        /// Where the keys are in an item.
        keys: Vec<Pointer>,
        /// The other keys of server-side apply.
        more: Vec<Pointer>,
    },
}

/// The kinds of Kubernetes' own that an `apiVersion` has.
pub fn kinds(api_version: &str) -> impl Iterator<Item = &'static str> {
    KINDS.iter().filter(move |(version, ..)| *version == api_version).map(|(_, kind, _)| *kind)
}

/// What was declared about one place of a kind, and below it.
#[derive(Clone, Debug, Default)]
pub(super) struct Level {
    /// The map here has the fields of the row of that number.
    fields: Option<usize>,
    /// The keys of the items, if this is a list that is merged.
    keys: Vec<Pointer>,
    below: BTreeMap<String, Self>,
}

/// The step of a declared place that stands for each item of a list.
pub(super) const ITEMS: &str = "*";

impl Schema {
    /// The schema of a kind of Kubernetes' own, if this is one. `api_version` is `apps/v1`, or `v1`.
    pub fn built_in(api_version: &str, kind: &str) -> Option<Self> {
        let position =
            KINDS.binary_search_by(|(version, name, _)| (*version, *name).cmp(&(api_version, kind))).ok()?;
        Some(Self { known: Known::Type(KINDS[position].2), declared: Level::default() })
    }

    /// The schema of any other kind.
    ///
    /// `metadata` is merged as it is everywhere, and what is at `pod_templates` as pod templates are; the root is the place
    /// for a kind that is itself like a pod, with `metadata` and `spec`. All other maps are merged and all other lists replaced.
    pub fn custom(pod_templates: &[Pointer]) -> Self {
        let mut declared = Level::default();
        declared.reach(&Pointer::of(["metadata"])).fields = Some(OBJECT_META);
        for place in pod_templates {
            declared.reach(place).fields = Some(POD_TEMPLATE);
        }
        let known = declared.fields.map_or(Known::Open, Known::Like);
        Self { known, declared }
    }

    /// The schema of `kind`, whether it is one of Kubernetes' own or not.
    pub fn of(api_version: &str, kind: &str, pod_templates: &[Pointer]) -> Self {
        Self::built_in(api_version, kind).unwrap_or_else(|| Self::custom(pod_templates))
    }

    /// The same schema, with lists that are merged by declared keys. These win over the merge key that the kind has.
    ///
    /// What is not declared stays as it was, above, beside and below the lists. [`reach`](Self::reach) tells of a list that cannot
    /// be there.
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

    /// Whether there is or may be a list at `place`, which is replaced.
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

/// What is known of the kind at one place.
#[derive(Clone, Copy, Debug)]
enum Known {
    /// The map has the fields of the row of that number, and no others that could be merged.
    Type(usize),
    /// The map has the fields of the row of that number, and perhaps others.
    Like(usize),
    /// The map has no fields that could be merged.
    Free,
    /// Nothing: maps are merged, lists replaced.
    Open,
}

impl Known {
    /// What the field `name` holds; `None` if nothing is known of it.
    fn field(self, name: &str) -> Option<Holds> {
        match self {
            Self::Type(row) | Self::Like(row) => lookup(row, name),
            Self::Free | Self::Open => None,
        }
    }

    /// Whether there may be fields of which nothing is known.
    fn is_open(self) -> bool {
        matches!(self, Self::Like(_) | Self::Open)
    }
}

/// What is known about the map at one place, and what was declared there.
#[derive(Clone, Copy, Debug)]
pub(super) struct SchemaNode<'s> {
    known: Known,
    declared: Option<&'s Level>,
}

/// How the map in a field is merged.
#[derive(Clone, Copy, Debug)]
pub(super) enum MapField<'s> {
    Merged(SchemaNode<'s>),
    Replaced,
}

/// How the list in a field is merged.
#[derive(Clone, Copy, Debug)]
pub(super) enum ListField<'s> {
    Replaced,
    Set,
    Keyed(Keys<'s>, SchemaNode<'s>),
}

/// By what the items of a list are told apart.
#[derive(Clone, Copy, Debug)]
pub(super) enum Keys<'s> {
    /// By the merge key of the kind, as kubectl does it; and by the others too where the merge key alone is not enough.
    Merge(&'static str, &'static [OtherKey]),
    /// By the values at these places, which a rule declares. An absent one counts as the default that the kind has for it.
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

    /// The value that an absent key has.
    pub(super) fn default_of(self, key: &Pointer) -> Option<&'static str> {
        let (Self::Merge(_, others) | Self::Declared(_, others)) = self;
        let [name] = key.tokens() else { return None };
        others.iter().find(|(other, _)| other == name).and_then(|(_, default)| *default)
    }
}

impl<'s> SchemaNode<'s> {
    /// A place of which nothing is known.
    pub(super) const OPEN: Self = Self { known: Known::Open, declared: None };

    fn below(self, name: &str) -> Option<&'s Level> {
        self.declared.and_then(|level| level.below.get(name))
    }

    /// How the map in the field `name` is merged; `None` if it cannot be.
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

    /// How the list in the field `name` is merged; `None` if it cannot be.
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

    /// The names of the fields that hold maps or lists, as far as they are known.
    pub(super) fn names(self) -> Vec<&'static str> {
        match self.known {
            Known::Type(row) | Known::Like(row) => TYPES[row].iter().map(|(name, _)| *name).collect(),
            Known::Free | Known::Open => Vec::new(),
        }
    }

    /// Whether there may be fields of which nothing is known.
    pub(super) fn is_open(self) -> bool {
        self.known.is_open()
    }

    /// Whether the field `name` is known or declared to be a list.
    pub(super) fn has_list(self, name: &str) -> bool {
        let is_declared = self.below(name).is_some_and(|level| !level.keys.is_empty());
        is_declared
            || matches!(
                self.known.field(name),
                Some(Holds::Atomic | Holds::AtomicMaps(_) | Holds::Set | Holds::Keyed(..))
            )
    }
}

/// The field `name` of a row, as Go's decoder finds it: another case will do if the name itself is not there.
fn lookup(row: usize, name: &str) -> Option<Holds> {
    let fields = TYPES[row];
    let exact = fields.binary_search_by(|(field, _)| (*field).cmp(name)).ok();
    let position = exact.or_else(|| fields.iter().position(|(field, _)| field.eq_ignore_ascii_case(name)));
    position.map(|position| fields[position].1)
}
