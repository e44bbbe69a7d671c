//! An object while rules work on it.

use super::{Undo, locate, pattern};
use crate::domain::Failure;
use crate::json::{Kind, ParseError, Pointer, Raw, Value};
use crate::patch::{Patch, diff_at};

/// An object as text, and the edits in it that rules have asked for or changed.
///
/// Only those edits are built, so that a revision costs what it touches, however large the object is. What is on the
/// way to a place is read as in `locate`: missing and null maps count as empty, and anything else than a map is a
/// failure that names it.
#[derive(Clone, Debug)]
pub struct Draft<'a> {
    object: Raw<'a>,
    /// No two of them overlap.
    edits: Vec<Edit<'a>>,
    changes: usize,
}

/// A place that has been built.
#[derive(Clone, Debug)]
struct Edit<'a> {
    pointer: Pointer,
    /// Where it is in the text, for the order of a patch; a missing one is at the end of the map that lacks it.
    offset: usize,
    /// What is in the text; `None` where it is missing.
    before: Option<Value<'a>>,
    /// What it is now.
    after: Value<'a>,
}

/// What the text has at a pointer.
enum Found<'a> {
    Value(Raw<'a>),
    /// Nothing. The place nearest to it where something can be put has so many steps, and is missing or null.
    Nothing {
        steps: usize,
        offset: usize,
        null: bool,
    },
}

impl<'a> Draft<'a> {
    /// The object as it is. Refuses names that are there twice.
    pub fn new(object: Raw<'a>) -> Result<Self, Failure> {
        object.check_names().map_err(|error| misread(&error))?;
        Ok(Self { object, edits: Vec::new(), changes: 0 })
    }

