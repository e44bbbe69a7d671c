//! What a rule does, one folder or file an action.
//!
//! An action changes a [`Draft`] and asks what it needs to know through [`Ask`]. It either does all that it says or fails; what it
//! fails with begins with the place in the object.

mod containers;
mod divide;
mod env;
mod fort;
mod image;
mod patch;
mod reference;
mod strategic;

pub use divide::{Divide, Percentages, Weights};
pub use env::{Env, EnvChange};
pub use fort::{Elsewhere, Fort, Generate, GenerateWhen};
pub use image::Image;
pub use patch::{MergeKey, PatchAction, PatchKind};

use super::Draft;
use super::revise::Request;
use super::templated::Templated;
use crate::domain::Failure;
use crate::json::{Kind, Pointer, Value};

/// What a rule does.
#[derive(Clone, Debug)]
pub enum Action {
    /// Writes the steps of a release so that only one cluster runs some of them.
    Fort(Fort),
    /// Patches the object.
    Patch(PatchAction),
    /// Sets or removes an environment variable.
    Env(Env),
    /// Changes image references.
    Image(Image),
    /// Divides a number among the clusters.
    Divide(Divide),
}

impl Action {
    /// Applies it to `object`.
    pub fn apply<'a, A: Ask<'a>>(&self, object: &mut Draft<'a>, ask: &mut A) -> Result<(), A::Error> {
        match self {
            Self::Fort(fort) => fort.apply(object, ask),
            Self::Patch(patching) => patching.apply(object, ask),
            Self::Env(env) => env.apply(object, ask),
            Self::Image(image) => image.apply(object, ask),
            Self::Divide(divide) => Ok(divide.apply(object, &ask.request())?),
        }
    }
}

impl Action {
    /// Calls `each` with every value of the rule that may hold expressions.
    pub fn values(&self, each: &mut impl FnMut(&Templated)) {
        match self {
            Self::Patch(patching) => each(&patching.value),
            Self::Env(env) => match &env.change {
                EnvChange::Value(value) | EnvChange::ValueFrom(value) => each(value),
                EnvChange::Remove => {}
            },
            Self::Image(image) => {
                let parts = [&image.registry, &image.repository, &image.tag, &image.digest];
                parts.into_iter().flatten().for_each(each);
            }
            Self::Fort(fort) => {
                if let Elsewhere::Value(value) = &fort.elsewhere {
                    each(value);
                }
                if let Some(generate) = &fort.generate {
                    each(&generate.fort);
                    each(&generate.elsewhere);
                }
            }
            Self::Divide(_) => {}
        }
    }
}

/// What an action can ask.
pub trait Ask<'a> {
    /// Why there is no answer.
    type Error: From<Failure>;

    /// Whether the cluster hosts `allocation`. To ask is to claim it.
    fn hosts(&mut self, allocation: &str) -> Result<bool, Self::Error>;

    /// A value of the policy, with its expressions evaluated for `object`.
    fn value(&mut self, templated: &Templated, object: &Draft<'a>) -> Result<Value<'a>, Self::Error>;

    /// What is being revised.
    fn request(&self) -> Request<'_, 'a>;

    /// Where the object has its pod templates; the root for one that is itself like a pod. A step `*` stands for each item of a list.
    fn pod_templates(&self) -> &[Pointer];

    /// Adds a warning to the revision: `<pointer>: <problem>; <advice>`. The caller adds rule and cluster.
    fn warn(&mut self, warning: String);
}

/// A value of the policy that has to be a text: numbers and booleans are written out.
fn text<'a, A: Ask<'a>>(
    what: &str,
    templated: &Templated,
    object: &Draft<'a>,
    ask: &mut A,
) -> Result<String, A::Error> {
    Ok(match ask.value(templated, object)? {
        Value::String(text) => text.into_owned(),
        Value::Number(number) => number.as_str().to_owned(),
        Value::Bool(flag) => flag.to_string(),
        other => Err(unfit(what, "a string", other.kind()))?,
    })
}

/// The failure where an expression gives something of the wrong kind.
fn unfit(what: &str, wanted: &str, found: Kind) -> Failure {
    Failure::unprocessable(format!(
        "`{what}` must give {wanted}, and gave {found}; mend the expression in the rule"
    ))
}
