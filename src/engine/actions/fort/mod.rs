//! The action `fort`: only one cluster runs certain steps of a release.
//!
//! The cluster that hosts the allocation gets the object unchanged. In the others, [`Fort::field`] of each
//! step that holds [`Fort::matches`] is set to null, or as [`Elsewhere`] says. Where the object has no steps,
//! [`Fort::generate`] can write them. Paths, fields and types of steps come from the policy alone.

use crate::domain::Failure;
use crate::engine::context::Context;
use crate::engine::request::Stop;
use crate::engine::templated::Templated;
use crate::engine::{Draft, locate};
use crate::json::{Object, Pointer, Value};

#[cfg(test)]
mod tests;

#[derive(Clone, Debug)]
pub struct Fort {
    /// The allocation whose cluster runs the steps.
    pub allocation: String,
    /// Where the list of steps is.
    pub steps: Pointer,
    /// The members of a step that only one cluster runs. Empty: every step that is a map.
    pub matches: Object<'static>,
    /// The field to change, from the step.
    pub field: Pointer,
    pub elsewhere: Elsewhere,
    /// The steps to write where there are none.
    pub generate: Option<Generate>,
}

/// What happens to the field in the clusters that do not host the allocation.
#[derive(Clone, Debug)]
pub enum Elsewhere {
    /// It is set to null, also where it is missing.
    SetNull,
    Remove,
    /// It is set to this value, also where it is missing.
    Value(Templated),
}

/// Steps that the rule writes itself.
#[derive(Clone, Debug)]
pub struct Generate {
    pub when: GenerateWhen,
    /// The steps in the cluster that hosts the allocation.
    pub fort: Templated,
    /// The steps in the others.
    pub elsewhere: Templated,
}

/// When steps are generated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GenerateWhen {
    /// If the list is missing, null or empty.
    Absent,
    /// Always: existing steps are replaced.
    Always,
}

impl Fort {
    pub(super) fn values(&self) -> Vec<&Templated> {
        let elsewhere = match &self.elsewhere {
            Elsewhere::Value(value) => Some(value),
            Elsewhere::SetNull | Elsewhere::Remove => None,
        };
        let generated = self.generate.iter().flat_map(|generate| [&generate.fort, &generate.elsewhere]);
        elsewhere.into_iter().chain(generated).collect()
    }

    /// Asks whether the cluster hosts the allocation only where that matters: to ask is to claim.
    pub(super) fn apply<'a>(&self, draft: &mut Draft<'a>, context: &mut Context<'_, 'a>) -> Result<(), Stop> {
        let is_at = |name: &str, path: &Pointer| format!("`fort.{name}` is {path}");
        let found = draft.find(&self.steps);
        let steps = match found.map_err(|failure| failure.with_detail(is_at("steps", &self.steps)))? {
            None => &[],
            Some(Value::Array(steps)) => &steps[..],
            Some(other) => {
                return Err(Stop::Refused(Failure::unprocessable(format!(
                    "{}: must be a list of steps, is {}; change the object, or `steps` in the rule",
                    self.steps,
                    other.kind()
                ))));
            }
        };
        if let Some(generate) = &self.generate
            && (steps.is_empty() || generate.when == GenerateWhen::Always)
        {
            let hosts = context.hosts(&self.allocation)?;
            let steps = context.value(if hosts { &generate.fort } else { &generate.elsewhere }, draft)?;
            return Ok(draft.set(&self.steps, steps)?);
        }
        if !steps.iter().any(|step| self.concerns(step)) || context.hosts(&self.allocation)? {
            return Ok(());
        }
        let mut steps = steps.to_vec();
        let value = match &self.elsewhere {
            Elsewhere::SetNull => Some(Value::Null),
            Elsewhere::Remove => None,
            Elsewhere::Value(value) => Some(context.value(value, draft)?),
        };
        self.write_field(&mut steps, value.as_ref())
            .map_err(|failure| failure.in_place(&self.steps).with_detail(is_at("field", &self.field)))?;
        Ok(draft.set(&self.steps, Value::array(steps))?)
    }

    /// Whether only one cluster runs `step`.
    fn concerns(&self, step: &Value<'_>) -> bool {
        matches!(step, Value::Object(step) if holds_members(step, &self.matches))
    }

    /// Sets the field of each step that only one cluster runs, or removes it if there is no value. Places in
    /// a failure are from the list.
    pub(crate) fn write_field<'a>(
        &self,
        steps: &mut [Value<'a>],
        value: Option<&Value<'a>>,
    ) -> Result<(), Failure> {
        for (position, step) in steps.iter_mut().enumerate().filter(|(_, step)| self.concerns(step)) {
            match value {
                Some(value) => locate::set(step, &self.field, value.clone()),
                None => locate::remove(step, &self.field),
            }
            .map_err(|failure| failure.in_place(&Pointer::of([position.to_string()])))?;
        }
        Ok(())
    }
}

/// Whether `value` holds `part`: maps hold the members of the part, anything else is equal to it, with its
/// type. Numbers are equal if they mean the same (`1` and `1.0`).
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

/// Equality in which numbers are compared by value.
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
