//! Checked text that nothing has been built from yet.

use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt;

use super::build::Builder;
use super::cursor::Cursor;
use super::error::duplicate;
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
        let text = checked_text(bytes)?;
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
        Builder::new(self.text).value(MAX_DEPTH)
    }

    /// The members of this object, in order; none if it is no object.
    pub fn members(&self) -> Result<Members<'a>, ParseError> {
        let mut cursor = Cursor::new(self.text);
        if cursor.enter_object() { members(&mut cursor, |_, _| Ok(None)) } else { Ok(Members::default()) }
    }

    /// The items of this list, in order; none if it is no list.
    pub fn items(&self) -> Result<Vec<Self>, ParseError> {
        let mut items = Vec::new();
        let mut cursor = Cursor::new(self.text);
        if !cursor.enter_list() {
            return Ok(items);
        }
        while cursor.another_item(items.is_empty())? {
            items.push(value(&mut cursor)?);
        }
        Ok(items)
    }

    /// The member `name`; `None` if it is missing or this is no object. Refuses a name that is there twice.
    pub fn get(&self, name: &str) -> Result<Option<Self>, ParseError> {
        let mut cursor = Cursor::new(self.text);
        let (mut found, mut first) = (None, true);
        if !cursor.enter_object() {
            return Ok(None);
        }
        while cursor.another_member(first)? {
            first = false;
            let offset = cursor.offset();
            let wanted = cursor.name()? == name;
            let value = value(&mut cursor)?;
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
}

/// Up to so many names are compared with each other; more go through a set.
const FEW: usize = 32;

/// The members of an object as text, in order. A name may be there twice: see [`repeated`](Self::repeated).
#[derive(Clone, Debug, Default)]
pub struct Members<'a>(Vec<(Cow<'a, str>, Raw<'a>)>);

impl<'a> Members<'a> {
    /// Checks `bytes`, which are to be an object, and gives its members and those of its member `inner`, all in
    /// one pass over the text. Both are empty where there is no object.
    ///
    /// This is for an envelope that holds something large.
    pub fn parse_nested(bytes: &'a [u8], inner: &str) -> Result<(Self, Self), ParseError> {
        let text = checked_text(bytes)?;
        let mut cursor = Cursor::new(text);
        cursor.skip_space();
        if cursor.peek() != Some(b'{') {
            Raw::parse(bytes)?;
            return Ok((Self::default(), Self::default()));
        }
        cursor.enter_object();
        let mut nested = Self::default();
        let outer = members(&mut cursor, |name, cursor| {
            if name != inner || cursor.peek() != Some(b'{') {
                return Ok(None);
            }
            let start = cursor.offset();
            cursor.enter_object();
            nested = members(cursor, |_, _| Ok(None))?;
            let depth = 1 + nested.0.iter().map(|(_, value)| value.depth).max().unwrap_or_default();
            Ok(Some(Raw { text: cursor.since(start), depth }))
        })?;
        cursor.skip_space();
        if cursor.at_end() { Ok((outer, nested)) } else { cursor.fail("something follows the value") }
    }

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

fn checked_text(bytes: &[u8]) -> Result<&str, ParseError> {
    std::str::from_utf8(bytes).map_err(|error| ParseError::Encoding { offset: error.valid_up_to() })
}

/// Passes the value that begins here.
fn value<'a>(cursor: &mut Cursor<'a>) -> Result<Raw<'a>, ParseError> {
    let start = cursor.offset();
    let depth = cursor.skip_value()?;
    Ok(Raw { text: cursor.since(start), depth })
}

/// Reads the members of the object that has just been entered. `special` may read a value itself.
fn members<'a>(
    cursor: &mut Cursor<'a>,
    mut special: impl FnMut(&str, &mut Cursor<'a>) -> Result<Option<Raw<'a>>, ParseError>,
) -> Result<Members<'a>, ParseError> {
    let mut list = Vec::new();
    while cursor.another_member(list.is_empty())? {
        let name = cursor.name()?;
        let value = match special(&name, cursor)? {
            Some(value) => value,
            None => value(cursor)?,
        };
        list.push((name, value));
    }
    Ok(Members(list))
}

impl fmt::Debug for Raw<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text)
    }
}
