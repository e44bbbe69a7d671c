//! Values of a checked text that nothing has been built from yet.

use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt;

use super::build::Builder;
use super::cursor::Cursor;
use super::error::duplicate;
use super::text::Container;
use super::{Kind, MAX_DEPTH, Number, ParseError, Pointer, Value};

/// A value in a [`Text`](super::Text), from which nothing has been built yet.
///
/// Its grammar has been checked. Names that are there twice, surrogates and depth are looked at where
/// something is read out of it.
#[derive(Clone, Copy)]
pub struct Raw<'a> {
    /// The whole text that this is a part of.
    whole: &'a str,
    containers: &'a [Container],
    start: usize,
    end: usize,
    /// The first container that opens here or behind.
    number: usize,
}

impl<'a> Raw<'a> {
    /// The whole value of a text, without the space around it.
    pub(super) fn new(whole: &'a str, containers: &'a [Container], start: usize, end: usize) -> Self {
        Self { whole, containers, start, end, number: 0 }
    }

    /// The text of this value alone.
    pub fn text(&self) -> &'a str {
        &self.whole[self.start..self.end]
    }

    /// How deep containers are nested: 0 for a scalar, 1 for `[]`.
    pub fn depth(&self) -> usize {
        match self.kind() {
            Kind::Array | Kind::Object => {
                self.containers.get(self.number).map_or(0, |own| own.depth as usize)
            }
            _ => 0,
        }
    }

    /// What the value is.
    pub fn kind(&self) -> Kind {
        match self.whole.as_bytes().get(self.start) {
            Some(b'{') => Kind::Object,
            Some(b'[') => Kind::Array,
            Some(b'"') => Kind::String,
            Some(b't' | b'f') => Kind::Bool,
            Some(b'n') | None => Kind::Null,
            Some(_) => Kind::Number,
        }
    }

    /// Whether this is `null`.
    pub fn is_null(&self) -> bool {
        self.kind() == Kind::Null
    }

    /// The string, if it is one.
    pub fn as_str(&self) -> Result<Option<Cow<'a, str>>, ParseError> {
        match self.kind() {
            Kind::String => self.cursor().string().map(Some),
            _ => Ok(None),
        }
    }

    /// The number, if it is one.
    pub fn as_number(&self) -> Option<Number<'a>> {
        (self.kind() == Kind::Number).then(|| Number::from_checked(self.text()))
    }

    /// Builds the tree. Refuses names that are there twice, at any level, and more than [`MAX_DEPTH`] levels.
    pub fn to_value(&self) -> Result<Value<'a>, ParseError> {
        if self.depth() > MAX_DEPTH {
            return Err(ParseError::TooDeep { depth: self.depth() });
        }
        Builder::new(self.text()).value(MAX_DEPTH)
    }

    /// The members of this object, in order; none if it is no object.
    pub fn members(&self) -> Result<Members<'a>, ParseError> {
        let mut members = Vec::new();
        let mut walk = self.walk();
        if walk.cursor.enter_object() {
            while walk.cursor.another_member(members.is_empty())? {
                members.push((walk.cursor.name()?, walk.value()?));
            }
        }
        Ok(Members(members))
    }

    /// The items of this list, in order; none if it is no list.
    pub fn items(&self) -> Result<Vec<Self>, ParseError> {
        let mut items = Vec::new();
        let mut walk = self.walk();
        if walk.cursor.enter_list() {
            while walk.cursor.another_item(items.is_empty())? {
                items.push(walk.value()?);
            }
        }
        Ok(items)
    }

    /// The member `name`; `None` if it is missing or this is no object. Refuses a name that is there twice.
    pub fn get(&self, name: &str) -> Result<Option<Self>, ParseError> {
        let mut walk = self.walk();
        let (mut found, mut first) = (None, true);
        if !walk.cursor.enter_object() {
            return Ok(None);
        }
        while walk.cursor.another_member(first)? {
            first = false;
            let offset = walk.cursor.offset();
            let wanted = walk.cursor.name()? == name;
            let value = walk.value()?;
            if wanted && found.replace(value).is_some() {
                return Err(duplicate(name, offset));
            }
        }
        Ok(found)
    }

    /// The value at `pointer`, through objects only. Refuses a name of the way that is there twice.
    pub fn at(&self, pointer: &Pointer) -> Result<Option<Self>, ParseError> {
        let mut place = *self;
        for token in pointer.tokens() {
            match place.get(token)? {
                Some(next) => place = next,
                None => return Ok(None),
            }
        }
        Ok(Some(place))
    }

    fn cursor(&self) -> Cursor<'a> {
        Cursor::at(self.whole, self.start)
    }

    /// A walk over what is in this container.
    fn walk(&self) -> Walk<'a> {
        Walk {
            cursor: self.cursor(),
            containers: self.containers,
            whole: self.whole,
            number: self.number + 1,
        }
    }
}

/// A walk over the values of a container, which passes over the containers in it.
struct Walk<'a> {
    cursor: Cursor<'a>,
    containers: &'a [Container],
    whole: &'a str,
    /// The next container that opens.
    number: usize,
}

impl<'a> Walk<'a> {
    /// Passes the value that begins here.
    fn value(&mut self) -> Result<Raw<'a>, ParseError> {
        let (start, number) = (self.cursor.offset(), self.number);
        match (self.cursor.peek(), self.containers.get(number)) {
            (Some(b'{' | b'['), Some(container)) => {
                self.cursor.go(container.end as usize);
                self.number = container.next as usize;
            }
            _ => self.cursor.skip_scalar()?,
        }
        Ok(Raw { whole: self.whole, containers: self.containers, start, end: self.cursor.offset(), number })
    }
}

/// Up to so many names are compared with each other; more go through a set.
const FEW: usize = 32;
/// The members of an object as text, in order. A name may be there twice: see [`repeated`](Self::repeated).
#[derive(Clone, Debug, Default)]
pub struct Members<'a>(Vec<(Cow<'a, str>, Raw<'a>)>);

impl<'a> Members<'a> {
    /// The first member `name`.
    pub fn get(&self, name: &str) -> Option<Raw<'a>> {
        self.0.iter().find(|(key, _)| key == name).map(|(_, value)| *value)
    }

    /// How often `name` is there.
    pub fn count(&self, name: &str) -> usize {
        self.0.iter().filter(|(key, _)| key == name).count()
    }

    /// A name that is there twice.
    pub fn repeated(&self) -> Option<&str> {
        let mut names = self.0.iter().map(|(name, _)| name.as_ref()).enumerate();
        if self.len() <= FEW {
            return names
                .find(|(at, name)| self.0[..*at].iter().any(|(before, _)| before == name))
                .map(|(_, name)| name);
        }
        let mut seen = HashSet::new();
        names.find(|(_, name)| !seen.insert(*name)).map(|(_, name)| name)
    }

    /// How many members there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl fmt::Debug for Raw<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text())
    }
}
