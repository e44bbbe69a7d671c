//! What a rule does, one file for each action.
//!
//! An action changes a [`Draft`], and asks a [`Context`] for what it needs. It applies completely or fails. A
//! failure begins with the place in the object.

mod containers;
mod divide;
mod env;
mod fort;
mod image;
mod patch;
mod reference;

pub use divide::{Divide, Percentages, Weights};
pub use env::{Env, EnvChange};
pub use fort::{Elsewhere, Fort, Generate, GenerateWhen};
pub use image::Image;
pub use patch::{MergeKey, PatchAction, PatchKind};

use super::Draft;
use super::context::Context;
use super::request::Stop;
use super::templated::Templated;

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
    pub(super) fn apply<'a>(&self, draft: &mut Draft<'a>, context: &mut Context<'_, 'a>) -> Result<(), Stop> {
        match self {
            Self::Fort(fort) => fort.apply(draft, context),
            Self::Patch(patch) => patch.apply(draft, context),
            Self::Env(env) => env.apply(draft, context),
            Self::Image(image) => image.apply(draft, context),
            Self::Divide(divide) => Ok(divide.apply(draft, context.request)?),
        }
    }

    /// The field of the rule that holds the action.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Fort(_) => "fort",
            Self::Patch(_) => "patch",
            Self::Env(_) => "env",
            Self::Image(_) => "image",
            Self::Divide(_) => "divide",
        }
    }

    /// The values that may hold expressions.
    pub fn values(&self) -> Vec<&Templated> {
        match self {
            Self::Fort(fort) => fort.values(),
            Self::Patch(patch) => vec![&patch.value],
            Self::Env(env) => env.values(),
            Self::Image(image) => image.values(),
            Self::Divide(_) => Vec::new(),
        }
    }

    /// Whether it reads the template of the object, expressions aside.
    pub fn reads_template(&self) -> bool {
        match self {
            Self::Divide(_) => true,
            Self::Fort(_) | Self::Patch(_) | Self::Env(_) | Self::Image(_) => false,
        }
    }

    /// Whether it needs the schedule of the workload, expressions aside.
    pub fn needs_schedule(&self) -> bool {
        match self {
            Self::Fort(_) | Self::Divide(_) => true,
            Self::Patch(_) | Self::Env(_) | Self::Image(_) => false,
        }
    }

    /// Whether a rule may skip it where it fails. Without its `fort`, a release would run in every cluster.
    pub fn can_be_skipped(&self) -> bool {
        match self {
            Self::Fort(_) => false,
            Self::Patch(_) | Self::Env(_) | Self::Image(_) | Self::Divide(_) => true,
        }
    }
}
