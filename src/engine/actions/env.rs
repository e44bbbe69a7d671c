//! The action `env`: one environment variable of containers.

use super::containers::{ContainerSelector, wrong_kind};
use crate::domain::Failure;
use crate::engine::Draft;
use crate::engine::context::{Context, unfit};
use crate::engine::env_order::{name, references, refers};
use crate::engine::request::Stop;
use crate::engine::templated::Templated;
use crate::json::{Object, Pointer, Value};
use crate::schema::Shape;

/// Sets or removes an environment variable in all or some containers.
///
/// An existing variable keeps its position and its other fields; a new variable is added at the end.
/// Kubernetes expands `$(NAME)` only from variables before it. The variable is therefore put before the first
/// variable that refers to it, unless it would then come before a variable that it refers to itself. Of
/// several variables with the name, each is replaced or removed.
#[derive(Clone, Debug)]
pub struct Env {
    pub name: String,
    pub change: EnvChange,
    /// The containers, by name; all if empty.
    pub containers: Vec<String>,
    /// Whether init containers are changed too.
    pub init_containers: bool,
}

#[derive(Clone, Debug)]
pub enum EnvChange {
    /// Sets `value`, and removes `valueFrom`.
    Value(Templated),
    /// Sets `valueFrom`, and removes `value`.
    ValueFrom(Templated),
    Remove,
}

impl Env {
    pub(super) fn values(&self) -> Vec<&Templated> {
        match &self.change {
            EnvChange::Value(value) | EnvChange::ValueFrom(value) => vec![value],
            EnvChange::Remove => Vec::new(),
        }
    }

    pub(super) fn apply<'a>(&self, draft: &mut Draft<'a>, context: &mut Context<'_, 'a>) -> Result<(), Stop> {
        let (set, cleared, value) = match &self.change {
            EnvChange::Value(value) => {
                ("value", "valueFrom", Some(context.text("env.value", value, draft)?.into()))
            }
            EnvChange::ValueFrom(source) => {
                // Where only a string fits, a number or boolean that an expression gave is spelled out.
                let place = Pointer::of(["containers", "*", "env", "*", "valueFrom"]);
                match source.write_as_text(context.value(source, draft)?, Shape::POD_SPEC.at(&place)) {
                    source @ Value::Object(_) => ("valueFrom", "value", Some(source)),
                    other => return Err(unfit("env.valueFrom", "a map", other.kind()).into()),
                }
            }
            EnvChange::Remove => ("", "", None),
        };
        let selector = ContainerSelector { names: &self.containers, init: self.init_containers };
        let mut warnings = Vec::new();
        selector.change("env", draft, context, |container, place| {
            match &value {
                Some(value) => warnings.extend(self.set(container, place, (set, value), cleared)?),
                None => self.remove(container, place)?,
            }
            Ok(())
        })?;
        for warning in warnings {
            context.warn(warning);
        }
        Ok(())
    }

    /// Returns a warning if another variable refers to this one, and is before it.
    fn set<'a>(
        &self,
        container: &mut Object<'a>,
        place: &Pointer,
        (field, value): (&'static str, &Value<'a>),
        cleared: &str,
    ) -> Result<Option<String>, Failure> {
        let mut list = variables(container, place)?;
        let mut positions = Vec::new();
        for (position, variable) in list.iter_mut().enumerate().filter(|(_, variable)| self.is(variable)) {
            positions.push(position);
            if let Some(members) = variable.object_mut() {
                members.remove(cleared);
                members.insert(field, value.clone());
            }
        }
        let user = list.iter().position(|variable| refers(variable, &self.name) && !self.is(variable));
        let own: Vec<&str> = value.as_str().map(references).into_iter().flatten().collect();
        let is_used = |variable: &Value<'a>| name(variable).is_some_and(|name| own.contains(&name));
        let mut warning = None;
        match (positions.first().copied(), user) {
            (None, user) => {
                let position = user.filter(|user| !list[*user..].iter().any(is_used)).unwrap_or(list.len());
                let members = [("name", Value::from(self.name.clone())), (field, value.clone())];
                list.insert(position, Value::Object(members.into_iter().collect()));
            }
            (Some(first), Some(user)) if user < first => {
                if positions.len() == 1 && !list[user..first].iter().any(is_used) {
                    let variable = list.remove(first);
                    list.insert(user, variable);
                } else {
                    let place = place.join("env").join(user.to_string());
                    warning = Some(format!(
                        "{place}: refers to $({0}), which comes after it and is not expanded here; put {0} before it in the object",
                        self.name
                    ));
                }
            }
            (Some(_), _) => {}
        }
        container.insert("env", Value::array(list));
        Ok(warning)
    }

    fn remove(&self, container: &mut Object<'_>, place: &Pointer) -> Result<(), Failure> {
        let mut list = variables(container, place)?;
        let before = list.len();
        list.retain(|variable| !self.is(variable));
        if list.len() != before {
            container.insert("env", Value::array(list));
        }
        Ok(())
    }

    fn is(&self, variable: &Value<'_>) -> bool {
        name(variable) == Some(&self.name)
    }
}

fn variables<'a>(container: &Object<'a>, place: &Pointer) -> Result<Vec<Value<'a>>, Failure> {
    match container.get("env") {
        None | Some(Value::Null) => Ok(Vec::new()),
        Some(Value::Array(list)) => Ok(list.to_vec()),
        Some(other) => Err(wrong_kind(&place.join("env"), "a list of environment variables", other.kind())),
    }
}
