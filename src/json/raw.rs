//! Values in checked text, without a tree.

use std::borrow::Cow;
use std::fmt;

use super::build::Builder;
use super::cursor::Cursor;
use super::error::duplicate;
use super::text::Text;
use super::walk::ValueWalk;
use super::{Kind, MAX_DEPTH, Number, ParseError, Pointer, Value};

/// A value in a [`Text`], without a tree.
///
/// The grammar has been checked. A caller that looks up names should first check for duplicates with
/// [`check_names`](Self::check_names), because a lookup returns the first of several.
#[derive(Clone, Copy)]
pub struct Raw<'a> {
    /// The whole text.
    text: &'a Text<'a>,
    start: usize,
    end: usize,
    /// The number of the first container that opens here or later.
    number: usize,
}

impl<'a> Raw<'a> {
    /// The value of a text, without the white space around it.
    pub(super) fn new(text: &'a Text<'a>, start: usize, end: usize) -> Self {
        Self { text, start, end, number: 0 }
    }

    /// The text of this value.
    pub fn text(&self) -> &'a str {
        &self.text.whole()[self.start..self.end]
    }

    /// The depth of nested containers: 0 for a scalar, 1 for `[]`.
    pub fn depth(&self) -> usize {
        match self.kind() {
            Kind::Array | Kind::Object => self.text.depth(self.number),
            _ => 0,
        }
    }

    /// The type of the value.
    pub fn kind(&self) -> Kind {
        match self.text.whole().as_bytes().get(self.start) {
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

    /// The string. `None` for other values.
    pub fn as_str(&self) -> Result<Option<Cow<'a, str>>, ParseError> {
        match self.kind() {
            Kind::String => self.cursor().string().map(Some),
            _ => Ok(None),
        }
    }

    /// The number. `None` for other values.
    pub fn as_number(&self) -> Option<Number<'a>> {
        (self.kind() == Kind::Number).then(|| Number::from_checked(self.text()))
    }

    /// Builds the tree. Fails for duplicate names at any level, and for more than [`MAX_DEPTH`] levels.
    pub fn to_value(&self) -> Result<Value<'a>, ParseError> {
        if self.depth() > MAX_DEPTH {
            return Err(ParseError::TooDeep { depth: self.depth() });
        }
        Builder::new(self.text()).value(MAX_DEPTH)
    }

    /// The members of an object in order. Empty for other values.
    pub fn members(&self) -> Result<Members<'a>, ParseError> {
        // The envelope of a request and the metadata of an object have about this number of members.
        let mut members = Vec::with_capacity(12);
        let mut walk = self.walk();
        if walk.cursor.enter_object() {
            while walk.cursor.another_member(members.is_empty())? {
                members.push((walk.cursor.name()?, self.value(&mut walk)?));
            }
        }
        Ok(Members(members))
    }

    /// The items of a list in order. Empty for other values.
    pub fn items(&self) -> Result<Vec<Self>, ParseError> {
        let mut items = Vec::new();
        let mut walk = self.walk();
        if walk.cursor.enter_list() {
            while walk.cursor.another_item(items.is_empty())? {
                items.push(self.value(&mut walk)?);
            }
        }
        Ok(items)
    }

    /// The first member `name`. `None` if it is missing or the value is not an object.
    pub fn get(&self, name: &str) -> Result<Option<Self>, ParseError> {
        let mut walk = self.walk();
        let mut first = true;
        if !walk.cursor.enter_object() {
            return Ok(None);
        }
        while walk.cursor.another_member(first)? {
            first = false;
            if walk.cursor.name_is(name)? {
                return self.value(&mut walk).map(Some);
            }
            walk.pass()?;
        }
        Ok(None)
    }

    /// The value at `pointer`, which may go through objects only.
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

    /// Fails if an object at any level has duplicate names.
    pub fn check_names(&self) -> Result<(), ParseError> {
        match self.text.repeated(self.start, self.end) {
            None => Ok(()),
            Some(place) => Err(duplicate(&Cursor::at(self.text.whole(), place).string()?, place)),
        }
    }

    /// The byte offset of this value in the whole text.
    pub fn offset(&self) -> usize {
        self.start
    }

    /// The byte offset of the end of this value.
    pub fn end(&self) -> usize {
        self.end
    }

    fn cursor(&self) -> Cursor<'a> {
        Cursor::at(self.text.whole(), self.start)
    }

    /// A walk over the values in this container.
    fn walk(&self) -> ValueWalk<'a> {
        ValueWalk::new(self.cursor(), self.text.containers(), self.number + 1)
    }

    /// Consumes and returns the next value of the walk.
    #[inline]
    fn value(&self, walk: &mut ValueWalk<'a>) -> Result<Self, ParseError> {
        let (start, number) = (walk.cursor.offset(), walk.number());
        walk.pass()?;
        Ok(Self { text: self.text, start, end: walk.cursor.offset(), number })
    }
}

/// The members of an object as text, in order. Names may be duplicate.
#[derive(Clone, Debug, Default)]
pub struct Members<'a>(Vec<(Cow<'a, str>, Raw<'a>)>);

impl<'a> Members<'a> {
    /// The first member `name`.
    pub fn get(&self, name: &str) -> Option<Raw<'a>> {
        self.0.iter().find(|(key, _)| key == name).map(|(_, value)| *value)
    }

    /// The number of members `name`.
    pub fn count(&self, name: &str) -> usize {
        self.0.iter().filter(|(key, _)| key == name).count()
    }

    /// The members in order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, Raw<'a>)> {
        self.0.iter().map(|(name, value)| (name.as_ref(), *value))
    }

    /// The number of members.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are no members.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl fmt::Debug for Raw<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text())
    }
}