    /// The value at `pointer`. `None` if it, or a map on the way to it, is missing or null.
    pub fn find(&mut self, pointer: &Pointer) -> Result<Option<Value<'a>>, Failure> {
        if let Some(place) = self.covering(pointer) {
            let rest = pointer.suffix(place.pointer.tokens().len());
            let found =
                locate::find(&place.after, &rest).map_err(|failure| failure.in_place(&place.pointer))?;
            return Ok(found.cloned());
        }
        match self.look(pointer)? {
            Found::Nothing { .. } => Ok(None),
            Found::Value(raw) => Ok(Some(self.build(pointer, raw)?).filter(|value| !value.is_null())),
        }
    }

    /// The same, for a place that no rule asks for.
    pub fn peek(&self, pointer: &Pointer) -> Result<Option<Value<'a>>, Failure> {
        let is_built = |place: &Edit<'a>| place.pointer.contains(pointer) || pointer.contains(&place.pointer);
        if self.edits.iter().any(is_built) {
            return self.clone().find(pointer);
        }
        match self.look(pointer)? {
            Found::Nothing { .. } => Ok(None),
            Found::Value(raw) => raw.to_value().map(Some).map_err(|error| misread(&error)),
        }
    }

    /// Puts `value` at `pointer`, making the maps on the way where they are missing or null.
    pub fn set(&mut self, pointer: &Pointer, value: Value<'a>) -> Result<(), Failure> {
        match self.find(pointer)? {
            Some(found) if found == value => return Ok(()),
            None if value.is_null() && self.holds_null(pointer) => return Ok(()),
            _ => {}
        }
        self.changes += 1;
        if let Some(place) = self.edits.iter_mut().find(|place| place.pointer.contains(pointer)) {
            let rest = pointer.suffix(place.pointer.tokens().len());
            if rest.is_root() {
                place.after = value;
                return Ok(());
            }
            return locate::set(&mut place.after, &rest, value)
                .map_err(|failure| failure.in_place(&place.pointer));
        }
        if let Found::Nothing { steps, offset, null } = self.look(pointer)? {
            let rest = pointer.suffix(steps);
            let mut made = Value::Null;
            if rest.is_root() {
                made = value;
            } else {
                locate::set(&mut made, &rest, value)?;
            }
            let before = null.then_some(Value::Null);
            self.put(Edit { pointer: pointer.prefix(steps), offset, before, after: made });
        }
        Ok(())
    }

    /// Changes what is at each place that `pattern` stands for, in which a step `*` is each item of a list. Gives how many edits
    /// there are that are neither missing nor null.
    pub fn change(
        &mut self,
        pattern: &Pointer,
        mut change: impl FnMut(&mut Value<'a>, &Pointer) -> Result<(), Failure>,
    ) -> Result<usize, Failure> {
        let (place, steps) = pattern::split(pattern);
        let Some(mut value) = self.find(&place)? else { return Ok(0) };
        let mut count = 0;
        pattern::change(&mut value, steps.tokens(), &place, &mut |value, at| {
            count += 1;
            change(value, at)
        })?;
        self.set(&place, value)?;
        Ok(count)
    }

    /// Whether something that is not null is at a place that `pattern` stands for.
    pub fn has(&self, pattern: &Pointer) -> Result<bool, Failure> {
        let (place, steps) = pattern::split(pattern);
        let mut is_there = false;
        if let Some(value) = self.peek(&place)? {
            pattern::each(&value, steps.tokens(), &place, &mut |_, _| is_there = true);
        }
        Ok(is_there)
    }

    /// Makes an empty map at `pointer` where nothing is.
    pub fn make_map(&mut self, pointer: &Pointer) -> Result<(), Failure> {
        let is_related =
            |place: &Edit<'a>| place.pointer.contains(pointer) || pointer.contains(&place.pointer);
        let missing = if self.edits.iter().any(is_related) {
            self.find(pointer)?.is_none()
        } else {
            // Not built: a map that is there is only looked at.
            !matches!(self.look(pointer)?, Found::Value(raw) if !raw.is_null())
        };
        if missing { self.set(pointer, Value::empty_object()) } else { Ok(()) }
    }

    /// Whether the object is as it was.
    pub fn is_unchanged(&self) -> bool {
        self.edits.iter().all(|place| place.before.as_ref() == Some(&place.after))
    }

    /// How often something has been changed so far.
    pub fn changes(&self) -> usize {
        self.changes
    }

    /// The object as it was.
    pub fn original(&self) -> &Raw<'a> {
        &self.object
    }

    /// The whole object as it is now.
    pub fn to_value(&self) -> Result<Value<'a>, Failure> {
        let mut object = self.object.to_value().map_err(|error| misread(&error))?;
        for place in &self.edits {
            place.apply(&Pointer::ROOT, &mut object)?;
        }
        Ok(object)
    }

    /// What has changed, as a patch of the object: the one that [`diff`](crate::patch::diff) makes of it.
    pub fn patch(&self) -> Result<Patch<'a>, Failure> {
        let patches = self
            .in_order()
            .into_iter()
            .map(|place| diff_at(&place.pointer, place.before.as_ref(), &place.after));
        let patch = Patch(patches.flat_map(|patch| patch.0).collect());
        #[cfg(debug_assertions)]
        {
            let before = self.object.to_value().map_err(|error| misread(&error))?;
            debug_assert_eq!(patch, crate::patch::diff(&before, &self.to_value()?), "{:?}", self.edits);
        }
        Ok(patch)
    }

    /// How what has changed is taken back.
    pub fn undo(&self) -> Undo<'a> {
        let mut undo = Undo::default();
        for place in self.in_order() {
            undo.note(&place.pointer, place.before.as_ref(), &place.after);
        }
        undo
    }

    /// The edits in the order of the text.
    fn in_order(&self) -> Vec<&Edit<'a>> {
        let mut edits: Vec<&Edit<'a>> = self.edits.iter().collect();
        edits.sort_by_key(|place| place.offset);
        edits
    }

    /// Whether something at `pointer`, above or below it has been changed.
    pub fn touches(&self, pointer: &Pointer) -> bool {
        self.edits.iter().any(|place| {
            let related = place.pointer.contains(pointer) || pointer.contains(&place.pointer);
            related && place.before.as_ref() != Some(&place.after)
        })
    }

    fn covering(&self, pointer: &Pointer) -> Option<&Edit<'a>> {
        self.edits.iter().find(|place| place.pointer.contains(pointer))
    }

    /// Whether a null is at `pointer`, which has been looked for.
    fn holds_null(&self, pointer: &Pointer) -> bool {
        self.covering(pointer).is_some_and(|place| {
            let rest = pointer.suffix(place.pointer.tokens().len());
            place.after.at(&rest).is_some_and(Value::is_null)
        })
    }

    /// Looks `pointer` up in the text.
    fn look(&self, pointer: &Pointer) -> Result<Found<'a>, Failure> {
        let mut place = self.object;
        for (depth, token) in pointer.tokens().iter().enumerate() {
            match place.kind() {
                Kind::Object => {}
                Kind::Null => return Ok(Found::Nothing { steps: depth, offset: place.offset(), null: true }),
                kind => return Err(locate::not_a_map(&pointer.prefix(depth), kind)),
            }
            match place.get(token).map_err(|error| misread(&error))? {
                Some(next) => place = next,
                None => return Ok(Found::Nothing { steps: depth + 1, offset: place.end(), null: false }),
            }
        }
        Ok(Found::Value(place))
    }

    /// Builds what is at `pointer`, with what has been changed below it, and remembers it.
    fn build(&mut self, pointer: &Pointer, raw: Raw<'a>) -> Result<Value<'a>, Failure> {
        let before = raw.to_value().map_err(|error| misread(&error))?;
        let mut after = before.clone();
        for below in self.edits.iter().filter(|place| pointer.contains(&place.pointer)) {
            below.apply(pointer, &mut after)?;
        }
        let built = after.clone();
        self.put(Edit { pointer: pointer.clone(), offset: raw.offset(), before: Some(before), after });
        Ok(built)
    }

    /// Remembers a place, in which those below it are.
    fn put(&mut self, place: Edit<'a>) {
        self.edits.retain(|below| !place.pointer.contains(&below.pointer));
        self.edits.push(place);
    }
}

impl<'a> Edit<'a> {
    /// Makes the change in `value`, which is what is at `root`.
    fn apply(&self, root: &Pointer, value: &mut Value<'a>) -> Result<(), Failure> {
        let rest = self.pointer.suffix(root.tokens().len());
        if rest.is_root() {
            *value = self.after.clone();
            return Ok(());
        }
        locate::set(value, &rest, self.after.clone())
    }
}

