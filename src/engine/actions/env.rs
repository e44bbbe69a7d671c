//! The action `env`: one environment variable of containers.

use super::containers::{Which, not};
use super::{Ask, text, unfit};
use crate::domain::Failure;
use crate::engine::Draft;
use crate::engine::templated::Templated;
use crate::engine::variables::{name, references, refers};
use crate::json::{Pointer, Value};
use crate::schema::Shape;

/// Sets or removes an environment variable in all or some containers.
///
/// An existing variable keeps its place and its other fields. A new variable comes at the end. Kubernetes expands `$(NAME)` only from
/// variables further up, so that in both cases the variable is put before the first variable that refers to it, unless it would then
/// stand before a variable to which it refers itself. Of several variables with the name each is replaced in its place, or removed.
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

/// `value`, which came of `source`, with what expressions gave spelled as a string where only a string fits.
fn value_from<'a>(source: &Templated, value: Value<'a>) -> Value<'a> {
    let place = Pointer::of(["containers", "*", "env", "*", "valueFrom"]);
    source.write_as_text(value, Shape::POD_SPEC.at(&place))
}

impl Env {
    /// Applies it to `object`.
    pub fn apply<'a, A: Ask<'a>>(&self, object: &mut Draft<'a>, ask: &mut A) -> Result<(), A::Error> {
        let (set, cleared, value) = match &self.change {
            EnvChange::Value(value) => {
                ("value", "valueFrom", Some(text("env.value", value, object, ask)?.into()))
            }
            EnvChange::ValueFrom(source) => match value_from(source, ask.value(source, object)?) {
                source @ Value::Object(_) => ("valueFrom", "value", Some(source)),
                other => return Err(unfit("env.valueFrom", "a map", other.kind()))?,
            },
            EnvChange::Remove => ("", "", None),
        };
        let which = Which { names: self.containers.clone(), init: self.init_containers };
        let mut warnings = Vec::new();
        which.change("env", object, ask, |container, place| match &value {
            Some(value) => self.set(container, place, set, cleared, value, &mut warnings).map(Some),
            None => self.remove(container, place),
        })?;
        for warning in warnings {
            ask.warn(warning);
        }
        Ok(())
    }

    fn set<'a>(
        &self,
        container: &Value<'a>,
        place: &Pointer,
        set: &'static str,
        cleared: &str,
        value: &Value<'a>,
        warnings: &mut Vec<String>,
    ) -> Result<Value<'a>, Failure> {
        let mut list = variables(container, place)?;
        let mut positions = Vec::new();
        for (position, variable) in list.iter_mut().enumerate().filter(|(_, variable)| self.is(variable)) {
            positions.push(position);
            if let Some(members) = variable.object_mut() {
                members.remove(cleared);
                members.insert(set, value.clone());
            }
        }
        let user = list.iter().position(|variable| refers(variable, &self.name) && !self.is(variable));
        let own: Vec<&str> = value.as_str().map(references).into_iter().flatten().collect();
        let is_used = |variable: &Value<'a>| name(variable).is_some_and(|name| own.contains(&name));
        match (positions[..].first().copied(), user) {
            (None, user) => {
                let members = [("name", Value::from(self.name.clone())), (set, value.clone())];
                let position = user.filter(|user| !list[*user..].iter().any(is_used));
                let position = position.unwrap_or(list.len());
                list.insert(position, Value::Object(members.into_iter().collect()));
            }
            (Some(first), Some(user)) if user < first => {
                if positions.len() == 1 && !list[user..first].iter().any(is_used) {
                    let variable = list.remove(first);
                    list.insert(user, variable);
                } else {
                    let place = place.join("env").join(user.to_string());
                    warnings.push(format!(
                        "{place}: refers to $({0}), which stands further down and is not expanded here; put {0} before it in the object",
                        self.name
                    ));
                }
            }
            (Some(_), _) => {}
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
