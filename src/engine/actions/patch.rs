//! The action `patch`: strategic merge, JSON merge (RFC 7386), JSON patch (RFC 6902).

use super::Ask;
use crate::domain::{Failure, GroupVersionKind};
use crate::engine::places::below_string;
use crate::engine::templated::Templated;
use crate::engine::{Draft, types};
use crate::json::{Pointer, Value};
use crate::patch::rfc6902::{self, MissingPath, Op};
use crate::patch::strategic::{self, Declared};
use crate::patch::{InvalidPatchError, PatchError, merge};
use crate::schema::{self, ObjectType, Shape};

/// Patches the object.
#[derive(Clone, Debug)]
pub struct PatchAction {
    /// Which kind of patch.
    pub kind: PatchKind,
    /// The patch. `null`, which a text of comments is, changes nothing.
    pub value: Templated,
}

/// The kinds of patches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PatchKind {
    /// Strategic merge patch.
    Strategic(Vec<MergeKey>),
    /// JSON merge patch, RFC 7386.
    Merge,
    /// JSON patch, RFC 6902.
    Json(MissingPath),
}

/// A list that is merged, and by which keys of its items.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MergeKey {
    /// The list. A step `*` stands for every item of a list on the way.
    pub path: Pointer,
    /// Where the keys are in an item.
    pub keys: Vec<Pointer>,
}

impl MergeKey {
    /// The same for the schema that the patch is applied by.
    pub fn declared(&self) -> Declared<'_> {
        Declared { path: &self.path, keys: &self.keys }
    }
}

impl PatchAction {
    /// Applies it to `object`.
    pub fn apply<'a, A: Ask<'a>>(&self, object: &mut Draft<'a>, ask: &mut A) -> Result<(), A::Error> {
        let patch = ask.value(&self.value, object)?;
        if patch.is_null() {
            return Ok(());
        }
        let whole = object.to_value()?;
        let patch =
            self.write_as_text(patch, &types::of(&ask.request().workload.gvk, ask.pod_templates(), &whole));
        let patched = match &self.kind {
            PatchKind::Strategic(keys) => {
                if let Some(fault) = strategic::check(&patch).into_iter().next() {
                    return Err(unfit(&fault))?;
                }
                super::strategic::apply(&whole, &patch, keys, ask)?
            }
            PatchKind::Merge if patch.as_object().is_none() => {
                return Err(Failure::unprocessable(format!(
                    "patch.value: must be a map, is {}; mend the rule",
                    patch.kind()
                )))?;
            }
            PatchKind::Merge => merge::apply(&whole, &patch),
            PatchKind::Json(missing) => {
                let operations = rfc6902::parse(&patch).map_err(|fault| unfit(&fault))?;
                check_places(&operations, &ask.request().workload.gvk)?;
                rfc6902::apply(&whole, &operations, *missing).map_err(|error| refused(&error))?
            }
        };
        if patched.as_object().is_none() {
            return Err(Failure::unprocessable(format!(
                "the patch would leave {} of the object; mend the rule",
                patched.kind()
            )))?;
        }
        Ok(object.set(&Pointer::ROOT, patched)?)
    }
}

impl PatchAction {
    /// The patch, with what came of expressions spelled as a string at the places of `of` where only a string fits.
    fn write_as_text<'a>(&self, patch: Value<'a>, of: &ObjectType) -> Value<'a> {
        let (PatchKind::Json(_), Value::Array(operations)) = (&self.kind, &patch) else {
            return self.value.write_as_text(patch, of.root());
        };
        if self.value.constant().is_some() {
            return patch;
        }
        let written = operations.iter().enumerate().map(|(position, operation)| {
            let (Some(place), Some(value)) =
                (operation.get("path").and_then(Value::as_str), operation.get("value").cloned())
            else {
                return operation.clone();
            };
            let shape = Pointer::parse(place).map_or(Shape::Unknown, |place| of.at(&place));
            let value = match &self.value {
                Templated::List(operations) => {
                    match operations.get(position).and_then(|operation| operation.member("value")) {
                        Some(template) => template.write_as_text(value, shape),
                        None => schema::write_as_text(value, shape),
                    }
                }
                template => template.write_as_text(value, shape),
            };
            let mut operation = operation.clone();
            if let Some(members) = operation.object_mut() {
                members.insert("value", value);
            }
            operation
        });
        Value::array(written.collect())
    }
}

/// Refuses operations with places that no object of this kind has.
fn check_places(operations: &[Op<'_>], gvk: &GroupVersionKind) -> Result<(), Failure> {
    for (position, operation) in operations.iter().enumerate() {
        for (field, path) in operation.pointers() {
            if let Some(problem) = below_string(path, Some(gvk)) {
                return Err(Failure::unprocessable(format!("patch.value/{position}/{field}: {problem}")));
            }
        }
    }
    Ok(())
}

/// What is wrong with a patch once its expressions are evaluated.
fn unfit(fault: &InvalidPatchError) -> Failure {
    Failure::unprocessable(format!("patch.value{}: {}; mend the rule", fault.place, fault.problem))
}

/// What is wrong with a patch for this object.
pub(super) fn refused(error: &PatchError) -> Failure {
    let operation = error.operation.map(|at| format!(" (operation {at})")).unwrap_or_default();
    Failure::unprocessable(format!(
        "{}: {}{operation}; mend the object, or the patch in the rule",
        error.place, error.problem
    ))
}