fn misread(error: &ParseError) -> Failure {
    Failure::unprocessable(format!("request.object: {error}; mend the object"))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::json::Text;

    fn pointer(text: &str) -> Pointer {
        Pointer::parse(text).unwrap()
    }

    #[test]
    fn only_what_changes_is_in_the_patch_in_the_order_of_the_object() {
        let text = Text::parse(br#"{"a":{"x":1,"y":null},"b":[1,2],"c":{}}"#).unwrap();
        let mut draft = Draft::new(text.root()).unwrap();
        assert_eq!(draft.find(&pointer("/b")).unwrap().unwrap().to_string(), "[1,2]");
        for absent in ["/a/y", "/a/y/deeper", "/c/d", "/e/f"] {
            assert_eq!(draft.find(&pointer(absent)).unwrap(), None, "{absent}");
        }
        for (place, value) in [("/e/f", 1), ("/c/d", 2), ("/a/y/z", 3), ("/a/x", 1), ("/c/e", 4)] {
            draft.set(&pointer(place), value.into()).unwrap();
        }
        assert_eq!(draft.changes(), 4);
        // To null what is null is no change; to null what is missing is one.
        let mut nulled = Draft::new(text.root()).unwrap();
        nulled.set(&pointer("/a/y"), Value::Null).unwrap();
        assert_eq!((nulled.changes(), nulled.patch().unwrap().to_text().as_str()), (0, "[]"));
        nulled.set(&pointer("/a/z"), Value::Null).unwrap();
        assert_eq!(nulled.changes(), 1);
        assert_eq!(
            draft.patch().unwrap().to_text(),
            r#"[{"op":"replace","path":"/a/y","value":{"z":3}},{"op":"add","path":"/c/d","value":2},{"op":"add","path":"/c/e","value":4},{"op":"add","path":"/e","value":{"f":1}}]"#
        );
        assert_eq!(
            draft.to_value().unwrap().to_string(),
            r#"{"a":{"x":1,"y":{"z":3}},"b":[1,2],"c":{"d":2,"e":4},"e":{"f":1}}"#
        );
        assert!(
            draft.touches(&pointer("/a"))
                && draft.touches(&pointer("/a/y/z"))
                && !draft.touches(&pointer("/b"))
        );
    }

    #[test]
    fn what_is_in_the_way_is_named_from_the_root() {
        let text = Text::parse(br#"{"a":{"b":"text"},"l":[]}"#).unwrap();
        let mut draft = Draft::new(text.root()).unwrap();
        let refused = |failure: Failure| failure.message();
        assert!(
            refused(draft.find(&pointer("/a/b/c")).unwrap_err())
                .starts_with("/a/b: must be a map, is a string")
        );
        draft.find(&pointer("/a")).unwrap();
        assert!(
            refused(draft.set(&pointer("/a/b/c"), Value::Null).unwrap_err())
                .starts_with("/a/b: must be a map, is a string")
        );
        assert!(
            refused(draft.set(&pointer("/l/0"), Value::Null).unwrap_err())
                .starts_with("/l: must be a map, is a list")
        );
        assert_eq!(draft.patch().unwrap().to_text(), "[]");
    }

    #[test]
    fn a_name_that_is_there_twice_anywhere_is_refused() {
        let text = Text::parse(br#"{"a":[{"b":{"c":1,"c":2}}]}"#).unwrap();
        let refusal = Draft::new(text.root()).unwrap_err();
        assert!(refusal.message().contains(r#"the member "c" is there twice"#), "{refusal}");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(1024))]

        /// Whatever is found and set in whatever order, it is as if it were done to the whole object; and the patch is the
        /// one between the two whole objects (which a debug build checks in `patch` itself).
        #[test]
        fn a_draft_is_the_object_that_it_stands_for(
            object in proptest::sample::select(vec![
                r#"{"a":{"a":{"a":1,"b":null},"b":[]},"b":{"a":null}}"#,
                r#"{"b":null,"a":{"b":{"b":{"a":2}}},"c":3}"#,
                "{}",
            ]),
            steps in proptest::collection::vec((proptest::collection::vec(proptest::sample::select(vec!["a", "b", "c"]), 1..4), proptest::option::of(0i64..3)), 1..8),
        ) {
            let text = Text::parse(object.as_bytes()).unwrap();
            let mut draft = Draft::new(text.root()).unwrap();
            let mut whole = text.root().to_value().unwrap();
            for (tokens, set) in steps {
                let pointer = Pointer::of(tokens);
                if let Some(number) = set {
                    let (ours, theirs) = (draft.set(&pointer, number.into()), locate::set(&mut whole, &pointer, number.into()));
                    prop_assert_eq!(ours, theirs);
                } else {
                    prop_assert_eq!(draft.find(&pointer), locate::find(&whole, &pointer).map(Option::<&Value<'_>>::cloned));
                }
                prop_assert_eq!(draft.to_value().unwrap(), whole.clone());
                draft.patch().unwrap();
            }
        }
    }
}
