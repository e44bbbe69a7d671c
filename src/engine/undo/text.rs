//! The text of an undo: a list of `{path, was, wrote, position, length}`. All members but the path are
//! optional.

use super::{Undo, UndoStep};
use crate::json::{Number, Object, Pointer, Value};

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the undo is not a list of changes that this version of reviser knows")]
pub struct UndoTextError;

impl<'a> Undo<'a> {
    pub fn to_text(&self) -> String {
        let mut out = String::with_capacity(2 + 160 * self.0.len());
        out.push('[');
        for (position, step) in self.0.iter().enumerate() {
            if position > 0 {
                out.push(',');
            }
            step.write_to(&mut out);
        }
        out.push(']');
        out
    }

    /// Reads what [`to_text`](Self::to_text) wrote.
    pub fn from_value(value: &Value<'a>) -> Result<Self, UndoTextError> {
        let steps = value.as_array().ok_or(UndoTextError)?;
        let steps: Option<Vec<UndoStep<'a>>> = steps.iter().map(UndoStep::from_value).collect();
        steps.map(Self).ok_or(UndoTextError)
    }
}

impl<'a> UndoStep<'a> {
    fn write_to(&self, out: &mut String) {
        out.push_str(r#"{"path":"#);
        self.place.write_to(out);
        for (name, value) in [(r#","was":"#, &self.was), (r#","wrote":"#, &self.wrote)] {
            if let Some(value) = value {
                out.push_str(name);
                value.write_to(out);
            }
        }
        for (name, count) in [(r#","position":"#, self.position), (r#","length":"#, self.length)] {
            if let Some(count) = count {
                out.push_str(name);
                out.push_str(&count.to_string());
            }
        }
        out.push('}');
    }

    fn from_value(value: &Value<'a>) -> Option<Self> {
        let members = value.as_object()?;
        let known = ["path", "was", "wrote", "position", "length"];
        if members.iter().any(|(name, _)| !known.contains(&name)) {
            return None;
        }
        let step = Self {
            place: Pointer::parse(members.get("path")?.as_str()?).ok()?,
            was: members.get("was").cloned(),
            wrote: members.get("wrote").cloned(),
            position: count(members, "position").ok()?,
            length: count(members, "length").ok()?,
        };
        (step.was.is_some() || step.wrote.is_some()).then_some(step)
    }
}

/// The count `name`; `None` if it is missing.
fn count(members: &Object<'_>, name: &str) -> Result<Option<usize>, UndoTextError> {
    let Some(value) = members.get(name) else { return Ok(None) };
    let count = value.as_number().and_then(Number::as_i64).and_then(|count| count.try_into().ok());
    count.map(Some).ok_or(UndoTextError)
}
