//! Values during evaluation.

use std::cmp::Ordering;
use std::rc::Rc;

use super::budget::Budget;
use super::error::ErrorKind;
use super::{MAX_ITEMS, MAX_TEXT_BYTES};
use crate::domain::Quantity;
use crate::json::{self, Object, Value};

/// The result of an operation or a function.
pub(super) type ValResult<'v, 'a> = Result<Val<'v, 'a>, ErrorKind>;

/// A value: a reference to a piece of a document, or a computed value.
#[derive(Clone, Debug)]
pub(super) enum Val<'v, 'a> {
    /// A piece of a document, neither copied nor converted.
    Json(&'v Value<'a>),
    Null,
    Bool(bool),
    Int(i64),
    Double(f64),
    /// A string borrowed from a document or from the source.
    Str(&'v str),
    Text(Rc<str>),
    List(Rc<[Self]>),
    /// Members in the order of their creation, with unique keys.
    Map(Rc<[(Self, Self)]>),
    Optional(Option<Rc<Self>>),
    Quantity(Rc<Quantity>),
    Type(ValKind),
}

/// The kind of a [`Val`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ValKind {
    Null,
    Bool,
    Int,
    Double,
    String,
    List,
    Map,
    Optional,
    Quantity,
    Type,
}

impl ValKind {
    /// The name of the type in CEL.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Null => "null_type",
            Self::Bool => "bool",
            Self::Int => "int",
            Self::Double => "double",
            Self::String => "string",
            Self::List => "list",
            Self::Map => "map",
            Self::Optional => "optional_type",
            Self::Quantity => "kubernetes.Quantity",
            Self::Type => "type",
        }
    }

    /// The kind with its article, for messages.
    pub(super) fn article(self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool => "a boolean",
            Self::Int => "an integer",
            Self::Double => "a double",
            Self::String => "a string",
            Self::List => "a list",
            Self::Map => "a map",
            Self::Optional => "an optional",
            Self::Quantity => "a quantity",
            Self::Type => "a type",
        }
    }

    /// The kind of the value in JSON, if it is always the same.
    pub(super) fn as_json(self) -> Option<json::Kind> {
        Some(match self {
            Self::Null => json::Kind::Null,
            Self::Bool => json::Kind::Bool,
            Self::Int | Self::Double => json::Kind::Number,
            Self::String | Self::Quantity => json::Kind::String,
            Self::List => json::Kind::Array,
            Self::Map => json::Kind::Object,
            Self::Optional | Self::Type => return None,
        })
    }

    /// The type that `name` refers to in an expression.
    pub(super) fn named(name: &str) -> Option<Self> {
        [Self::Null, Self::Bool, Self::Int, Self::Double, Self::String, Self::List, Self::Map, Self::Type]
            .into_iter()
            .find(|kind| kind.name() == name)
    }
}

