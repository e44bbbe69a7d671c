//! An object while rules change it.

use super::{Undo, locate, pattern};
use crate::domain::Failure;
use crate::json::{ParseError, Pointer, Raw, Value};
use crate::patch::{Patch, diff};

/// An object before the rules: text, of which only the places that are asked for are built, or a value.
#[derive(Clone, Debug)]
pub enum ObjectSource<'a> {
    Text(Raw<'a>),
    Value(Value<'a>),
}

/// An object, and what rules have made of it so far.
///
/// Pointers lead through maps. Missing and null maps on the way count as empty; anything else on the way is a
/// failure that names it.
#[derive(Clone, Debug)]
pub struct Draft<'a> {
    original: Value<'a>,
    value: Value<'a>,
    changes: usize,
}

impl<'a> ObjectSource<'a> {
    /// The value at `pointer`. Fails if a map in it has a name twice.
    pub fn at(&self, pointer: &Pointer) -> Result<Option<Value<'a>>, ParseError> {
        match self {
            Self::Text(object) => object.at(pointer)?.map(|found| found.to_value()).transpose(),
            Self::Value(object) => Ok(object.at(pointer).cloned()),
        }
    }
}

impl<'a> From<Raw<'a>> for ObjectSource<'a> {
    fn from(object: Raw<'a>) -> Self {
        Self::Text(object)
    }
}

impl<'a> Draft<'a> {
    /// Fails if a map of the object has a name twice.
    pub fn new(object: &ObjectSource<'a>) -> Result<Self, Failure> {
        let original = match object {
            ObjectSource::Text(object) => object.to_value().map_err(|error| {
                Failure::unprocessable(format!("request.object: {error}; change the object"))
            })?,
            ObjectSource::Value(object) => object.clone(),
        };
        Ok(Self { value: original.clone(), original, changes: 0 })
    }

