//! Applies JSON patches.

use super::{MissingPath, Op};
use crate::json::{MAX_DEPTH, Object, Pointer, Value};
use crate::patch::{PatchError, PatchErrorKind};

/// The limit on the size of all copies of one patch, in bytes of text. Copies of copies grow exponentially.
const COPIES: usize = 4 << 20;

type Result<T> = std::result::Result<T, (Pointer, PatchErrorKind)>;

/// `object` after all operations. The error is that of the first operation that fails.
pub fn apply<'a>(
    object: &Value<'a>,
    operations: &[Op<'a>],
    missing: MissingPath,
) -> std::result::Result<Value<'a>, PatchError> {
    let mut document = Document { root: object.clone(), missing, copied: 0 };
    for (position, operation) in operations.iter().enumerate() {
        document.step(operation).map_err(|(place, problem)| PatchError {
            place,
            operation: Some(position),
            problem,
        })?;
    }
    Ok(document.root)
}

struct Document<'a> {
    root: Value<'a>,
    missing: MissingPath,
    /// The number of bytes copied so far, as text.
    copied: usize,
}

impl<'a> Document<'a> {
    fn step(&mut self, operation: &Op<'a>) -> Result<()> {
        match operation {
            Op::Add(path, value) => self.add(path, value.clone()),
            Op::Replace(path, value) => match self.root.at(path) {
                Some(present) if present == value => Ok(()),
                Some(_) => {
                    Self::fits(path, value)?;
                    self.change(path, value.clone());
                    Ok(())
                }
                None if self.missing == MissingPath::Create => self.add(path, value.clone()),
                None => self.skip_or(self.lack(path)),
            },
            Op::Remove(path) => {
                if path.is_root() {
                    return Err((path.clone(), PatchErrorKind::RemovesAll));
                }
                if self.root.at(path).is_none() {
                    return self.skip_or(self.lack(path));
                }
                self.remove(path);
                Ok(())
            }
            Op::Move(from, path) => self.relocate(from, path),
            Op::Copy(from, path) => {
                let Some(value) = self.root.at(from).cloned() else {
                    return self.skip_or(self.lack(from));
                };
                self.copied = self.copied.saturating_add(text_len(&value, COPIES));
                if self.copied > COPIES {
                    return Err((path.clone(), PatchErrorKind::TooLarge(COPIES)));
                }
                self.add(path, value)
            }
            Op::Test(path, value) => match self.root.at(path) {
                Some(present) if means_same(present, value) => Ok(()),
                Some(_) => Err((path.clone(), PatchErrorKind::TestFailed)),
                None => Err(self.lack(path)),
            },
        }
    }

    fn relocate(&mut self, from: &Pointer, path: &Pointer) -> Result<()> {
        let Some(value) = self.root.at(from).cloned() else {
            return self.skip_or(self.lack(from));
        };
        if from == path {
            return Ok(());
        }
        if from.contains(path) {
            return Err((path.clone(), PatchErrorKind::IntoItself));
        }
        // A move is skipped or done as a whole.
        let before = self.root.clone();
        self.remove(from);
        let removed = self.root.clone();
        self.add(path, value)?;
        if self.root.is_same(&removed) {
            self.root = before;
        }
        Ok(())
    }

    fn add(&mut self, path: &Pointer, value: Value<'a>) -> Result<()> {
        if path.is_root() {
            Self::fits(path, &value)?;
            self.root = value;
            return Ok(());
        }
        let (parent, token) = (path.parent(), last(path));
        let place = match self.root.at(&parent) {
            Some(Value::Object(_)) => Ok(None),
            Some(Value::Array(items)) => match index(token, items.len()) {
                Some(position) if position <= items.len() => Ok(Some(position)),
                Some(_) => Err((path.clone(), PatchErrorKind::Missing)),
                None => Err((path.clone(), PatchErrorKind::NoIndex)),
            },
            Some(Value::Null) | None if self.missing == MissingPath::Create => {
                return self.create(path, value);
            }
            Some(other) => Err((parent.clone(), PatchErrorKind::NoContainer(other.kind()))),
            None => Err(self.lack(&parent)),
        };
        let place = match place {
            Ok(place) => place,
            Err(problem) => return self.skip_or(problem),
        };
        Self::fits(path, &value)?;
        self.edit(&parent, |parent| match (parent, place) {
            (Value::Object(object), _) => match object.get_mut(token) {
                Some(present) => *present = value,
                None => drop(object.insert(token.to_owned(), value)),
            },
            (list @ Value::Array(_), Some(position)) => {
                let mut items = list.as_array().unwrap_or_default().to_vec();
                items.insert(position, value);
                *list = Value::array(items);
            }
            _ => {}
        });
        Ok(())
    }

