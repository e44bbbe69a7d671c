//! The type of one value in an object.

use std::collections::BTreeMap;

use super::Type;
use super::table::{KINDS, OBJECT_META, POD_SPEC, STRUCTS};
use crate::json::{Pointer, Value};

/// The type of the objects of one kind.
#[derive(Clone, Debug)]
pub enum ObjectType {
    BuiltIn(Type),
    Custom(Places),
}

/// The places of a custom kind whose type is known.
#[derive(Clone, Debug, Default)]
pub struct Places {
    here: Option<Type>,
    below: BTreeMap<String, Self>,
}

/// The step of a place that stands for each item of a list.
const ITEMS: &str = "*";

/// What is known of the type of a value.
#[derive(Clone, Copy, Debug)]
pub enum Shape<'s> {
    /// This type. A field that the type does not have is dropped by the API server.
    Exact(Type),
    /// At least the fields of this type.
    AtLeast(Type),
    /// A place of a custom kind, with known places below it.
    Places(&'s Places),
    /// A structural schema of a `CustomResourceDefinition`.
    Definition(&'s Value<'s>),
    Unknown,
}

impl ObjectType {
    /// The type of a built-in kind. `api_version` is `apps/v1`, or `v1`.
    pub fn built_in(api_version: &str, kind: &str) -> Option<Self> {
        let position =
            KINDS.binary_search_by(|(version, name, _)| (*version, *name).cmp(&(api_version, kind)));
        position.ok().map(|position| Self::BuiltIn(Type::Struct(KINDS[position].2)))
    }

    /// The type of a kind of which only `metadata` and its templates are known. Each template has `metadata`,
    /// and a pod's `spec` where `is_pod` says so. The root is the place for a kind that is like a pod itself.
    /// A step `*` stands for each item of a list.
    pub fn custom(templates: &[Pointer], is_pod: impl Fn(&Pointer) -> bool) -> Self {
        let mut root = Places::default();
        for place in templates {
            root.reach(&place.join("metadata")).here = Some(OBJECT_META);
            if is_pod(place) {
                root.reach(&place.join("spec")).here = Some(POD_SPEC);
            }
        }
        root.reach(&Pointer::of(["metadata"])).here = Some(OBJECT_META);
        Self::Custom(root)
    }

    pub fn root(&self) -> Shape<'_> {
        match self {
            Self::BuiltIn(root) => Shape::Exact(*root),
            Self::Custom(places) => Shape::Places(places),
        }
    }

    /// The type of the value at `place`. A step of a list is an index, `-` or `*`.
    pub fn at(&self, place: &Pointer) -> Shape<'_> {
        self.root().at(place)
    }
}

impl Places {
    fn reach(&mut self, place: &Pointer) -> &mut Self {
        place.tokens().iter().fold(self, |at, token| at.below.entry(token.clone()).or_default())
    }
}

