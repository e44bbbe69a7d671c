//! How the fields of a kind are merged.

use std::collections::BTreeMap;

use super::table::{KINDS, OBJECT_META, POD_TEMPLATE, TYPES};
use crate::json::Pointer;

/// A field that holds maps or lists: its name in JSON, and how it is merged.
pub(super) type Field = (&'static str, Holds);

/// What a field holds, and how that is merged.
#[derive(Clone, Copy, Debug)]
pub(super) enum Holds {
    /// A map with the fields of the row of that number.
    Map(usize),
    /// A map in which no field is known. Scalars in it are merged; maps and lists in it cannot be.
    Free,
    /// A map that is replaced.
    Whole,
    /// A list that is replaced.
    Atomic,
    /// A list of scalars that is merged.
    Set,
    /// A list of maps that is merged by that field of its items, which have the fields of the row of that number.
    Keyed(&'static str, usize),
}

/// How the objects of one kind are merged.
#[derive(Clone, Debug)]
pub struct Schema(Root);

/// How a list is merged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListMerge<'s> {
    /// It is replaced.
    Replaced,
    /// Its items are scalars, and those of the patch are added.
    Set,
    /// Its items are maps, told apart by this field.
    Keyed(&'s str),
}

/// The kinds of Kubernetes' own that an `apiVersion` has.
pub fn kinds(api_version: &str) -> impl Iterator<Item = &'static str> {
    KINDS.iter().filter(move |(version, ..)| *version == api_version).map(|(_, kind, _)| *kind)
}

#[derive(Clone, Debug)]
enum Root {
    BuiltIn(usize),
    Custom(Level),
}

/// What was declared about one place of a custom kind, and below it.
#[derive(Clone, Debug, Default)]
pub(super) struct Level {
    /// The fields that are known to be something, by what is known elsewhere.
    fields: Option<usize>,
    /// The field that tells the items apart, if this is a list that is merged.
    key: Option<String>,
    below: BTreeMap<String, Self>,
}

/// The step of a declared place that stands for each item of a list.
const ITEMS: &str = "*";

impl Schema {
    /// The schema of a kind of Kubernetes' own, if this is one. `api_version` is `apps/v1`, or `v1`.
    pub fn built_in(api_version: &str, kind: &str) -> Option<Self> {
        let position =
            KINDS.binary_search_by(|(version, name, _)| (*version, *name).cmp(&(api_version, kind)));
        position.ok().map(|position| Self(Root::BuiltIn(KINDS[position].2)))
    }

    /// The schema of any other kind.
    ///
    /// `metadata` is merged as it is everywhere, and what is at `pod_templates` as pod templates are; the root is the place
    /// for a kind that is itself like a pod, with `metadata` and `spec`. The lists at `merge_keys` are merged by the field
    /// that is named there. In both a step `*` stands for every item of a list, which has to be merged itself to be gone
    /// into. All other maps are merged and all other lists replaced.
    pub fn custom<'k>(
        pod_templates: &[Pointer],
        merge_keys: impl IntoIterator<Item = (&'k Pointer, &'k str)>,
    ) -> Self {
        let mut root = Level::default();
        root.reach(&Pointer::of(["metadata"])).fields = Some(OBJECT_META);
        for place in pod_templates {
            root.reach(place).fields = Some(POD_TEMPLATE);
        }
        for (place, key) in merge_keys {
            root.reach(place).key = Some(key.to_owned());
        }
        Self(Root::Custom(root))
    }

    /// How the list at `place` is merged. A step of `None` stands for an item of a list.
    pub fn list_at(&self, place: &[Option<&str>]) -> ListMerge<'_> {
        let mut node = self.root();
        let mut steps = place.iter().peekable();
        while let Some(step) = steps.next() {
            let Some(name) = step else { return ListMerge::Replaced };
            let is_last = steps.peek().is_none();
            let into_item = steps.next_if(|next| next.is_none()).is_some();
            if !is_last && !into_item {
                let Some(MapField::Merged(below)) = node.map(name) else { return ListMerge::Replaced };
                node = below;
                continue;
            }
            match node.list(name) {
                Some(ListField::Keyed(_, below)) if into_item => node = below,
                Some(ListField::Keyed(key, _)) => return ListMerge::Keyed(key),
                Some(ListField::Set) if !into_item => return ListMerge::Set,
                _ => return ListMerge::Replaced,
            }
        }
        ListMerge::Replaced
    }

    /// How many steps of `pointer` lead to the first list on its way, or at its end. Nothing is known of custom kinds.
    pub fn first_list(&self, pointer: &Pointer) -> Option<usize> {
        let Root::BuiltIn(row) = self.0 else { return None };
        let mut node = Node::Type(row);
        for (position, name) in pointer.tokens().iter().enumerate() {
            if node.list(name).is_some() {
                return Some(position + 1);
            }
            match node.map(name)? {
                MapField::Merged(below) => node = below,
                MapField::Replaced => return None,
            }
        }
        None
    }

    pub(super) fn root(&self) -> Node<'_> {
        match &self.0 {
            Root::BuiltIn(row) => Node::Type(*row),
            Root::Custom(level) => Node::Declared(level),
        }
    }
}