    /// Adds a value, and the containers that are missing on the path to it.
    fn create(&mut self, path: &Pointer, value: Value<'a>) -> Result<()> {
        let tokens = path.tokens();
        let exists = |steps: &usize| self.root.at(&path.prefix(*steps)).is_some_and(|there| !there.is_null());
        let there = (0..tokens.len()).take_while(exists).count();
        // The first `there` steps exist. The rest is created.
        let missing = path.prefix(there);
        // Check the depth before the value is built, which would be as deep.
        Self::fits(path, &value)?;
        let new = tokens[there..].iter().rev().fold(value, |inner, token| match token.as_str() {
            "-" | "0" => Value::array(vec![inner]),
            name => Value::Object(Object::from_iter([(name.to_owned(), inner)])),
        });
        match self.root.at(&missing) {
            Some(_) => self.change(&missing, new),
            None => return self.add(&missing, new),
        }
        Ok(())
    }

    fn remove(&mut self, path: &Pointer) {
        let token = last(path);
        self.edit(&path.parent(), |parent| match parent {
            Value::Object(object) => drop(object.remove(token)),
            list @ Value::Array(_) => {
                let mut items = list.as_array().unwrap_or_default().to_vec();
                if let Some(position) = index(token, items.len()).filter(|position| *position < items.len()) {
                    items.remove(position);
                }
                *list = Value::array(items);
            }
            _ => {}
        });
    }

    fn change(&mut self, path: &Pointer, value: Value<'a>) {
        self.edit(path, |place| *place = value);
    }

    /// Changes the value at `path`, which has to exist. Shared containers on the path are copied, one level
    /// each.
    fn edit(&mut self, path: &Pointer, change: impl FnOnce(&mut Value<'a>)) {
        let mut here = Some(&mut self.root);
        for token in path.tokens() {
            here = here.and_then(|value| match value {
                Value::Object(object) => object.get_mut(token),
                list => {
                    let items = list.array_mut()?;
                    let position = index(token, items.len())?;
                    items.get_mut(position)
                }
            });
        }
        if let Some(place) = here {
            change(place);
        }
    }

    /// Fails if `value` at `path` is nested too deep.
    fn fits(path: &Pointer, value: &Value<'a>) -> Result<()> {
        let deep = path.tokens().len().saturating_add(levels(value));
        if deep > MAX_DEPTH { Err((path.clone(), PatchErrorKind::TooDeep)) } else { Ok(()) }
    }

    /// The error for a `path` that does not exist, with the place where the object ends.
    fn lack(&self, path: &Pointer) -> (Pointer, PatchErrorKind) {
        let mut here = &self.root;
        for (steps, token) in path.tokens().iter().enumerate() {
            let next = match here {
                Value::Object(object) => object.get(token),
                Value::Array(items) => match index(token, items.len()) {
                    Some(position) => items.get(position),
                    None => return (path.prefix(steps + 1), PatchErrorKind::NoIndex),
                },
                other => return (path.prefix(steps), PatchErrorKind::NoContainer(other.kind())),
            };
            match next {
                Some(next) => here = next,
                None => return (path.prefix(steps + 1), PatchErrorKind::Missing),
            }
        }
        (path.clone(), PatchErrorKind::Missing)
    }

    fn skip_or(&self, problem: (Pointer, PatchErrorKind)) -> Result<()> {
        if self.missing == MissingPath::Skip { Ok(()) } else { Err(problem) }
    }
}

fn last(path: &Pointer) -> &str {
    path.tokens().last().map_or("", String::as_str)
}

/// The index that a token stands for in a list of `len` items: digits without a leading zero, or `-` for the
/// end.
fn index(token: &str, len: usize) -> Option<usize> {
    if token == "-" {
        return Some(len);
    }
    let digits = !token.is_empty() && token.bytes().all(|byte| byte.is_ascii_digit());
    // An index that overflows is beyond the end of every list.
    (digits && (token == "0" || !token.starts_with('0'))).then(|| token.parse().unwrap_or(usize::MAX))
}

fn levels(value: &Value<'_>) -> usize {
    match value {
        Value::Array(items) => 1 + items.iter().map(levels).max().unwrap_or(0),
        Value::Object(object) => 1 + object.iter().map(|(_, value)| levels(value)).max().unwrap_or(0),
        _ => 0,
    }
}

/// The approximate length of the text of a value. Counting stops at `enough`.
fn text_len(value: &Value<'_>, enough: usize) -> usize {
    let sum = |all: &mut dyn Iterator<Item = usize>| {
        let mut sum = 2_usize;
        for len in all {
            sum = sum.saturating_add(len);
            if sum > enough {
                break;
            }
        }
        sum
    };
    match value {
        Value::Null | Value::Bool(_) => 5,
        Value::Number(number) => number.as_str().len(),
        Value::String(text) => text.len() + 2,
        Value::Array(items) => sum(&mut items.iter().map(|item| text_len(item, enough) + 1)),
        Value::Object(object) => {
            sum(&mut object.iter().map(|(name, value)| name.len() + 4 + text_len(value, enough)))
        }
    }
}

/// Like `==`, but numbers are compared by value, so `1` equals `1.0`.
fn means_same(a: &Value<'_>, b: &Value<'_>) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => a.same_value(b),
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b.iter()).all(|(a, b)| means_same(a, b))
        }
        (Value::Object(a), Value::Object(b)) => {
            let index = b.index();
            a.len() == b.len()
                && a.iter().all(|(name, value)| index.get(name).is_some_and(|other| means_same(value, other)))
        }
        _ => a == b,
    }
}
