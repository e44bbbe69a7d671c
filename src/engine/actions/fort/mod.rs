//! The action `fort`: one cluster runs certain steps of a release, all the others skip them.
//!
//! In the cluster that hosts the allocation nothing is written. Elsewhere, in each step that holds
//! [`Fort::matches`], [`Fort::field`] is set to null (or as [`Elsewhere`] says). Where the release has no steps,
//! [`Fort::generate`] can write them. The code knows paths, fields and types of step from the policy alone.

use super::Ask;
use crate::domain::Failure;
use crate::engine::templated::Templated;
use crate::engine::{Draft, locate};
use crate::json::{Object, Pointer, Value};

#[cfg(test)]
mod tests;

/// The action.
#[derive(Clone, Debug)]
pub struct Fort {
    /// The name of the allocation that says which cluster is the one.
    pub allocation: String,
    /// Where the list of steps is.
    pub steps: Pointer,
    /// What a step has to hold to be one of those that only one cluster runs; empty: every step that is a map.
    pub matches: Object<'static>,
    /// The field of such a step, from the step.
    pub field: Pointer,
    /// What becomes of the field where the allocation is not.
    pub elsewhere: Elsewhere,
    /// The steps to write where there are none.
    pub generate: Option<Generate>,
}

/// What becomes of the field in the clusters that do not host the allocation.
#[derive(Clone, Debug)]
pub enum Elsewhere {
    /// Set to null, whether it was there or not.
    SetNull,
    /// Taken away if it is there.
    Remove,
    /// Set to this value, whether it was there or not.
    Value(Templated),
}

/// Steps that the rule writes itself.
#[derive(Clone, Debug)]
pub struct Generate {
    /// When.
    pub when: GenerateWhen,
    /// The steps in the cluster that hosts the allocation.
    pub fort: Templated,
    /// The steps in all the others.
    pub elsewhere: Templated,
}

/// When steps are generated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GenerateWhen {
    /// If the list is missing, null or empty.
    Absent,
    /// Always; what is there is replaced.
    Always,
}

impl Fort {
    /// Revises `object`. Whether its cluster hosts the allocation is asked only if the answer matters, because to ask is
    /// to claim.
    ///
    /// Fails, with the place in the object, if the steps are no list or if something that is not a map is on the way
    /// to the steps or to a field.
    pub fn apply<'a, A: Ask<'a>>(&self, object: &mut Draft<'a>, ask: &mut A) -> Result<(), A::Error> {
        let is_at = |name: &str, path: &Pointer| format!("`fort.{name}` is {path}");
        let steps =
            object.find(&self.steps).map_err(|failure| failure.with_detail(is_at("steps", &self.steps)))?;
        let steps = match steps {
            None => None,
            Some(Value::Array(steps)) => Some(steps),
            Some(other) => {
                return Err(Failure::unprocessable(format!(
                    "{}: must be a list of steps, is {}; mend the object, or `steps` in the rule",
                    self.steps,
                    other.kind()
                ))
                .into());
            }
        };
        let absent = steps.as_ref().is_none_or(|steps| steps.is_empty());
        if let Some(generate) = &self.generate
            && (absent || generate.when == GenerateWhen::Always)
        {
            let written = if ask.hosts(&self.allocation)? { &generate.fort } else { &generate.elsewhere };
            let steps = ask.value(written, object)?;
            return Ok(object.set(&self.steps, steps)?);
        }
        let Some(steps) = steps.filter(|steps| steps.iter().any(|step| self.concerns(step))) else {
            return Ok(());
        };
        if ask.hosts(&self.allocation)? {
            return Ok(());
        }
        let written = match &self.elsewhere {
            Elsewhere::SetNull => Some(Value::Null),
            Elsewhere::Remove => None,
            Elsewhere::Value(value) => Some(ask.value(value, object)?),
        };
        let mut steps = steps.to_vec();
        self.treat(&mut steps, written.as_ref())
            .map_err(|failure| failure.in_place(&self.steps).with_detail(is_at("field", &self.field)))?;
        Ok(object.set(&self.steps, Value::array(steps))?)
    }

    /// Whether `step` is one of those that only one cluster runs.
    fn concerns(&self, step: &Value<'_>) -> bool {
        matches!(step, Value::Object(step) if holds_members(step, &self.matches))
    }

    /// Writes the field of each step that it concerns; takes it away if there is nothing to write. Places in a failure are
    /// from the list.
    pub(crate) fn treat<'a>(
        &self,
        steps: &mut [Value<'a>],
        written: Option<&Value<'a>>,
    ) -> Result<(), Failure> {
        for (position, step) in steps.iter_mut().enumerate().filter(|(_, step)| self.concerns(step)) {
            match written {
                Some(value) => locate::set(step, &self.field, value.clone()),
                None => locate::remove(step, &self.field),
            }
            .map_err(|failure| failure.in_place(&Pointer::of([position.to_string()])))?;
        }
        Ok(())
    }
}

/// Whether `value` holds `part`: maps hold the members of the part, anything else is equal to it, with its type.
/// Numbers are equal if they mean the same (`1` and `1.0`).
fn holds(value: &Value<'_>, part: &Value<'_>) -> bool {
    match (value, part) {
        (Value::Object(value), Value::Object(part)) => holds_members(value, part),
        (Value::Array(value), Value::Array(part)) => {
            value.len() == part.len()
                && value.iter().zip(part.iter()).all(|(value, part)| equals(value, part))
        }
        _ => equals(value, part),
    }
}

fn holds_members(value: &Object<'_>, part: &Object<'_>) -> bool {
    part.iter().all(|(name, part)| value.get(name).is_some_and(|value| holds(value, part)))
}

/// Equality that does not care how a number is spelled.
fn equals(a: &Value<'_>, b: &Value<'_>) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => a.same_value(b),
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b.iter()).all(|(a, b)| equals(a, b))
        }
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(name, a)| b.get(name).is_some_and(|b| equals(a, b)))
        }
        _ => a == b,
    }
}
