//! Values of a policy in which strings may hold `${...}`.

use std::borrow::Cow;

use crate::expression::{CompileError, Scope, Template, Variable};
use crate::json::{Kind, Pointer, Value};
use crate::schema::{self, Shape};

/// A value of a policy.
#[derive(Clone, Debug)]
pub enum Templated {
    Constant(Value<'static>),
    /// A string with expressions, whose value can be of any kind.
    Template(Template),
    /// A list with an expression in it.
    List(Vec<Self>),
    /// A map with an expression in it. Names have none.
    Map(Vec<(String, Self)>),
}

impl Templated {
    /// Compiles all strings in `value`. Adds each error to `faults`, with its place.
    pub fn compile(value: &Value<'static>, scope: &Scope, faults: &mut Vec<(Pointer, CompileError)>) -> Self {
        Self::compile_at(value, scope, &Pointer::ROOT, faults)
    }

    fn compile_at(
        value: &Value<'static>,
        scope: &Scope,
        place: &Pointer,
        faults: &mut Vec<(Pointer, CompileError)>,
    ) -> Self {
        match value {
            Value::String(text) => match Template::compile(text, scope) {
                Ok(template) => match template.constant() {
                    Some(text) => Self::Constant(Value::from(text.to_owned())),
                    None => Self::Template(template),
                },
                Err(fault) => {
                    faults.push((place.clone(), fault));
                    Self::Constant(Value::Null)
                }
            },
            Value::Array(items) => {
                let items = items.iter().enumerate().map(|(position, item)| {
                    Self::compile_at(item, scope, &place.join(position.to_string()), faults)
                });
                let items: Vec<Self> = items.collect();
                match items.iter().map(Self::constant).collect::<Option<Vec<_>>>() {
                    Some(constants) => Self::Constant(Value::array(constants.into_iter().cloned().collect())),
                    None => Self::List(items),
                }
            }
            Value::Object(members) => {
                let members = members.iter().map(|(name, member)| {
                    (name.to_owned(), Self::compile_at(member, scope, &place.join(name), faults))
                });
                let members: Vec<(String, Self)> = members.collect();
                if members.iter().all(|(_, member)| member.constant().is_some()) {
                    let constant =
                        |(name, member): &(String, Self)| Some((name.clone(), member.constant()?.clone()));
                    return Self::Constant(Value::Object(members.iter().filter_map(constant).collect()));
                }
                Self::Map(members)
            }
            other => Self::Constant(other.clone()),
        }
    }

    /// The value, if there are no expressions.
    pub fn constant(&self) -> Option<&Value<'static>> {
        match self {
            Self::Constant(value) => Some(value),
            _ => None,
        }
    }

    /// The kind of the value, if the policy alone determines it.
    pub fn kind(&self) -> Option<Kind> {
        match self {
            Self::Constant(value) => Some(value.kind()),
            Self::Template(template) => template.kind(),
            Self::List(_) => Some(Kind::Array),
            Self::Map(_) => Some(Kind::Object),
        }
    }

    /// `value`, which was evaluated from this, with the results of expressions spelled as strings where only
    /// a string fits `shape`.
    pub fn write_as_text<'a>(&self, value: Value<'a>, shape: Shape<'_>) -> Value<'a> {
        match (self, value) {
            (Self::Template(_), value) => schema::write_as_text(value, shape),
            (Self::List(templates), Value::Array(items)) => {
                let items = templates.iter().zip(items.iter());
                let written =
                    items.map(|(template, item)| template.write_as_text(item.clone(), shape.item()));
                Value::array(written.collect())
            }
            (Self::Map(templates), Value::Object(members)) => {
                let members = templates.iter().zip(members.iter().map(|(_, member)| member.clone()));
                let written = members.map(|((name, template), member)| {
                    (name.clone(), template.write_as_text(member, shape.at(&Pointer::of([name.as_str()]))))
                });
                Value::Object(written.collect())
            }
            (_, value) => value,
        }
    }

    pub fn member(&self, name: &str) -> Option<Cow<'_, Self>> {
        match self {
            Self::Constant(Value::Object(members)) => {
                members.get(name).map(|value| Cow::Owned(Self::Constant(value.clone())))
            }
            Self::Map(members) => {
                members.iter().find(|(key, _)| key == name).map(|(_, member)| Cow::Borrowed(member))
            }
            _ => None,
        }
    }

    /// Calls `each` with every variable that it reads.
    pub fn uses(&self, each: &mut impl FnMut(&Variable)) {
        self.templates(&mut |template| template.uses().iter().for_each(&mut *each));
    }

    /// Calls `each` with every string that holds expressions.
    pub fn templates(&self, each: &mut impl FnMut(&Template)) {
        match self {
            Self::Constant(_) => {}
            Self::Template(template) => each(template),
            Self::List(items) => items.iter().for_each(|item| item.templates(each)),
            Self::Map(members) => members.iter().for_each(|(_, member)| member.templates(each)),
        }
    }

    pub fn evaluate<'a, E>(
        &self,
        evaluate: &mut impl FnMut(&Template) -> Result<Value<'a>, E>,
    ) -> Result<Value<'a>, E> {
        match self {
            Self::Constant(value) => Ok(value.clone()),
            Self::Template(template) => evaluate(template),
            Self::List(items) => {
                let items: Result<Vec<_>, E> = items.iter().map(|item| item.evaluate(evaluate)).collect();
                Ok(Value::array(items?))
            }
            Self::Map(members) => {
                let members: Result<Vec<_>, E> = members
                    .iter()
                    .map(|(name, member)| Ok((name.clone(), member.evaluate(evaluate)?)))
                    .collect();
                Ok(Value::Object(members?.into_iter().collect()))
            }
        }
    }
}