/// A [`Val`] for pattern matching, independent of whether it is computed or from a document.
pub(super) enum View<'x, 'v, 'a> {
    Null,
    Bool(bool),
    Int(i64),
    Double(f64),
    Text(&'x str),
    List(Items<'x, 'v, 'a>),
    Map(Members<'x, 'v, 'a>),
    Optional(Option<&'x Val<'v, 'a>>),
    Quantity(&'x Quantity),
    Type(ValKind),
}

#[derive(Clone, Copy)]
pub(super) enum Items<'x, 'v, 'a> {
    Json(&'v [Value<'a>]),
    Built(&'x [Val<'v, 'a>]),
}

#[derive(Clone, Copy)]
pub(super) enum Members<'x, 'v, 'a> {
    Json(&'v Object<'a>),
    Built(&'x [(Val<'v, 'a>, Val<'v, 'a>)]),
}

impl<'v, 'a> Val<'v, 'a> {
    pub(super) fn view(&self) -> View<'_, 'v, 'a> {
        match self {
            Self::Json(value) => match value {
                Value::Null => View::Null,
                Value::Bool(flag) => View::Bool(*flag),
                // A number that is not spelled as an integer, or does not fit into 64 bits, is a double, as
                // in Kubernetes.
                Value::Number(number) => number
                    .as_i64()
                    .map_or_else(|| View::Double(number.as_str().parse().unwrap_or(f64::NAN)), View::Int),
                Value::String(text) => View::Text(text),
                Value::Array(items) => View::List(Items::Json(items)),
                Value::Object(object) => View::Map(Members::Json(object)),
            },
            Self::Null => View::Null,
            Self::Bool(flag) => View::Bool(*flag),
            Self::Int(number) => View::Int(*number),
            Self::Double(number) => View::Double(*number),
            Self::Str(text) => View::Text(text),
            Self::Text(text) => View::Text(text),
            Self::List(items) => View::List(Items::Built(items)),
            Self::Map(members) => View::Map(Members::Built(members)),
            Self::Optional(value) => View::Optional(value.as_deref()),
            Self::Quantity(quantity) => View::Quantity(quantity),
            Self::Type(kind) => View::Type(*kind),
        }
    }

    pub(super) fn kind(&self) -> ValKind {
        match self.view() {
            View::Null => ValKind::Null,
            View::Bool(_) => ValKind::Bool,
            View::Int(_) => ValKind::Int,
            View::Double(_) => ValKind::Double,
            View::Text(_) => ValKind::String,
            View::List(_) => ValKind::List,
            View::Map(_) => ValKind::Map,
            View::Optional(_) => ValKind::Optional,
            View::Quantity(_) => ValKind::Quantity,
            View::Type(_) => ValKind::Type,
        }
    }

    pub(super) fn as_text(&self) -> Option<&str> {
        match self.view() {
            View::Text(text) => Some(text),
            _ => None,
        }
    }

    /// A computed string. Fails if it is too long.
    pub(super) fn text(text: &str, budget: &mut Budget) -> Result<Self, ErrorKind> {
        check_length(text.len())?;
        budget.spend_text(text.len())?;
        Ok(Self::Text(text.into()))
    }

    /// A computed list. Fails if it is too long.
    pub(super) fn list(items: Vec<Self>, budget: &mut Budget) -> Result<Self, ErrorKind> {
        check_count(items.len())?;
        budget.spend(items.len())?;
        Ok(Self::List(items.into()))
    }

    /// A substring, by byte offsets.
    pub(super) fn part(&self, start: usize, end: usize, budget: &mut Budget) -> Result<Self, ErrorKind> {
        match self {
            Self::Json(Value::String(text)) => Ok(Self::Str(&text[start..end])),
            Self::Str(text) => Ok(Self::Str(&text[start..end])),
            other => Self::text(&other.as_text().unwrap_or_default()[start..end], budget),
        }
    }
}

/// Fails if a computed string is too long.
pub(super) fn check_length(bytes: usize) -> Result<(), ErrorKind> {
    if bytes > MAX_TEXT_BYTES {
        return Err(ErrorKind::Limit("a string grows longer than the 256 KiB that are allowed"));
    }
    Ok(())
}

/// Fails if a computed list or map has too many items.
pub(super) fn check_count(items: usize) -> Result<(), ErrorKind> {
    if items > MAX_ITEMS {
        return Err(ErrorKind::Limit("a list or map grows beyond the 10,000 items that are allowed"));
    }
    Ok(())
}

impl<'x, 'v, 'a> Items<'x, 'v, 'a> {
    pub(super) fn len(self) -> usize {
        match self {
            Self::Json(items) => items.len(),
            Self::Built(items) => items.len(),
        }
    }

    pub(super) fn get(self, index: usize) -> Option<Val<'v, 'a>> {
        match self {
            Self::Json(items) => items.get(index).map(Val::Json),
            Self::Built(items) => items.get(index).cloned(),
        }
    }

    pub(super) fn iter(self) -> impl Iterator<Item = Val<'v, 'a>> + 'x
    where
        'v: 'x,
        'a: 'x,
    {
        (0..self.len()).filter_map(move |index| self.get(index))
    }
}

impl<'v, 'a> Members<'_, 'v, 'a> {
    pub(super) fn len(self) -> usize {
        match self {
            Self::Json(object) => object.len(),
            Self::Built(members) => members.len(),
        }
    }

    /// The member `name`. The search is linear. Its cost depends on the number of members and on the length
    /// of the name, because other names may share a prefix with it.
    pub(super) fn get(self, name: &str, budget: &mut Budget) -> Result<Option<Val<'v, 'a>>, ErrorKind> {
        spend_search(self.len(), name, budget)?;
        Ok(match self {
            Self::Json(object) => object.get(name).map(Val::Json),
            Self::Built(members) => {
                members.iter().find(|(key, _)| key.as_text() == Some(name)).map(|(_, value)| value.clone())
            }
        })
    }

    /// The members in order. Keys are strings.
    pub(super) fn pairs(self) -> Vec<(Val<'v, 'a>, Val<'v, 'a>)> {
        match self {
            Self::Json(object) => {
                object.iter().map(|(key, value)| (Val::Str(key), Val::Json(value))).collect()
            }
            Self::Built(members) => members.to_vec(),
        }
    }
}

/// Takes the steps for searching a name among `among` names.
pub(super) fn spend_search(among: usize, name: &str, budget: &mut Budget) -> Result<(), ErrorKind> {
    const NAMES_PER_STEP: usize = 8;
    const BYTES_PER_STEP: usize = 64;
    budget.spend(among.saturating_mul(1 + name.len() / BYTES_PER_STEP) / NAMES_PER_STEP)
}

/// Whether two values are equal: numbers by value, lists item by item, maps in any order.
pub(super) fn equal(a: &Val<'_, '_>, b: &Val<'_, '_>, budget: &mut Budget) -> Result<bool, ErrorKind> {
    budget.spend(1)?;
    if let (Val::Json(a), Val::Json(b)) = (a, b)
        && a.is_same(b)
    {
        return Ok(true);
    }
    Ok(match (a.view(), b.view()) {
        (View::Null, View::Null) | (View::Optional(None), View::Optional(None)) => true,
        (View::Bool(a), View::Bool(b)) => a == b,
        (View::Int(_) | View::Double(_), View::Int(_) | View::Double(_)) => {
            numbers(a, b) == Some(Ordering::Equal)
        }
        (View::Text(a), View::Text(b)) => {
            budget.spend_text(a.len().min(b.len()))?;
            a == b
        }
        (View::List(a), View::List(b)) => {
            if a.len() != b.len() {
                return Ok(false);
            }
            for (a, b) in a.iter().zip(b.iter()) {
                if !equal(&a, &b, budget)? {
                    return Ok(false);
                }
            }
            true
        }
        (View::Map(a), View::Map(b)) => return equal_maps(a, b, budget),
        (View::Optional(Some(a)), View::Optional(Some(b))) => return equal(a, b, budget),
        (View::Quantity(a), View::Quantity(b)) => a == b,
        (View::Type(a), View::Type(b)) => a == b,
        _ => false,
    })
}

fn equal_maps(
    a: Members<'_, '_, '_>,
    b: Members<'_, '_, '_>,
    budget: &mut Budget,
) -> Result<bool, ErrorKind> {
    if a.len() != b.len() {
        return Ok(false);
    }
    budget.spend(a.len())?;
    for (key, value) in a.pairs() {
        let other = b.get(key.as_text().unwrap_or_default(), budget)?;
        match other {
            Some(other) if equal(&value, &other, budget)? => {}
            _ => return Ok(false),
        }
    }
    Ok(true)
}

/// The order of two numbers; `None` if one of them is NaN or not a number.
fn numbers(a: &Val<'_, '_>, b: &Val<'_, '_>) -> Option<Ordering> {
    match (a.view(), b.view()) {
        (View::Int(a), View::Int(b)) => Some(a.cmp(&b)),
        (View::Double(a), View::Double(b)) => a.partial_cmp(&b),
        (View::Int(a), View::Double(b)) => mixed(a, b),
        (View::Double(a), View::Int(b)) => mixed(b, a).map(Ordering::reverse),
        _ => None,
    }
}

/// The order of an integer and a double, compared exactly.
fn mixed(a: i64, b: f64) -> Option<Ordering> {
    const BEYOND: f64 = 9_223_372_036_854_775_808.0;
    if b.is_nan() {
        return None;
    }
    if b >= BEYOND {
        return Some(Ordering::Less);
    }
    if b < -BEYOND {
        return Some(Ordering::Greater);
    }
    #[expect(clippy::cast_possible_truncation, reason = "the fraction is looked at below, and the rest fits")]
    let whole = b.trunc() as i64;
    Some(a.cmp(&whole).then_with(|| 0.0_f64.partial_cmp(&b.fract()).unwrap_or(Ordering::Equal)))
}

pub(super) enum Compared {
    Ordered(Ordering),
    /// One of them is NaN.
    Unordered,
    /// Values of these kinds have no order.
    Senseless,
}

/// Compares two numbers, booleans or strings.
pub(super) fn compare(a: &Val<'_, '_>, b: &Val<'_, '_>, budget: &mut Budget) -> Result<Compared, ErrorKind> {
    Ok(match (a.view(), b.view()) {
        (View::Int(_) | View::Double(_), View::Int(_) | View::Double(_)) => {
            numbers(a, b).map_or(Compared::Unordered, Compared::Ordered)
        }
        (View::Bool(a), View::Bool(b)) => Compared::Ordered(a.cmp(&b)),
        (View::Text(a), View::Text(b)) => {
            budget.spend_text(a.len().min(b.len()))?;
            Compared::Ordered(a.cmp(b))
        }
        _ => Compared::Senseless,
    })
}
