//! Checked text that nothing has been built from yet.

use std::borrow::Cow;
use std::fmt;

use super::parse::{Cursor, Names, duplicate};
use super::{Kind, MAX_DEPTH, Number, ParseError, Pointer, Value};

/// A slice of text that is one JSON value, without space around it.
///
/// Its grammar has been checked. Names that are there twice, surrogates and depth are looked at where
/// something is read out of it.
#[derive(Clone, Copy)]
pub struct Raw<'a> {
    text: &'a str,
    depth: usize,
}

impl<'a> Raw<'a> {
    /// Checks `bytes`: UTF-8, one JSON value, nothing but space around it.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, ParseError> {
        let text = std::str::from_utf8(bytes)
            .map_err(|error| ParseError::Encoding { offset: error.valid_up_to() })?;
        let mut cursor = Cursor::new(text);
        cursor.skip_space();
        let start = cursor.offset();
        let depth = cursor.skip_value()?;
        let raw = Self { text: cursor.since(start), depth };
        cursor.skip_space();
        if cursor.at_end() { Ok(raw) } else { cursor.fail("something follows the value") }
    }

    /// The text.
    pub fn text(&self) -> &'a str {
        self.text
    }

    /// How deep containers are nested: 0 for a scalar, 1 for `[]`.
    pub fn depth(&self) -> usize {
        self.depth
    }

    /// What the value is.
    pub fn kind(&self) -> Kind {
        match self.text.as_bytes().first() {
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
            Kind::String => Cursor::new(self.text).string().map(Some),
            _ => Ok(None),
        }
    }

    /// The number, if it is one.
    pub fn as_number(&self) -> Option<Number<'a>> {
        (self.kind() == Kind::Number).then(|| Number::from_checked(self.text))
    }

    /// Builds the tree. Refuses names that are there twice, at any level, and more than [`MAX_DEPTH`] levels.
    pub fn to_value(&self) -> Result<Value<'a>, ParseError> {
        if self.depth > MAX_DEPTH {
            return Err(ParseError::TooDeep { depth: self.depth });
        }
        Cursor::new(self.text).value(MAX_DEPTH)
    }

    /// The members of this object, in order; none if it is no object. Refuses names that are there twice.
    pub fn members(&self) -> Result<Vec<(Cow<'a, str>, Self)>, ParseError> {
        let mut members = Vec::new();
        let mut names = Names::default();
        let mut cursor = Cursor::new(self.text);
        if !cursor.enter_object() {
            return Ok(members);
        }
        while cursor.another_member(members.is_empty())? {
            let offset = cursor.offset();
            let name = cursor.name()?;
            if !names.is_new(&name, &members) {
                return Err(duplicate(&name, offset));
            }
            let start = cursor.offset();
            let depth = cursor.skip_value()?;
            members.push((name, Self { text: cursor.since(start), depth }));
        }
        Ok(members)
    }

    /// The member `name`; `None` if it is missing or this is no object.
    pub fn get(&self, name: &str) -> Result<Option<Self>, ParseError> {
        Ok(self.members()?.into_iter().find_map(|(key, value)| (key == name).then_some(value)))
    }

    /// The value at `pointer`, through objects only. On the way, names that are there twice are refused.
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
}

impl fmt::Debug for Raw<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text)
    }
}