impl Level {
    fn reach(&mut self, place: &Pointer) -> &mut Self {
        place.tokens().iter().fold(self, |level, token| level.below.entry(token.clone()).or_default())
    }
}

/// What is known about the map at one place.
#[derive(Clone, Copy, Debug)]
pub(super) enum Node<'s> {
    /// Its fields are those of the row of that number.
    Type(usize),
    /// It has no fields that could be merged.
    Free,
    /// Nothing: maps are merged, lists replaced.
    Open,
    /// What was declared.
    Declared(&'s Level),
}

/// How the map in a field is merged.
#[derive(Clone, Copy, Debug)]
pub(super) enum MapField<'s> {
    Merged(Node<'s>),
    Replaced,
}

/// How the list in a field is merged.
#[derive(Clone, Copy, Debug)]
pub(super) enum ListField<'s> {
    Replaced,
    Set,
    Keyed(&'s str, Node<'s>),
}

impl<'s> Node<'s> {
    /// How the map in the field `name` is merged; `None` if it cannot be.
    pub(super) fn map(self, name: &str) -> Option<MapField<'s>> {
        match self {
            Self::Type(row) => Some(match lookup(row, name)? {
                Holds::Map(row) => MapField::Merged(Node::Type(row)),
                Holds::Whole => MapField::Replaced,
                Holds::Free | Holds::Atomic | Holds::Set | Holds::Keyed(..) => MapField::Merged(Node::Free),
            }),
            Self::Free => None,
            Self::Open => Some(MapField::Merged(Node::Open)),
            Self::Declared(level) => match (level.below.get(name), level.fields) {
                (Some(below), _) => Some(MapField::Merged(Node::Declared(below))),
                (None, Some(row)) => Node::Type(row).map(name).or(Some(MapField::Merged(Node::Open))),
                (None, None) => Some(MapField::Merged(Node::Open)),
            },
        }
    }

    /// How the list in the field `name` is merged; `None` if it cannot be.
    pub(super) fn list(self, name: &str) -> Option<ListField<'s>> {
        match self {
            Self::Type(row) => match lookup(row, name)? {
                Holds::Atomic => Some(ListField::Replaced),
                Holds::Set => Some(ListField::Set),
                Holds::Keyed(key, row) => Some(ListField::Keyed(key, Node::Type(row))),
                Holds::Map(_) | Holds::Free | Holds::Whole => None,
            },
            Self::Free => None,
            Self::Open => Some(ListField::Replaced),
            Self::Declared(level) => match (level.below.get(name), level.fields) {
                (Some(Level { key: Some(key), below, .. }), _) => {
                    let items = below.get(ITEMS).map_or(Node::Open, Node::Declared);
                    Some(ListField::Keyed(key, items))
                }
                (None, Some(row)) => Node::Type(row).list(name).or(Some(ListField::Replaced)),
                _ => Some(ListField::Replaced),
            },
        }
    }
}

/// The field `name` of a row, as Go's decoder finds it: another case will do if the name itself is not there.
fn lookup(row: usize, name: &str) -> Option<Holds> {
    let fields = TYPES[row];
    let exact = fields.binary_search_by(|(field, _)| (*field).cmp(name)).ok();
    let position = exact.or_else(|| fields.iter().position(|(field, _)| field.eq_ignore_ascii_case(name)));
    position.map(|position| fields[position].1)
}
