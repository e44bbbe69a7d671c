//! The JSON tree.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use super::{Number, ParseError, Pointer};

/// A JSON value.
///
/// Lists and objects are shared: a clone only increments a reference count, and
/// [`array_mut`](Self::array_mut) and [`object_mut`](Self::object_mut) copy one level if it is shared.
/// Equality is that of JSON patches: the spelling of numbers counts, the order of members does not.
#[derive(Clone)]
pub enum Value<'a> {
    /// `null`
    Null,
    /// `true` and `false`
    Bool(bool),
    /// A number with its spelling.
    Number(Number<'a>),
    /// An unescaped string.
    String(Cow<'a, str>),
    /// A list.
    Array(Arc<[Self]>),
    /// An object. Kubernetes calls it a map.
    Object(Object<'a>),
}

/// The type of a [`Value`], for messages and comparisons.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `null`
    Null,
    /// A boolean.
    Bool,
    /// A number of any spelling.
    Number,
    /// A string.
    String,
    /// A list.
    Array,
    /// An object.
    Object,
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Null => "null",
            Self::Bool => "a boolean",
            Self::Number => "a number",
            Self::String => "a string",
            Self::Array => "a list",
            Self::Object => "a map",
        })
    }
}

impl<'a> Value<'a> {
    /// Parses one value. Only white space may surround it. Fails like [`Text::parse`](super::Text::parse) and
    /// [`Raw::to_value`](super::Raw::to_value).
    pub fn parse(bytes: &'a [u8]) -> Result<Self, ParseError> {
        super::build::parse(bytes)
    }

    /// Creates a string.
    pub fn string(text: impl Into<Cow<'a, str>>) -> Self {
        Self::String(text.into())
    }

    /// Creates a list.
    pub fn array(items: Vec<Self>) -> Self {
        Self::Array(items.into())
    }

    /// Creates an empty object.
    pub fn empty_object() -> Self {
        Self::Object(Object::new())
    }

    /// The type of this value.
    pub fn kind(&self) -> Kind {
        match self {
            Self::Null => Kind::Null,
            Self::Bool(_) => Kind::Bool,
            Self::Number(_) => Kind::Number,
            Self::String(_) => Kind::String,
            Self::Array(_) => Kind::Array,
            Self::Object(_) => Kind::Object,
        }
    }

    /// Whether this is `null`.
    pub fn is_null(&self) -> bool {
        matches!(self, Self::Null)
    }

