//! The action `patch`: strategic merge, JSON merge (RFC 7386), JSON patch (RFC 6902).

use crate::domain::{Failure, GroupVersionKind};
use crate::engine::context::Context;
use crate::engine::places::below_string;
use crate::engine::request::Stop;
use crate::engine::templated::Templated;
use crate::engine::{Draft, types};
use crate::json::{Pointer, Value};
use crate::patch::rfc6902::{self, MissingPath, Op};
use crate::patch::strategic::{self, Declared, Merged, Schema, Shortened, Unreached};
use crate::patch::{InvalidPatchError, PatchError, merge};
use crate::schema::{self, ObjectType, Shape};

#[derive(Clone, Debug)]
pub struct PatchAction {
    pub kind: PatchKind,
    /// The patch. `null`, which a text of comments is read as, changes nothing.
    pub value: Templated,
}

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
    /// The list. A step `*` stands for each item of a list on the way.
    pub path: Pointer,
    /// The places of the keys in an item.
    pub keys: Vec<Pointer>,
}

impl MergeKey {
    /// The declaration for the schema of the patch.
    pub fn declared(&self) -> Declared<'_> {
        Declared { path: &self.path, keys: &self.keys }
    }
}

impl PatchAction {
    pub(in crate::engine) fn apply<'a>(
        &self,
        draft: &mut Draft<'a>,
        context: &mut Context<'_, 'a>,
    ) -> Result<(), Stop> {
        let patch = context.value(&self.value, draft)?;
        if patch.is_null() {
            return Ok(());
        }
        let (gvk, templates) = (&context.request.workload.gvk, context.facts.pod_templates);
        let object = draft.value();
        let patch = self.write_as_text(patch, &types::of(gvk, templates, object));
        let patched = match &self.kind {
            PatchKind::Strategic(keys) => {
                if let Some(fault) = strategic::check(&patch).first() {
                    return Err(invalid(fault).into());
                }
                let schema = Schema::of(&gvk.api_version(), &gvk.kind, templates)
                    .declaring(keys.iter().map(MergeKey::declared));
                let warnings = ineffective_keys(object, &patch, keys, &schema)?;
                let Merged { value, shortened } =
                    strategic::merge(object, &patch, &schema).map_err(|error| refused(&error))?;
                for warning in warnings {
                    context.warn(warning);
                }
                for Shortened { place, removed } in shortened {
                    let items = if removed == 1 { "1 item is" } else { &format!("{removed} items are") };
                    context.warn(format!(
                        "{place}: the list is replaced as a whole, and {items} removed; declare `mergeKeys` for it or use a JSON patch, in a \
                         policy, or add the item `$patch: replace` if this is meant"
                    ));
                }
                value
            }
            PatchKind::Merge if patch.as_object().is_none() => {
                return Err(Stop::Refused(Failure::unprocessable(format!(
                    "patch.value: must be a map, is {}; change the rule",
                    patch.kind()
                ))));
            }
            PatchKind::Merge => merge::apply(object, &patch),
            PatchKind::Json(missing) => {
                let operations = rfc6902::parse(&patch).map_err(|fault| invalid(&fault))?;
                check_places(&operations, gvk)?;
                rfc6902::apply(object, &operations, *missing).map_err(|error| refused(&error))?
            }
        };
        if patched.as_object().is_none() {
            return Err(Stop::Refused(Failure::unprocessable(format!(
                "the patch would replace the object by {}; change the rule",
                patched.kind()
            ))));
        }
        Ok(draft.set(&Pointer::ROOT, patched)?)
    }

    /// The patch, with what expressions gave spelled as a string at the places of `of` where only a string
    /// fits.
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

/// Warnings for `mergeKeys` of lists that neither the object nor the patch has. Fails for keys that have no
/// effect because a list on the way is replaced.
fn ineffective_keys(
    object: &Value<'_>,
    patch: &Value<'_>,
    keys: &[MergeKey],
    schema: &Schema,
) -> Result<Vec<String>, Failure> {
    let mut warnings = Vec::new();
    for MergeKey { path, .. } in keys {
        match schema.reach(path) {
            Ok(_) if !has_list(patch, path.tokens()) && !has_list(object, path.tokens()) => {
                warnings.push(format!(
                    "{path}: `mergeKeys` names a list that neither the object nor the patch has; correct the path in the rule"
                ));
            }
            Err(Unreached::Replaced(list)) if has_list(patch, path.tokens()) => {
                return Err(Failure::unprocessable(format!(
                    "{list}: the list is replaced as a whole, so `mergeKeys` for {path} has no effect; declare keys for {list} too"
                )));
            }
            // The policy may select other kinds, which have such a list.
            Ok(_) | Err(_) => {}
        }
    }
    Ok(warnings)
}

/// Whether there is a list at a place, or a directive about one.
fn has_list(value: &Value<'_>, tokens: &[String]) -> bool {
    match (tokens, value) {
        ([], value) => value.as_array().is_some(),
        ([items, rest @ ..], Value::Array(list)) if items == "*" => {
            list.iter().any(|item| has_list(item, rest))
        }
        ([name, rest @ ..], Value::Object(object)) => {
            object.get(name).is_some_and(|value| has_list(value, rest))
                || rest.is_empty() && object.iter().any(|(key, _)| strategic::is_directive(key, name))
        }
        _ => false,
    }
}

/// A patch that is no patch once its expressions are evaluated.
fn invalid(fault: &InvalidPatchError) -> Failure {
    Failure::unprocessable(format!("patch.value{}: {}; change the rule", fault.place, fault.problem))
}

/// A patch that can't be applied to this object.
fn refused(error: &PatchError) -> Failure {
    let operation = error.operation.map(|at| format!(" (operation {at})")).unwrap_or_default();
    Failure::unprocessable(format!(
        "{}: {}{operation}; change the object, or the patch in the rule",
        error.place, error.problem
    ))
}
