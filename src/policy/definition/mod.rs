//! Checks what rules write against the structural schema of a `CustomResourceDefinition`: the field of
//! `fort`, and the lists of strategic merge patches.
//!
//! Observed on a real API server: a null in a typed field that is not `nullable` is dropped silently, and a
//! `default` of the field then replaces it. In that case every cluster runs the steps that only one cluster
//! should run.

mod lists;

use crate::domain::GroupVersionKind;
use crate::engine::{Action, Elsewhere, Fort, PatchAction, PolicySet};
use crate::json::{Object, Pointer, Value};
use crate::schema::{self, Mismatch, MismatchKind, Shape};

use super::types;

/// A finding about a policy of a set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PolicyFinding {
    /// The position of the policy in its set.
    pub policy: usize,
    /// The place in its document.
    pub field: Pointer,
    /// What is wrong and how to fix it.
    pub problem: String,
}

/// The findings about the rules of the set, and the reason if nothing was checked.
pub fn definition(document: &Value<'_>, set: &PolicySet) -> (Vec<PolicyFinding>, Option<String>) {
    let Some(definition) = Definition::read(document) else {
        return (
            Vec::new(),
            Some("is no CustomResourceDefinition of apiextensions.k8s.io/v1; not looked at".to_owned()),
        );
    };
    let mut findings = Vec::new();
    let mut looked = false;
    for (position, policy) in set.policies.iter().enumerate() {
        for (selector_position, selector) in policy.selectors.iter().enumerate() {
            if !definition.is_of(&selector.gvk) {
                continue;
            }
            let Some(schema) = definition.version(&selector.gvk.version) else {
                let field =
                    Pointer::of(["spec", "resourceSelectors", &selector_position.to_string(), "apiVersion"]);
                let problem = format!("the kind has no served version {:?}", selector.gvk.version);
                findings.push(PolicyFinding { policy: position, field, problem });
                looked = true;
                continue;
            };
            for (rule_position, rule) in policy.rules.iter().enumerate() {
                let place = Pointer::of(["spec", "rules", &rule_position.to_string()]);
                let found: Vec<(Pointer, String)> = match &rule.action {
                    Action::Fort(fort) => {
                        let problem = problem(fort, schema);
                        problem.into_iter().map(|(member, it)| (Pointer::of(["fort", member]), it)).collect()
                    }
                    Action::Patch(patching) => {
                        let value = Pointer::of(["patch", "value"]);
                        let misfits = misfits(patching, schema).into_iter();
                        let pod_templates = set.active_pod_templates(&selector.gvk);
                        let lists = lists::problems(patching, &selector.gvk, &pod_templates, schema);
                        misfits.map(|(at, problem)| (value.concat(&at), problem)).chain(lists).collect()
                    }
                    Action::Env(_) | Action::Image(_) | Action::Divide(_) => continue,
                };
                looked = true;
                for (field, problem) in found {
                    let field = place.concat(&field);
                    let finding = PolicyFinding { policy: position, field, problem };
                    if !findings.contains(&finding) {
                        findings.push(finding);
                    }
                }
            }
        }
    }
    let kind = definition.kind;
    (
        findings,
        (!looked).then(|| format!("no rule with `fort` or `patch` is for the kind {kind:?}; not looked at")),
    )
}

/// The parts of an object that do not fit the schema in `document`. Empty if the object has another kind.
pub fn misfits_of_object(document: &Value<'_>, kind: &GroupVersionKind, object: &Value<'_>) -> Vec<String> {
    let schema = Definition::read(document)
        .filter(|definition| definition.is_of(kind))
        .and_then(|definition| definition.version(&kind.version));
    let Some(schema) = schema else { return Vec::new() };
    let fields = object.as_object().into_iter().flat_map(Object::iter);
    // The schema does not define these fields, which have the same type in every kind.
    let fields = fields.filter(|(name, _)| !matches!(*name, "apiVersion" | "kind" | "metadata"));
    let found = fields.flat_map(|(name, value)| {
        let place = Pointer::of([name]);
        schema::check(value, Shape::Definition(schema).at(&place), &place)
    });
    found.map(|Mismatch { place, problem }| format!("{place}: {problem}; {}", advice(&problem))).collect()
}

fn advice(problem: &MismatchKind) -> &'static str {
    match problem {
        MismatchKind::Type { .. } => "the member refuses the object: change the value, or the place",
        MismatchKind::UnknownField => "the member drops it: check its spelling",
    }
}

/// The values of a patch that do not fit the schema, each with its place in the patch.
fn misfits(patching: &PatchAction, schema: &Value<'_>) -> Vec<(Pointer, String)> {
    // The schema does not define `metadata`, which has the same type in every kind.
    let in_metadata = |place: &Pointer| place.tokens().first().is_some_and(|step| step == "metadata");
    let found = types::patched(patching, Shape::Definition(schema)).into_iter();
    let found = found.filter(|(_, mismatch)| !in_metadata(&mismatch.place));
    found
        .map(|(at, Mismatch { place, problem })| {
            let advice = advice(&problem);
            (at, format!("{place}: {problem}; {advice}"))
        })
        .collect()
}

struct Definition<'d> {
    group: &'d str,
    kind: &'d str,
    versions: &'d [Value<'d>],
}

impl<'d> Definition<'d> {
    fn read(document: &'d Value<'d>) -> Option<Self> {
        let text = |value: &'d Value<'d>, path: &[&str]| {
            path.iter().try_fold(value, |value, name| value.get(name)).and_then(Value::as_str)
        };
        let is_definition = text(document, &["kind"]) == Some("CustomResourceDefinition")
            && text(document, &["apiVersion"]) == Some("apiextensions.k8s.io/v1");
        let spec = document.get("spec").filter(|_| is_definition)?;
        Some(Self {
            group: text(spec, &["group"])?,
            kind: text(spec, &["names", "kind"])?,
            versions: spec.get("versions")?.as_array()?,
        })
    }

