//! Identifies the items of a list while it is merged.

use std::collections::{HashMap, HashSet};

use super::maps::Result;
use super::scalar::Scalar;
use super::schema::{Keys, OtherKey};
use crate::json::{Pointer, Value};
use crate::patch::PatchErrorKind;
use crate::patch::path::{Failed, FieldPath};

/// The values that identify an item.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Identity<'v> {
    /// The item of the object lacks a key, so no patch can address it.
    Unnamed,
    One(Scalar<'v>),
    Several(Vec<Scalar<'v>>),
}

impl<'v> Identity<'v> {
    fn of(mut values: Vec<Scalar<'v>>) -> Self {
        match values.len() {
            1 => values.pop().map_or(Self::Unnamed, Self::One),
            _ => Self::Several(values),
        }
    }
}

/// The items that are identified by all keys of server-side apply, and not only by the merge key.
#[derive(Debug)]
enum Apart<'v> {
    /// The items with one of these values of the merge key.
    Some(HashSet<Scalar<'v>>),
    All,
}

/// Computes the identities of items.
#[derive(Debug)]
pub(super) struct Naming<'v, 's> {
    /// `None` if the items are scalars. A scalar is its own identity.
    keys: Option<Keys<'s>>,
    apart: Apart<'v>,
}

impl<'v, 's> Naming<'v, 's> {
    /// Identifies items by the merge key of the kind, or by the declared keys.
    pub(super) fn new(keys: Option<Keys<'s>>) -> Self {
        Self { keys, apart: Apart::Some(HashSet::new()) }
    }

    /// Finds the items of a list and of its patch that the merge key does not identify.
    ///
    /// DIFFERENCE: kubectl uses only the merge key, and merges into the first item that has it. This
    /// implementation uses all keys of server-side apply where the merge key is not enough: where several
    /// items of the list have the merge key that the patch names, or where several items of the patch have
    /// the same merge key and differ in the other keys. So 53/TCP and 53/UDP are two ports.
    pub(super) fn refine<'a: 'v>(
        &mut self,
        list: impl IntoIterator<Item = &'v Value<'a>>,
        patch: impl IntoIterator<Item = &'v Value<'a>>,
    ) {
        let Some(Keys::Merge(key, others @ [_, ..])) = self.keys else { return };
        let merge_key = |item: &'v Value<'a>| item.get(key).and_then(Scalar::of);
        let mut listed: HashMap<Scalar<'v>, usize> = HashMap::new();
        for value in list.into_iter().filter_map(merge_key) {
            *listed.entry(value).or_default() += 1;
        }
        let mut patched: HashMap<Scalar<'v>, HashSet<Vec<Option<Scalar<'v>>>>> = HashMap::new();
        for item in patch {
            if let Some(value) = merge_key(item) {
                let written = others.iter().map(|(name, _)| scalar(item.get(name))).collect();
                patched.entry(value).or_default().insert(written);
            }
        }
        let is_apart = |(value, written): &(Scalar<'v>, HashSet<_>)| {
            listed.get(value).is_some_and(|count| *count > 1) || written.len() > 1
        };
        let values = patched.into_iter().filter(is_apart).map(|(value, _)| value);
        self.apart = Apart::Some(values.collect());
    }

    /// Identifies items by the keys that all of `items` have: all keys of server-side apply, or only the
    /// merge key.
    pub(super) fn for_order<'i, 'a: 'i>(
        keys: Option<Keys<'s>>,
        items: impl IntoIterator<Item = &'i Value<'a>>,
    ) -> Self {
        let mut naming = Self::new(keys);
        if let Some(Keys::Merge(_, others @ [_, ..])) = keys {
            let mut items = items.into_iter().peekable();
            let is_named = |item: &Value<'_>| others.iter().all(|(name, _)| scalar(item.get(name)).is_some());
            if items.peek().is_some() && items.all(is_named) {
                naming.apart = Apart::All;
            }
        }
        naming
    }

    pub(super) fn is_by_key(&self) -> bool {
        self.keys.is_some()
    }

    /// Whether some items are identified by more than the merge key.
    pub(super) fn is_refined(&self) -> bool {
        match &self.apart {
            Apart::Some(values) => !values.is_empty(),
            Apart::All => true,
        }
    }

    pub(super) fn of_object(&self, item: &'v Value<'_>, place: &FieldPath<'_>) -> Result<Identity<'v>> {
        let values = match self.keys {
            None => return scalar_itself(item, place),
            Some(Keys::Merge(key, others)) => {
                let value =
                    item.get(key).and_then(Scalar::of).ok_or_else(|| missing(key, "object", place))?;
                if !self.is_apart(&value) {
                    return Ok(Identity::One(value));
                }
                std::iter::once(Some(value))
                    .chain(others.iter().map(|other| or_default(item, other)))
                    .collect()
            }
            Some(keys @ Keys::Declared(paths, _)) => {
                paths.iter().map(|path| declared(keys, item, path)).collect::<Option<Vec<_>>>()
            }
        };
        Ok(values.map_or(Identity::Unnamed, Identity::of))
    }

    /// The identity of an item of the patch or of the directive `of`. A null key counts as missing.
    pub(super) fn of_patch(
        &self,
        item: &'v Value<'_>,
        of: &'static str,
        place: &FieldPath<'_>,
    ) -> Result<Identity<'v>> {
        let values: Result<Vec<_>> = match self.keys {
            None => return scalar_itself(item, place),
            Some(Keys::Merge(key, others)) => {
                let value = scalar(item.get(key)).ok_or_else(|| missing(key, of, place))?;
                if !self.is_apart(&value) {
                    return Ok(Identity::One(value));
                }
                let unclear = |name: &str| {
                    place.error(PatchErrorKind::Ambiguous {
                        key: key.to_owned(),
                        lacks: Some(name.to_owned()),
                    })
                };
                let more = others.iter().map(|(name, _)| scalar(item.get(name)).ok_or_else(|| unclear(name)));
                std::iter::once(Ok(value)).chain(more).collect()
            }
            Some(keys @ Keys::Declared(paths, _)) => {
                let value =
                    |path| declared(keys, item, path).ok_or_else(|| missing(&spelled(path), of, place));
                paths.iter().map(value).collect()
            }
        };
        values.map(Identity::of)
    }

    /// The identity that a `$patch: delete` item names: the merge key, or all keys if the item has all of
    /// them.
    ///
    /// DIFFERENCE: kubectl deletes by the merge key, whatever else the item has. That would delete 53/TCP
    /// where 53/UDP is named.
    pub(super) fn of_deletion(&self, item: &'v Value<'_>, place: &FieldPath<'_>) -> Result<Identity<'v>> {
        let Some(Keys::Merge(key, others @ [_, ..])) = self.keys else {
            return self.of_patch(item, "patch", place);
        };
        let value = scalar(item.get(key)).ok_or_else(|| missing(key, "patch", place))?;
        let more: Option<Vec<_>> = others.iter().map(|(name, _)| scalar(item.get(name))).collect();
        Ok(match more {
            Some(more) => Identity::Several(std::iter::once(value).chain(more).collect()),
            None => Identity::One(value),
        })
    }

    /// Whether one of `deletions` names an item of the object. `identity` is the identity of the item by the
    /// merge key.
    pub(super) fn is_deleted(
        &self,
        identity: &Identity<'v>,
        item: &'v Value<'_>,
        deletions: &HashSet<Identity<'v>>,
    ) -> bool {
        if deletions.contains(identity) {
            return true;
        }
        let (Some(Keys::Merge(_, others @ [_, ..])), Identity::One(value)) = (self.keys, identity) else {
            return false;
        };
        let more = others.iter().map(|other| or_default(item, other));
        let all: Option<Vec<_>> = std::iter::once(Some(*value)).chain(more).collect();
        all.is_some_and(|all| deletions.contains(&Identity::Several(all)))
    }

    /// The keys, for messages.
    pub(super) fn label(&self) -> String {
        match self.keys {
            None => String::new(),
            Some(Keys::Merge(key, others)) if self.is_refined() => std::iter::once(key)
                .chain(others.iter().map(|(name, _)| *name))
                .collect::<Vec<_>>()
                .join("`, `"),
            Some(Keys::Merge(key, _)) => key.to_owned(),
            Some(Keys::Declared(paths, _)) => paths.iter().map(spelled).collect::<Vec<_>>().join("`, `"),
        }
    }

    fn is_apart(&self, value: &Scalar<'v>) -> bool {
        match &self.apart {
            Apart::Some(values) => values.contains(value),
            Apart::All => true,
        }
    }
}

/// A key as a policy spells it: names joined by dots, or a pointer if a name contains a dot or a slash.
pub fn spelled(path: &Pointer) -> String {
    let plain = path.tokens().iter().all(|name| !name.contains(['.', '/']));
    if plain { path.tokens().join(".") } else { path.to_string() }
}

fn scalar_itself<'v>(item: &'v Value<'_>, place: &FieldPath<'_>) -> Result<Identity<'v>> {
    Scalar::of(item).map(Identity::One).ok_or_else(|| place.error(PatchErrorKind::MixedItems))
}

/// The scalar, if the value is one and not null.
fn scalar<'v>(value: Option<&'v Value<'_>>) -> Option<Scalar<'v>> {
    value.and_then(Scalar::of).filter(|value| *value != Scalar::Null)
}

/// The value of another key of server-side apply, or its default.
fn or_default<'v>(item: &'v Value<'_>, (name, default): &OtherKey) -> Option<Scalar<'v>> {
    match item.get(name) {
        None | Some(Value::Null) => default.map(Scalar::Text),
        Some(value) => Scalar::of(value),
    }
}

/// The value of a declared key, or its default.
fn declared<'v>(keys: Keys<'_>, item: &'v Value<'_>, path: &Pointer) -> Option<Scalar<'v>> {
    let value = path.tokens().iter().try_fold(item, |value, name| value.as_object()?.get(name));
    match value {
        None | Some(Value::Null) => keys.default_of(path).map(Scalar::Text),
        Some(value) => Scalar::of(value),
    }
}

fn missing(key: &str, of: &'static str, place: &FieldPath<'_>) -> Failed {
    place.error(PatchErrorKind::KeyMissing { key: key.to_owned(), of })
}
