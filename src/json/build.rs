//! Builds trees from text.

use std::borrow::Cow;
use std::collections::HashSet;

use super::cursor::{Cursor, Result};
use super::error::{ParseError, duplicate};
use super::value::Member;
use super::{MAX_DEPTH, Number, Object, Value};

/// Objects with more members than this use a set to find duplicate names.
const SET_ABOVE: usize = 16;

/// Parses one value. Only white space may surround it.
pub(super) fn parse(bytes: &[u8]) -> Result<Value<'_>> {
    let text =
        std::str::from_utf8(bytes).map_err(|error| ParseError::Encoding { offset: error.valid_up_to() })?;
    let mut builder = Builder::new(text);
    builder.cursor.skip_space();
    let value = builder.value(MAX_DEPTH)?;
    builder.cursor.skip_space();
    if builder.cursor.at_end() { Ok(value) } else { builder.cursor.fail("something follows the value") }
}

/// Builds trees. All levels share one stack of items and one stack of members. A complete list or object is
/// moved from its stack in one allocation of the right size.
pub(super) struct Builder<'a> {
    cursor: Cursor<'a>,
    items: Vec<Value<'a>>,
    members: Vec<Member<'a>>,
}

impl<'a> Builder<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { cursor: Cursor::new(text), items: Vec::with_capacity(16), members: Vec::with_capacity(64) }
    }

    /// Builds the value at the cursor. `levels` is the number of containers that may still be opened.
    ///
    /// The caller has checked the depth of the text, which bounds the recursion.
    pub(super) fn value(&mut self, levels: usize) -> Result<Value<'a>> {
        match self.cursor.peek() {
            Some(b'{') => {
                self.cursor.enter_object();
                self.object(one_less(levels)?)
            }
            Some(b'[') => {
                self.cursor.enter_list();
                self.array(one_less(levels)?)
            }
            Some(b'"') => self.cursor.string().map(Value::String),
            Some(b'-' | b'0'..=b'9') => {
                let start = self.cursor.offset();
                self.cursor.skip_number()?;
                Ok(Value::Number(Number::from_checked(self.cursor.since(start))))
            }
            Some(b't') => self.cursor.literal("true").map(|()| Value::Bool(true)),
            Some(b'f') => self.cursor.literal("false").map(|()| Value::Bool(false)),
            Some(b'n') => self.cursor.literal("null").map(|()| Value::Null),
            Some(_) => self.cursor.fail("expected a value"),
            None => self.cursor.fail("the text ends where a value should be"),
        }
    }

    fn array(&mut self, levels: usize) -> Result<Value<'a>> {
        let base = self.items.len();
        while self.cursor.another_item(self.items.len() == base)? {
            let item = self.value(levels)?;
            self.items.push(item);
        }
        Ok(Value::Array(self.items.drain(base..).collect()))
    }

    fn object(&mut self, levels: usize) -> Result<Value<'a>> {
        let base = self.members.len();
        let mut names = Names::default();
        while self.cursor.another_member(self.members.len() == base)? {
            let offset = self.cursor.offset();
            let name = self.cursor.name()?;
            if !names.is_new(&name, &self.members[base..]) {
                return Err(duplicate(&name, offset));
            }
            let value = self.value(levels)?;
            self.members.push((name, value));
        }
        Ok(Value::Object(Object::from_checked(self.members.drain(base..))))
    }
}

fn one_less(levels: usize) -> Result<usize> {
    levels.checked_sub(1).ok_or(ParseError::TooDeep { depth: MAX_DEPTH + 1 })
}

/// The names of an object so far. The set is used only if there are many names.
#[derive(Default)]
struct Names<'a>(HashSet<Cow<'a, str>>);

impl<'a> Names<'a> {
    /// Whether `name` is not among the names of `members`. Between two calls, `members` may only grow.
    #[expect(clippy::ptr_arg, reason = "a borrowed name must go into the set as borrowed")]
    fn is_new(&mut self, name: &Cow<'a, str>, members: &[Member<'a>]) -> bool {
        if members.len() < SET_ABOVE {
            return members.iter().all(|(present, _)| present != name);
        }
        if self.0.is_empty() {
            self.0.extend(members.iter().map(|(present, _)| present.clone()));
        }
        self.0.insert(name.clone())
    }
}