    fn is_of(&self, gvk: &GroupVersionKind) -> bool {
        self.group == gvk.group && self.kind == gvk.kind
    }

    fn version(&self, name: &str) -> Option<&'d Value<'d>> {
        let is_served = |version: &&Value<'d>| version.get("served").and_then(Value::as_bool) != Some(false);
        let named = |version: &&Value<'d>| version.get("name").and_then(Value::as_str) == Some(name);
        let version = self.versions.iter().filter(is_served).find(named)?;
        version.get("schema")?.get("openAPIV3Schema")
    }
}

/// The schema at a place.
enum SchemaPlace<'s> {
    /// The schema of the place.
    Typed(&'s Value<'s>),
    /// The schema does not define the place, and keeps unknown fields.
    Untyped,
    /// This field is not in the schema, so it is dropped.
    Unknown(String),
}

/// The error of a rule, with its field.
fn problem(fort: &Fort, schema: &Value<'_>) -> Option<(&'static str, String)> {
    let step = match below(schema, fort.steps.tokens()) {
        SchemaPlace::Untyped => return None,
        SchemaPlace::Unknown(field) => {
            return Some((
                "steps",
                format!("the schema has no field {field:?} on the way of {}", fort.steps),
            ));
        }
        SchemaPlace::Typed(list) => match list.get("items") {
            Some(items) => items,
            None if keeps_unknown(list) || list.get("type").is_none() => return None,
            None => return Some(("steps", format!("the schema has no list at {}", fort.steps))),
        },
    };
    let field = match below(step, fort.field.tokens()) {
        SchemaPlace::Untyped => return None,
        SchemaPlace::Unknown(field) => {
            return Some((
                "field",
                format!(
                    "the schema of a step has no field {field:?} on the way of {}: what is written there is dropped",
                    fort.field
                ),
            ));
        }
        SchemaPlace::Typed(field) => field,
    };
    treated(fort, field).map(|problem| ("elsewhere", problem))
}

/// The problem with the value that the rule writes in other clusters, if the member changes or refuses it.
fn treated(fort: &Fort, field: &Value<'_>) -> Option<String> {
    let advice =
        "then every cluster runs the step; write a value that skips it, with `elsewhere: {value: ...}`";
    let path = &fort.field;
    let default = field.get("default").map(Value::to_string);
    let value = match &fort.elsewhere {
        Elsewhere::Remove => {
            return default.map(|default| {
                format!("{path} has the default {default}, which comes back when it is removed: {advice}")
            });
        }
        Elsewhere::SetNull => &Value::Null,
        Elsewhere::Value(value) => value.constant()?,
    };
    if !value.is_null() {
        return unfit(field, value).map(|problem| {
            format!("{path} {problem}, and the value is {value}: the member refuses the object")
        });
    }
    if !is_typed(field) || field.get("nullable").and_then(Value::as_bool) == Some(true) {
        return None;
    }
    Some(match default {
        Some(default) => format!(
            "{path} is not nullable and has the default {default}, which takes the place of the null: {advice}"
        ),
        None => {
            format!(
                "{path} is not nullable, so that the member drops the null: {advice}, or make it nullable"
            )
        }
    })
}

fn is_typed(field: &Value<'_>) -> bool {
    let is_int_or_string = field.get("x-kubernetes-int-or-string").and_then(Value::as_bool) == Some(true);
    field.get("type").is_some() || is_int_or_string
}

fn keeps_unknown(schema: &Value<'_>) -> bool {
    schema.get("x-kubernetes-preserve-unknown-fields").and_then(Value::as_bool) == Some(true)
}

/// The schema of a place below `schema`.
fn below<'s>(schema: &'s Value<'s>, tokens: &[String]) -> SchemaPlace<'s> {
    let mut at = schema;
    for token in tokens {
        let named = at.get("properties").and_then(|fields| fields.get(token));
        let other = at.get("additionalProperties");
        match (named, other) {
            (Some(field), _) | (None, Some(field @ Value::Object(_))) => at = field,
            (None, Some(Value::Bool(true))) => return SchemaPlace::Untyped,
            // The path goes into a list, whose items are not checked.
            (None, _) if at.get("items").is_some() => return SchemaPlace::Untyped,
            (None, _) if keeps_unknown(at) => return SchemaPlace::Untyped,
            (None, _) => return SchemaPlace::Unknown(token.clone()),
        }
    }
    SchemaPlace::Typed(at)
}

/// Why a value does not fit the schema of a field.
fn unfit(field: &Value<'_>, value: &Value<'_>) -> Option<String> {
    let is_whole = |value: &Value<'_>| value.as_number().is_some_and(|number| number.as_i64().is_some());
    if let Some(kind) = field.get("type").and_then(Value::as_str) {
        let fits = match kind {
            "string" => value.as_str().is_some(),
            "integer" => is_whole(value),
            "number" => value.as_number().is_some(),
            "boolean" => value.as_bool().is_some(),
            "array" => value.as_array().is_some(),
            "object" => value.as_object().is_some(),
            _ => true,
        };
        if !fits {
            return Some(format!("has the type {kind}"));
        }
    }
    let allowed = field.get("enum").and_then(Value::as_array)?;
    if allowed.contains(value) {
        return None;
    }
    let allowed: Vec<String> = allowed.iter().map(Value::to_string).collect();
    Some(format!("is one of {}", allowed.join(", ")))
}
