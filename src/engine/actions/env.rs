//! The action `env`: one environment variable of containers.

use super::containers::{Which, not};
use super::{Ask, text, unfit};
use crate::domain::Failure;
use crate::engine::Draft;
use crate::engine::templated::Templated;
use crate::json::{Pointer, Value};

/// Sets or removes an environment variable in all or some containers.
///
/// One that is there is replaced in its place, with whatever else it had but its value; another comes at the end. Of several
/// with the name each is replaced, or removed.
#[derive(Clone, Debug)]
pub struct Env {
    /// Its name.
    pub name: String,
    /// What becomes of it.
    pub change: EnvChange,
    /// The containers, by name; all if there are none.
    pub containers: Vec<String>,
    /// Whether init containers get it too.
    pub init_containers: bool,
}

/// What becomes of an environment variable.
#[derive(Clone, Debug)]
pub enum EnvChange {
    /// It has this value, and no `valueFrom`.
    Value(Templated),
    /// It is taken from there, and has no `value`.
    ValueFrom(Templated),
    /// There is none.
    Remove,
}

impl Env {
    /// Applies it to `object`.
    pub fn apply<'a, A: Ask<'a>>(&self, object: &mut Draft<'a>, ask: &mut A) -> Result<(), A::Error> {
        let (set, cleared, value) = match &self.change {
            EnvChange::Value(value) => {
                ("value", "valueFrom", Some(text("env.value", value, object, ask)?.into()))
            }
            EnvChange::ValueFrom(source) => match ask.value(source, object)? {
                source @ Value::Object(_) => ("valueFrom", "value", Some(source)),
                other => return Err(unfit("env.valueFrom", "a map", other.kind()))?,
            },
            EnvChange::Remove => ("", "", None),
        };
        let which = Which { names: self.containers.clone(), init: self.init_containers };
        which.change(object, ask, |container, place| match &value {
            Some(value) => self.set(container, place, set, cleared, value).map(Some),
            None => self.remove(container, place),
        })
    }

    fn set<'a>(
        &self,
        container: &Value<'a>,
        place: &Pointer,
        set: &'static str,
        cleared: &str,
        value: &Value<'a>,
    ) -> Result<Value<'a>, Failure> {
        let mut list = variables(container, place)?;
        let mut there = false;
        for variable in list.iter_mut().filter(|variable| self.is(variable)) {
            there = true;
            if let Some(members) = variable.object_mut() {
                members.remove(cleared);
                members.insert(set, value.clone());
            }
        }
        if !there {
            let members = [("name", Value::from(self.name.clone())), (set, value.clone())];
            list.push(Value::Object(members.into_iter().collect()));
        }
        Ok(with(container, list))
    }

    fn remove<'a>(&self, container: &Value<'a>, place: &Pointer) -> Result<Option<Value<'a>>, Failure> {
        let mut list = variables(container, place)?;
        let before = list.len();
        list.retain(|variable| !self.is(variable));
        Ok((list.len() != before).then(|| with(container, list)))
    }

    fn is(&self, variable: &Value<'_>) -> bool {
        variable.get("name").and_then(Value::as_str) == Some(&self.name)
    }
}

/// The variables of a container; none if it has no list of them.
fn variables<'a>(container: &Value<'a>, place: &Pointer) -> Result<Vec<Value<'a>>, Failure> {
    match container.get("env") {
        None | Some(Value::Null) => Ok(Vec::new()),
        Some(Value::Array(list)) => Ok(list.to_vec()),
        Some(other) => Err(not(&place.join("env"), "a list of environment variables", other.kind())),
    }
}

/// The container with these variables.
fn with<'a>(container: &Value<'a>, list: Vec<Value<'a>>) -> Value<'a> {
    let mut container = container.clone();
    if let Some(members) = container.object_mut() {
        members.insert("env", Value::array(list));
    }
    container
}
