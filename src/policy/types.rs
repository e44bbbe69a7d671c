//! Checks the values of patches against the types of the fields that they write.

use crate::domain::GroupVersionKind;
use crate::engine::{
    Action, EnvChange, Interpretation, PatchAction, PatchKind, ResourceSelector, Rule, Templated,
};
use crate::json::{Kind, Pointer, Value};
use crate::schema::{self, Mismatch, MismatchKind, ObjectType, Shape};

use super::decode::Notes;
use super::part::Part;

/// Reports each value in `rule`, at `place`, that has the wrong type for a kind in `selectors`.
pub(super) fn rule(rule: &Rule, selectors: &[ResourceSelector], place: &Pointer, notes: &mut Notes) {
    for (at, Mismatch { place: in_object, problem }) in misfits(rule, selectors) {
        if let MismatchKind::Type { .. } = problem {
            let place = place.concat(&at);
            notes.note(&place, format!("{in_object} {problem}; {}", advice(&problem)));
        }
    }
}

/// Each field that a constant in `rule` writes and that a kind in `selectors` does not have, with its place
/// in the rule.
pub(super) fn unknown_fields(rule: &Rule, selectors: &[ResourceSelector]) -> Vec<(Pointer, Pointer)> {
    let unknown = misfits(rule, selectors).into_iter().filter_map(|(at, mismatch)| {
        (mismatch.problem == MismatchKind::UnknownField).then_some((at, mismatch.place))
    });
    unknown.collect()
}

/// Reports each value with the wrong type in the patch of a transformation. Transformations apply to pods and
/// to kinds with a pod template.
pub(super) fn transformation(patching: &PatchAction, place: &Pointer, notes: &mut Notes) {
    let mut templates = Interpretation::default().pod_templates;
    templates.push(Pointer::ROOT);
    let of = ObjectType::custom(&templates, |_| true);
    for (at, Mismatch { place: in_object, problem }) in patched(patching, of.root()) {
        if let MismatchKind::Type { .. } = problem {
            notes.note(&place.concat(&at), format!("{in_object} {problem}; {}", advice(&problem)));
        }
    }
}

fn advice(problem: &MismatchKind) -> &'static str {
    match problem {
        MismatchKind::Type { expected: "a string", found } if found == "a number" || found == "a boolean" => {
            "put it in quotes"
        }
        _ => "change the value, or the place",
    }
}

/// The mismatches, each with its place below the rule.
fn misfits(rule: &Rule, selectors: &[ResourceSelector]) -> Vec<(Pointer, Mismatch)> {
    let mut found: Vec<(Pointer, Mismatch)> = Vec::new();
    let mut add = |all: Vec<(Pointer, Mismatch)>| {
        for each in all {
            // Several selectors may name the same kind, or kinds with the same fields.
            if !found.contains(&each) {
                found.push(each);
            }
        }
    };
    match &rule.action {
        Action::Patch(patching) => {
            let value = Pointer::of(["patch", "value"]);
            for selector in selectors {
                let all = patched(patching, type_of(&selector.gvk, &patching.value).root()).into_iter();
                add(all.map(|(at, mismatch)| (value.concat(&at), mismatch)).collect());
            }
        }
        Action::Env(env) => {
            if let EnvChange::ValueFrom(source) = &env.change {
                let in_pod = Pointer::of(["containers", "*", "env", "*", "valueFrom"]);
                let place = Pointer::of(["env", "valueFrom"]);
                let mut walk = TypeCheck { found: Vec::new(), is_null_a_deletion: false };
                walk.value(source, Shape::POD_SPEC.at(&in_pod), &Pointer::ROOT, &in_pod);
                add(walk.found.into_iter().map(|(at, mismatch)| (place.concat(&at), mismatch)).collect());
            }
        }
        Action::Fort(_) | Action::Image(_) | Action::Divide(_) => {}
    }
    found
}

/// The type of a kind. A custom kind counts as having a pod template where the patch writes containers.
fn type_of(gvk: &GroupVersionKind, patch: &Templated) -> ObjectType {
    ObjectType::built_in(&gvk.api_version(), &gvk.kind).unwrap_or_else(|| {
        ObjectType::custom(&Interpretation::default().pod_templates, |template| {
            let containers = template.join("spec").join("containers");
            Part::Templated(patch).at(&containers).is_some_and(Part::is_list)
        })
    })
}