impl Shape<'_> {
    /// The type of the field `name` of a map. `None`: the API server drops a field of that name.
    pub fn field(self, name: &str) -> Option<Self> {
        match self {
            Self::Exact(Type::Struct(row)) => lookup(row, name).map(Self::Exact),
            Self::AtLeast(Type::Struct(row)) => Some(lookup(row, name).map_or(Self::Unknown, Self::AtLeast)),
            Self::Exact(Type::Map(of)) => Some(Self::Exact(*of)),
            Self::AtLeast(Type::Map(of)) => Some(Self::AtLeast(*of)),
            Self::Places(places) => Some(match (places.below.get(name), places.here) {
                (Some(below), _) => below.shape(),
                (None, Some(here)) => return Self::AtLeast(here).field(name),
                (None, None) => Self::Unknown,
            }),
            Self::Definition(schema) => defined_field(schema, name),
            Self::Exact(_) | Self::AtLeast(_) | Self::Unknown => Some(Self::Unknown),
        }
    }

    /// The type of the items of a list.
    #[must_use]
    pub fn item(self) -> Self {
        match self {
            Self::Exact(Type::List(of)) => Self::Exact(*of),
            Self::AtLeast(Type::List(of)) => Self::AtLeast(*of),
            Self::Places(places) => places.below.get(ITEMS).map_or(Self::Unknown, Places::shape),
            Self::Definition(schema) => schema.get("items").map_or(Self::Unknown, Self::Definition),
            Self::Exact(_) | Self::AtLeast(_) | Self::Unknown => Self::Unknown,
        }
    }

    /// The type of the value at `place` below this one. A step of a list is an index, `-` or `*`.
    #[must_use]
    pub fn at(self, place: &Pointer) -> Self {
        place.tokens().iter().fold(self, |shape, token| match (shape.is_list(), shape.field(token)) {
            (true, _) => shape.item(),
            (false, Some(field)) => field,
            (false, None) => Self::Unknown,
        })
    }

    /// How many steps of `place` lead to the first list on its way, or at its end.
    pub fn first_list(self, place: &Pointer) -> Option<usize> {
        let mut shape = self;
        for (position, token) in place.tokens().iter().enumerate() {
            let field = shape.field(token)?;
            if field.is_list() {
                return Some(position + 1);
            }
            shape = field;
        }
        None
    }

    /// How many steps of `place` lead to the first field that does not exist.
    pub fn unknown_step(self, place: &Pointer) -> Option<usize> {
        let mut shape = self;
        for (position, token) in place.tokens().iter().enumerate() {
            shape = match (shape.is_list(), shape.field(token)) {
                (true, _) => shape.item(),
                (false, Some(field)) => field,
                (false, None) => return Some(position + 1),
            };
        }
        None
    }

    fn is_list(self) -> bool {
        match self {
            Self::Exact(of) | Self::AtLeast(of) => matches!(of, Type::List(_)),
            Self::Places(places) => places.below.contains_key(ITEMS),
            Self::Definition(schema) => schema.get("items").is_some(),
            Self::Unknown => false,
        }
    }

    /// Whether it is a map with any names whose values are neither maps nor lists.
    pub fn is_map_of_scalars(self) -> bool {
        let Some(Type::Map(of)) = self.known() else { return false };
        !matches!(of, Type::Any | Type::List(_) | Type::Map(_) | Type::Struct(_))
    }

    pub(super) fn known(self) -> Option<Type> {
        match self {
            Self::Exact(of) | Self::AtLeast(of) => Some(of),
            Self::Places(places) => places.here,
            Self::Definition(schema) => defined(schema),
            Self::Unknown => None,
        }
    }
}

impl Places {
    fn shape(&self) -> Shape<'_> {
        match self.here {
            Some(here) if self.below.is_empty() => Shape::AtLeast(here),
            _ => Shape::Places(self),
        }
    }
}

fn lookup(row: usize, name: &str) -> Option<Type> {
    let fields = STRUCTS[row];
    let position = fields.binary_search_by(|(field, _)| (*field).cmp(name)).ok()?;
    Some(fields[position].1)
}

/// The type of a field in a structural schema.
fn defined_field<'s>(schema: &'s Value<'s>, name: &str) -> Option<Shape<'s>> {
    let named = schema.get("properties").and_then(|fields| fields.get(name));
    let others = schema.get("additionalProperties");
    match (named, others) {
        (Some(field), _) | (None, Some(field @ Value::Object(_))) => Some(Shape::Definition(field)),
        (None, Some(Value::Bool(true))) => Some(Shape::Unknown),
        (None, _) if is_open(schema) => Some(Shape::Unknown),
        (None, _) => None,
    }
}

/// Whether a structural schema keeps fields that it does not list.
fn is_open(schema: &Value<'_>) -> bool {
    let flag = |name: &str| schema.get(name).and_then(Value::as_bool) == Some(true);
    flag("x-kubernetes-preserve-unknown-fields")
        || flag("x-kubernetes-embedded-resource")
        || schema.get("properties").is_none() && schema.get("type").and_then(Value::as_str) != Some("object")
}

/// The type of a value in a structural schema.
fn defined(schema: &Value<'_>) -> Option<Type> {
    let flag = |name: &str| schema.get(name).and_then(Value::as_bool) == Some(true);
    if flag("x-kubernetes-int-or-string") {
        return Some(Type::IntOrString);
    }
    let format = schema.get("format").and_then(Value::as_str);
    Some(match (schema.get("type").and_then(Value::as_str)?, format) {
        ("string", Some("byte")) => Type::Bytes,
        ("string", Some("date-time")) => Type::Time,
        ("string", _) => Type::String,
        ("integer", Some("int32")) => Type::Int32,
        ("integer", _) => Type::Int64,
        ("number", _) => Type::Number,
        ("boolean", _) => Type::Boolean,
        ("array", _) => Type::List(&Type::Any),
        ("object", _) => Type::Map(&Type::Any),
        _ => return None,
    })
}
