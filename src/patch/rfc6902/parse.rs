//! Parses JSON patches.

use super::Op;
use crate::json::{Object, Pointer, Value};
use crate::patch::{InvalidPatchError, PatchErrorKind};

/// Parses a patch. `null` is a patch without operations. Unknown members of an operation are ignored, as the
/// RFC requires.
pub fn parse<'a>(patch: &Value<'a>) -> Result<Vec<Op<'a>>, InvalidPatchError> {
    let operations = match patch {
        Value::Null => return Ok(Vec::new()),
        Value::Array(operations) => operations,
        other => return Err(fault(Pointer::ROOT, PatchErrorKind::NotOperations(other.kind()))),
    };
    let read = |(position, operation): (usize, &Value<'a>)| {
        let place = Pointer::of([position.to_string()]);
        match operation {
            Value::Object(fields) => Fields { fields, place }.operation(),
            other => Err(fault(place, PatchErrorKind::NotAnOperation(other.kind()))),
        }
    };
    operations.iter().enumerate().map(read).collect()
}

fn fault(place: Pointer, problem: PatchErrorKind) -> InvalidPatchError {
    InvalidPatchError { place, problem }
}

struct Fields<'o, 'a> {
    fields: &'o Object<'a>,
    place: Pointer,
}

impl<'a> Fields<'_, 'a> {
    fn operation(&self) -> Result<Op<'a>, InvalidPatchError> {
        let op = self.field("op")?;
        Ok(match op.as_str() {
            Some("add") => Op::Add(self.pointer("path")?, self.field("value")?.clone()),
            Some("remove") => match self.pointer("path")? {
                root if root.is_root() => {
                    return Err(fault(self.place.join("path"), PatchErrorKind::RemovesAll));
                }
                path => Op::Remove(path),
            },
            Some("replace") => Op::Replace(self.pointer("path")?, self.field("value")?.clone()),
            Some("move") => {
                let (from, path) = (self.pointer("from")?, self.pointer("path")?);
                if from != path && from.contains(&path) {
                    return Err(fault(self.place.join("path"), PatchErrorKind::IntoItself));
                }
                Op::Move(from, path)
            }
            Some("copy") => Op::Copy(self.pointer("from")?, self.pointer("path")?),
            Some("test") => Op::Test(self.pointer("path")?, self.field("value")?.clone()),
            _ => return Err(fault(self.place.join("op"), PatchErrorKind::UnknownOperation)),
        })
    }

    fn field(&self, name: &'static str) -> Result<&Value<'a>, InvalidPatchError> {
        self.fields.get(name).ok_or_else(|| fault(self.place.clone(), PatchErrorKind::FieldMissing(name)))
    }

    fn pointer(&self, name: &'static str) -> Result<Pointer, InvalidPatchError> {
        let value = self.field(name)?;
        let Some(text) = value.as_str() else {
            return Err(fault(self.place.join(name), PatchErrorKind::NotAPath(value.kind())));
        };
        Pointer::parse(text).map_err(|error| fault(self.place.join(name), PatchErrorKind::BadPointer(error)))
    }
}
