//! Checks a strategic merge patch without an object.
//!
//! DIFFERENCE: kubectl does not report a directive at a place that the object does not have. Validity must
//! not depend on the object, so a directive that no object can satisfy is always an error.

use super::directive::{self, DELETE, Key, ORDER, PATCH, RETAIN};
use super::maps::overlap;
use super::scalar::{Scalar, Type, Types, types};
use crate::json::{Object, Value};
use crate::patch::path::FieldPath;
use crate::patch::{InvalidPatchError, PatchErrorKind};

/// The minimum similarity between a key and the directive that it is taken for.
const NEARLY: f64 = 0.9;

/// All errors in `patch` that do not depend on an object. `null` is a patch that changes nothing.
pub fn check(patch: &Value<'_>) -> Vec<InvalidPatchError> {
    let mut faults = PatchCheck(Vec::new());
    match patch {
        Value::Null => {}
        Value::Object(object) => {
            if object.get(PATCH).and_then(directive::word) == Some(directive::Word::Delete) {
                faults.add(&FieldPath::ROOT.member(PATCH), PatchErrorKind::DeletesAll);
            }
            faults.map(object, &FieldPath::ROOT);
        }
        other => faults.add(&FieldPath::ROOT, PatchErrorKind::NotAMap(other.kind())),
    }
    faults.0
}

struct PatchCheck(Vec<InvalidPatchError>);

impl PatchCheck {
    fn add(&mut self, place: &FieldPath<'_>, problem: PatchErrorKind) {
        self.0.push(InvalidPatchError { place: place.pointer(), problem });
    }

    fn value(&mut self, value: &Value<'_>, place: &FieldPath<'_>) {
        match value {
            Value::Object(object) => self.map(object, place),
            Value::Array(items) => {
                for (position, item) in items.iter().enumerate() {
                    self.value(item, &place.item(position));
                }
            }
            _ => {}
        }
    }

    fn map(&mut self, object: &Object<'_>, place: &FieldPath<'_>) {
        let fields = object.index();
        for (name, value) in object.iter() {
            let here = place.member(name);
            match directive::read(name) {
                Key::Field => {
                    if let Some(meant) = meant(name) {
                        self.add(&here, PatchErrorKind::NearlyDirective { found: name.to_owned(), meant });
                    }
                    self.value(value, &here);
                }
                Key::Patch if directive::word(value).is_none() => {
                    self.add(&here, PatchErrorKind::UnknownWord);
                }
                Key::Patch => {}
                Key::Retain => self.retained(value, object, &here),
                Key::Order(None) => self.add(&here, PatchErrorKind::NoListName(ORDER)),
                Key::Delete(None) => self.add(&here, PatchErrorKind::NoListName(DELETE)),
                Key::Order(Some(list)) => {
                    self.order(value, &here);
                    if let Some(set) = fields.get(list).filter(|set| set.as_array().is_none()) {
                        let problem =
                            PatchErrorKind::NotAList { directive: name.to_owned(), found: set.kind() };
                        self.add(&place.member(list), problem);
                    }
                }
                Key::Delete(Some(list)) => {
                    if !value.is_null() && self.list(value, name, &here).is_none() {
                        continue;
                    }
                    let ordered = fields.get(&format!("{ORDER}/{list}")).is_some();
                    if !ordered && fields.get(list).is_some_and(|set| overlap(set, value)) {
                        self.add(&here, PatchErrorKind::SetAndDeleted(list.to_owned()));
                    }
                }
            }
        }
    }

    fn list<'v, 'a>(
        &mut self,
        value: &'v Value<'a>,
        directive: &str,
        place: &FieldPath<'_>,
    ) -> Option<&'v [Value<'a>]> {
        let items = value.as_array();
        if items.is_none() {
            self.add(
                place,
                PatchErrorKind::NotAList { directive: directive.to_owned(), found: value.kind() },
            );
        }
        items
    }

    fn retained(&mut self, value: &Value<'_>, object: &Object<'_>, place: &FieldPath<'_>) {
        let Some(items) = self.list(value, RETAIN, place) else { return };
        for (position, item) in items.iter().enumerate().filter(|(_, item)| item.as_str().is_none()) {
            let problem = PatchErrorKind::BadItem { directive: RETAIN.to_owned(), found: item.kind() };
            self.add(&place.item(position), problem);
        }
        let names: std::collections::HashSet<&str> = items.iter().filter_map(Value::as_str).collect();
        for (name, value) in object.iter() {
            if directive::read(name) == Key::Field && !value.is_null() && !names.contains(name) {
                self.add(place, PatchErrorKind::NotRetained(name.to_owned()));
            }
        }
    }

    fn order(&mut self, value: &Value<'_>, place: &FieldPath<'_>) {
        let Some(items) = self.list(value, ORDER, place) else { return };
        match types(items) {
            Types::Mixed => self.add(place, PatchErrorKind::MixedItems),
            Types::One(Type::Map) => {
                for (position, item) in items.iter().enumerate() {
                    if !holds_a_key(item) {
                        let problem =
                            PatchErrorKind::BadItem { directive: ORDER.to_owned(), found: item.kind() };
                        self.add(&place.item(position), problem);
                    }
                }
            }
            Types::None | Types::One(_) => {}
        }
    }
}

/// Whether a map contains a scalar, at any depth of maps.
fn holds_a_key(item: &Value<'_>) -> bool {
    item.as_object()
        .is_some_and(|item| item.iter().any(|(_, value)| Scalar::of(value).is_some() || holds_a_key(value)))
}

/// The directive that a key is probably meant to be.
fn meant(name: &str) -> Option<&'static str> {
    let written = name.strip_prefix('$')?.split('/').next()?.to_lowercase();
    let like = |directive: &str| strsim::jaro_winkler(&written, &directive[1..].to_lowercase());
    [PATCH, RETAIN, ORDER, DELETE].into_iter().find(|directive| like(directive) >= NEARLY)
}