    /// The string. `None` for other values.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Self::String(text) => Some(text),
            _ => None,
        }
    }

    /// The boolean. `None` for other values.
    pub fn as_bool(&self) -> Option<bool> {
        match self {
            Self::Bool(flag) => Some(*flag),
            _ => None,
        }
    }

    /// The number. `None` for other values.
    pub fn as_number(&self) -> Option<&Number<'a>> {
        match self {
            Self::Number(number) => Some(number),
            _ => None,
        }
    }

    /// The items of the list. `None` for other values.
    pub fn as_array(&self) -> Option<&[Self]> {
        match self {
            Self::Array(items) => Some(items),
            _ => None,
        }
    }

    /// The object. `None` for other values.
    pub fn as_object(&self) -> Option<&Object<'a>> {
        match self {
            Self::Object(object) => Some(object),
            _ => None,
        }
    }

    /// The mutable items of the list. They are copied first if they are shared.
    pub fn array_mut(&mut self) -> Option<&mut [Self]> {
        match self {
            Self::Array(items) => Some(Arc::make_mut(items)),
            _ => None,
        }
    }

    /// The mutable object. `None` for other values.
    pub fn object_mut(&mut self) -> Option<&mut Object<'a>> {
        match self {
            Self::Object(object) => Some(object),
            _ => None,
        }
    }

    /// The member `name`. `None` if it is missing or the value is not an object.
    pub fn get(&self, name: &str) -> Option<&Self> {
        self.as_object()?.get(name)
    }

    /// The value at `pointer`: members by name, items by index.
    pub fn at(&self, pointer: &Pointer) -> Option<&Self> {
        pointer.tokens().iter().try_fold(self, |value, token| match value {
            Self::Object(object) => object.get(token),
            Self::Array(items) => items.get(index(token)?),
            _ => None,
        })
    }

    /// Whether both values share their memory, so that they can't differ.
    pub fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Array(a), Self::Array(b)) => Arc::ptr_eq(a, b),
            (Self::Object(a), Self::Object(b)) => a.is_same(b),
            _ => false,
        }
    }

    /// A copy with all integers [as an API server stores them](Number::as_stored).
    pub fn as_stored(&self) -> Value<'static> {
        match self {
            Self::Number(number) => Value::Number(number.as_stored()),
            Self::Array(items) => Value::array(items.iter().map(Self::as_stored).collect()),
            Self::Object(object) => Value::Object(
                object.iter().map(|(name, value)| (name.to_owned(), value.as_stored())).collect(),
            ),
            other => other.clone().into_owned(),
        }
    }

    /// The same value, without a borrow of the text.
    pub fn into_owned(self) -> Value<'static> {
        match self {
            Self::Null => Value::Null,
            Self::Bool(flag) => Value::Bool(flag),
            Self::Number(number) => Value::Number(number.into_owned()),
            Self::String(text) => Value::String(Cow::Owned(text.into_owned())),
            Self::Array(items) => Value::array(items.iter().cloned().map(Value::into_owned).collect()),
            Self::Object(object) => Value::Object(
                object.iter().map(|(name, value)| (name.to_owned(), value.clone().into_owned())).collect(),
            ),
        }
    }
}

/// A list index as in RFC 6901: digits without a leading zero.
fn index(token: &str) -> Option<usize> {
    let canonical = token == "0" || (!token.starts_with(['0', '+']) && !token.is_empty());
    if canonical { token.parse().ok() } else { None }
}

impl PartialEq for Value<'_> {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Null, Self::Null) => true,
            (Self::Bool(a), Self::Bool(b)) => a == b,
            (Self::Number(a), Self::Number(b)) => a == b,
            (Self::String(a), Self::String(b)) => a == b,
            (Self::Array(a), Self::Array(b)) => Arc::ptr_eq(a, b) || a == b,
            (Self::Object(a), Self::Object(b)) => a == b,
            _ => false,
        }
    }
}

impl Eq for Value<'_> {}

impl From<bool> for Value<'_> {
    fn from(flag: bool) -> Self {
        Self::Bool(flag)
    }
}

impl From<i64> for Value<'_> {
    fn from(number: i64) -> Self {
        Self::Number(number.into())
    }
}

impl<'a> From<&'a str> for Value<'a> {
    fn from(text: &'a str) -> Self {
        Self::String(Cow::Borrowed(text))
    }
}

impl From<String> for Value<'_> {
    fn from(text: String) -> Self {
        Self::String(Cow::Owned(text))
    }
}

/// The members of a JSON object in the order of their text. Names are unique.
///
/// Clones share the members. A change copies them first if they are shared. To build a large object, collect
/// it.
#[derive(Clone)]
pub struct Object<'a>(Arc<[Member<'a>]>);

pub(super) type Member<'a> = (Cow<'a, str>, Value<'a>);

/// Objects with more members than this are compared with an index.
const INDEXED_ABOVE: usize = 16;

impl<'a> Object<'a> {
    /// An object without members.
    pub fn new() -> Self {
        Self(Arc::from([]))
    }

    /// Creates an object from members with unique names.
    pub(super) fn from_checked(members: impl Iterator<Item = Member<'a>>) -> Self {
        Self(members.collect())
    }

    fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// The number of members.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are no members.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The member `name`.
    pub fn get(&self, name: &str) -> Option<&Value<'a>> {
        self.0.iter().find(|(key, _)| key == name).map(|(_, value)| value)
    }

    /// The mutable member `name`.
    pub fn get_mut(&mut self, name: &str) -> Option<&mut Value<'a>> {
        let position = self.position(name)?;
        Some(&mut Arc::make_mut(&mut self.0)[position].1)
    }

    /// Sets the member `name`, in its place if it exists, else at the end. Returns the previous value.
    pub fn insert(&mut self, name: impl Into<Cow<'a, str>>, value: Value<'a>) -> Option<Value<'a>> {
        let name = name.into();
        if let Some(present) = self.get_mut(&name) {
            return Some(std::mem::replace(present, value));
        }
        self.0 = self.0.iter().cloned().chain([(name, value)]).collect();
        None
    }

    /// Inserts the new member `name` before `position`, or at the end if the position is too large.
    pub fn insert_at(&mut self, position: usize, name: impl Into<Cow<'a, str>>, value: Value<'a>) {
        let mut members = self.0.to_vec();
        members.insert(position.min(members.len()), (name.into(), value));
        self.0 = members.into();
    }

    /// Removes and returns the member `name`. The others keep their order.
    pub fn remove(&mut self, name: &str) -> Option<Value<'a>> {
        let position = self.position(name)?;
        let mut members = self.0.to_vec();
        let (_, value) = members.remove(position);
        self.0 = members.into();
        Some(value)
    }

    fn position(&self, name: &str) -> Option<usize> {
        self.0.iter().position(|(key, _)| key == name)
    }

    /// The members in order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Value<'a>)> {
        self.0.iter().map(|(name, value)| (name.as_ref(), value))
    }

    /// An index of the members for lookups in constant time. It pays off for walks over all members.
    pub fn index(&self) -> Index<'_, 'a> {
        Index { object: self, names: (self.len() > INDEXED_ABOVE).then(|| self.iter().collect()) }
    }
}

/// An index of the members of an [`Object`], for lookups in constant time.
#[derive(Debug)]
pub struct Index<'o, 'a> {
    object: &'o Object<'a>,
    names: Option<HashMap<&'o str, &'o Value<'a>>>,
}

impl<'o, 'a> Index<'o, 'a> {
    /// The member `name`.
    pub fn get(&self, name: &str) -> Option<&'o Value<'a>> {
        match &self.names {
            Some(names) => names.get(name).copied(),
            None => self.object.get(name),
        }
    }
}

impl PartialEq for Object<'_> {
    fn eq(&self, other: &Self) -> bool {
        if self.is_same(other) {
            return true;
        }
        if self.len() != other.len() {
            return false;
        }
        // The order is almost always the same. Names are looked up only from the first difference on.
        let same = self.0.iter().zip(other.0.iter()).take_while(|((a, _), (b, _))| a == b).count();
        if !self.0[..same].iter().zip(&other.0[..same]).all(|((_, a), (_, b))| a == b) {
            return false;
        }
        if same == self.len() {
            return true;
        }
        let index = other.index();
        self.0[same..].iter().all(|(name, value)| index.get(name) == Some(value))
    }
}

impl Eq for Object<'_> {}

impl Default for Object<'_> {
    fn default() -> Self {
        Self::new()
    }
}

impl<'a, N: Into<Cow<'a, str>>> FromIterator<(N, Value<'a>)> for Object<'a> {
    /// A later member replaces an earlier member with the same name.
    fn from_iter<I: IntoIterator<Item = (N, Value<'a>)>>(members: I) -> Self {
        let mut list: Vec<Member<'a>> = Vec::new();
        let mut positions: HashMap<Cow<'a, str>, usize> = HashMap::new();
        for (name, value) in members {
            let name = name.into();
            if let Some(&position) = positions.get(&name) {
                list[position].1 = value;
            } else {
                positions.insert(name.clone(), list.len());
                list.push((name, value));
            }
        }
        Self(list.into())
    }
}