/// The mismatches between a patch and an object of this type, each with its place in the patch.
pub(super) fn patched(patching: &PatchAction, of: Shape<'_>) -> Vec<(Pointer, Mismatch)> {
    let mut walk = TypeCheck { found: Vec::new(), is_null_a_deletion: true };
    if let PatchKind::Json(_) = patching.kind {
        walk.is_null_a_deletion = false;
        walk.operations(&patching.value, of);
    } else {
        walk.value(&patching.value, of, &Pointer::ROOT, &Pointer::ROOT);
    }
    walk.found
}

/// The state of the check of a value against the types of the fields that it writes.
struct TypeCheck {
    /// Places in the value, and mismatches with places in the object.
    found: Vec<(Pointer, Mismatch)>,
    is_null_a_deletion: bool,
}

impl TypeCheck {
    fn operations(&mut self, operations: &Templated, of: Shape<'_>) {
        for (position, operation) in Part::Templated(operations).items().into_iter().enumerate() {
            let text = |name| operation.at(&Pointer::of([name])).and_then(Part::text);
            let (Some(op), Some(path)) = (text("op"), text("path")) else { continue };
            let Ok(path) = Pointer::parse(path) else { continue };
            if op != "add" && op != "replace" {
                continue;
            }
            let at = Pointer::of([position.to_string()]);
            if let Some(steps) = of.unknown_step(&path) {
                let mismatch = Mismatch { place: path.prefix(steps), problem: MismatchKind::UnknownField };
                self.found.push((at.join("path"), mismatch));
            } else if let Some(value) = operation.at(&Pointer::of(["value"])) {
                self.part(value, of.at(&path), &at.join("value"), &path);
            }
        }
    }

    fn part(&mut self, part: Part<'_>, shape: Shape<'_>, at: &Pointer, in_object: &Pointer) {
        match part {
            Part::Templated(value) => self.value(value, shape, at, in_object),
            Part::Value(value) => self.constant(value, shape, at, in_object),
        }
    }

    fn value(&mut self, value: &Templated, shape: Shape<'_>, at: &Pointer, in_object: &Pointer) {
        match value {
            Templated::Constant(value) => self.constant(value, shape, at, in_object),
            Templated::Template(template) => {
                let Some(kind) = template.kind() else { return };
                // The value of an expression is converted to a string where only a string fits.
                if let Some(expected) = shape.refuses(kind) {
                    let problem = MismatchKind::Type { expected, found: kind.to_string() };
                    self.found.push((at.clone(), Mismatch { place: in_object.clone(), problem }));
                }
            }
            Templated::List(items) => {
                if let Some(expected) = shape.refuses(Kind::Array) {
                    let problem = MismatchKind::Type { expected, found: Kind::Array.to_string() };
                    return self.found.push((at.clone(), Mismatch { place: in_object.clone(), problem }));
                }
                for (position, item) in items.iter().enumerate() {
                    let step = position.to_string();
                    self.value(item, shape.item(), &at.join(&step), &in_object.join("*"));
                }
            }
            Templated::Map(members) => {
                if let Some(expected) = shape.refuses(Kind::Object) {
                    let problem = MismatchKind::Type { expected, found: Kind::Object.to_string() };
                    return self.found.push((at.clone(), Mismatch { place: in_object.clone(), problem }));
                }
                for (name, member) in members {
                    let (at, in_object) = (at.join(name), in_object.join(name));
                    match shape.field(name) {
                        Some(field) => self.value(member, field, &at, &in_object),
                        None if name.starts_with('$') => {}
                        None => {
                            let mismatch = Mismatch { place: in_object, problem: MismatchKind::UnknownField };
                            self.found.push((at, mismatch));
                        }
                    }
                }
            }
        }
    }

    fn constant(&mut self, value: &Value<'_>, shape: Shape<'_>, at: &Pointer, in_object: &Pointer) {
        for Mismatch { place, problem } in schema::check(value, shape, &Pointer::ROOT) {
            let is_deletion = self.is_null_a_deletion
                && matches!(&problem, MismatchKind::Type { found, .. } if *found == Kind::Null.to_string());
            let is_directive = place.tokens().iter().any(|token| token.starts_with('$'));
            if !is_deletion && !is_directive {
                self.found.push((at.concat(&place), Mismatch { place: in_object.concat(&place), problem }));
            }
        }
    }
}