    /// The value at `pointer`. `None` if it, or a map on the way to it, is missing or null.
    pub fn find(&self, pointer: &Pointer) -> Result<Option<&Value<'a>>, Failure> {
        locate::find(&self.value, pointer)
    }

    /// Puts `value` at `pointer`. Makes the maps on the way where they are missing or null.
    pub fn set(&mut self, pointer: &Pointer, value: Value<'a>) -> Result<(), Failure> {
        let is_there = match self.find(pointer)? {
            Some(found) => *found == value,
            None => value.is_null() && self.value.at(pointer).is_some_and(Value::is_null),
        };
        if is_there {
            return Ok(());
        }
        self.changes += 1;
        if pointer.is_root() {
            self.value = value;
            return Ok(());
        }
        locate::set(&mut self.value, pointer, value)
    }

    /// Calls `change` with each value that `pattern` stands for and its place. A step `*` stands for each
    /// item of a list. Returns how many values there are; missing and null ones do not count.
    pub fn change(
        &mut self,
        pattern: &Pointer,
        mut change: impl FnMut(&mut Value<'a>, &Pointer) -> Result<(), Failure>,
    ) -> Result<usize, Failure> {
        let (place, steps) = pattern::split(pattern);
        let Some(found) = self.find(&place)? else { return Ok(0) };
        let mut value = found.clone();
        let mut count = 0;
        pattern::change(&mut value, steps.tokens(), &place, &mut |value, at| {
            count += 1;
            change(value, at)
        })?;
        self.set(&place, value)?;
        Ok(count)
    }

    /// Whether a value that is not null is at a place that `pattern` stands for.
    pub fn has(&self, pattern: &Pointer) -> bool {
        let mut is_there = false;
        pattern::each(&self.value, pattern.tokens(), &Pointer::ROOT, &mut |_, _| is_there = true);
        is_there
    }

    /// Makes an empty map at `pointer` where nothing or null is.
    pub fn make_map(&mut self, pointer: &Pointer) -> Result<(), Failure> {
        if self.find(pointer)?.is_none() { self.set(pointer, Value::empty_object()) } else { Ok(()) }
    }

    pub fn is_unchanged(&self) -> bool {
        self.original == self.value
    }

    /// How often something has been changed so far.
    pub fn changes(&self) -> usize {
        self.changes
    }

    /// The object before the rules.
    pub fn original(&self) -> &Value<'a> {
        &self.original
    }

    /// The object after the rules so far.
    pub fn value(&self) -> &Value<'a> {
        &self.value
    }

    /// What has changed, as a patch of the original.
    pub fn patch(&self) -> Patch<'a> {
        diff(&self.original, &self.value)
    }

    /// How to take back what has changed.
    pub fn undo(&self) -> Undo<'a> {
        Undo::of(&self.original, &self.value)
    }

    /// Whether something at `pointer` or below has been changed.
    pub fn touches(&self, pointer: &Pointer) -> bool {
        self.original.at(pointer) != self.value.at(pointer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::Text;

    fn pointer(text: &str) -> Pointer {
        Pointer::parse(text).unwrap()
    }

    fn draft(text: &str) -> Draft<'_> {
        Draft::new(&ObjectSource::Value(Value::parse(text.as_bytes()).unwrap())).unwrap()
    }

    #[test]
    fn only_what_changes_is_in_the_patch_in_the_order_of_the_object() {
        let object = r#"{"a":{"x":1,"y":null},"b":[1,2],"c":{}}"#;
        let mut changed = draft(object);
        assert_eq!(changed.find(&pointer("/b")).unwrap().unwrap().to_string(), "[1,2]");
        for absent in ["/a/y", "/a/y/deeper", "/c/d", "/e/f"] {
            assert_eq!(changed.find(&pointer(absent)).unwrap(), None, "{absent}");
        }
        for (place, value) in [("/e/f", 1), ("/c/d", 2), ("/a/y/z", 3), ("/a/x", 1), ("/c/e", 4)] {
            changed.set(&pointer(place), value.into()).unwrap();
        }
        assert_eq!(changed.changes(), 4);
        assert_eq!(
            changed.patch().to_text(),
            r#"[{"op":"replace","path":"/a/y","value":{"z":3}},{"op":"add","path":"/c/d","value":2},{"op":"add","path":"/c/e","value":4},{"op":"add","path":"/e","value":{"f":1}}]"#
        );
        assert_eq!(
            changed.value().to_string(),
            r#"{"a":{"x":1,"y":{"z":3}},"b":[1,2],"c":{"d":2,"e":4},"e":{"f":1}}"#
        );
        for (place, touched) in [("/a", true), ("/a/y/z", true), ("/a/x", false), ("/b", false)] {
            assert_eq!(changed.touches(&pointer(place)), touched, "{place}");
        }
    }

    #[test]
    fn a_null_is_written_where_nothing_is_and_not_over_a_null() {
        let mut draft = draft(r#"{"a":{"y":null}}"#);
        draft.set(&pointer("/a/y"), Value::Null).unwrap();
        assert_eq!((draft.changes(), draft.patch().to_text().as_str()), (0, "[]"));
        draft.set(&pointer("/a/z"), Value::Null).unwrap();
        assert_eq!(draft.changes(), 1);
    }

    #[test]
    fn what_is_in_the_way_is_named_from_the_root() {
        let mut draft = draft(r#"{"a":{"b":"text"},"l":[]}"#);
        let refused = |failure: Failure| failure.message();
        let found = refused(draft.find(&pointer("/a/b/c")).unwrap_err());
        assert!(found.starts_with("/a/b: must be a map, is a string"), "{found}");
        for (place, problem) in
            [("/a/b/c", "/a/b: must be a map, is a string"), ("/l/0", "/l: must be a map, is a list")]
        {
            let found = refused(draft.set(&pointer(place), Value::Null).unwrap_err());
            assert!(found.starts_with(problem), "{found}");
        }
        assert!(draft.is_unchanged());
    }

    #[test]
    fn a_name_that_is_there_twice_anywhere_is_refused() {
        let text = Text::parse(br#"{"a":[{"b":{"c":1,"c":2}}]}"#).unwrap();
        let refusal = Draft::new(&text.root().into()).unwrap_err();
        assert!(refusal.message().contains(r#"the member "c" is there twice"#), "{refusal}");
    }
}
