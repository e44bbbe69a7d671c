//! As it is kept: a list of `{path, was, wrote, position, length}`, each but the path only where there is one.

use super::{Step, Undo};
use crate::json::{Number, Object, Pointer, Value};

/// Why a value is no undo.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the undo is not a list of changes that this version of reviser knows")]
pub struct UndoTextError;

impl<'a> Undo<'a> {
    /// The form in which it is kept.
    pub fn to_value(&self) -> Value<'a> {
        Value::array(self.0.iter().map(Step::to_value).collect())
    }

    /// Reads what [`to_value`](Self::to_value) wrote.
    pub fn from_value(value: &Value<'a>) -> Result<Self, UndoTextError> {
        let steps = value.as_array().ok_or(UndoTextError)?;
        let steps: Option<Vec<Step<'a>>> = steps.iter().map(Step::from_value).collect();
        steps.map(Self).ok_or(UndoTextError)
    }
}

impl<'a> Step<'a> {
    fn to_value(&self) -> Value<'a> {
        let count = |count: usize| Value::from(i64::try_from(count).unwrap_or(i64::MAX));
        let members = [
            ("path", Some(Value::string(self.place.to_string()))),
            ("was", self.was.clone()),
            ("wrote", self.wrote.clone()),
            ("position", self.position.map(count)),
            ("length", self.length.map(count)),
        ];
        Value::Object(members.into_iter().filter_map(|(name, value)| Some((name, value?))).collect())
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
