//! Determines what a rule writes, as far as its document shows.

use std::fmt;

use crate::domain::GroupVersionKind;
use crate::engine::{
    Action, Elsewhere, Env, EnvChange, Image, MergeKey, PatchAction, PatchKind, PolicySet, Rule, Templated,
};
use crate::json::{Object, Pointer, Value};
use crate::patch::strategic::{ListMerge, Schema, spelled};
use crate::policy::part::Part;

/// A value that a rule writes.
#[derive(Debug)]
pub(super) struct Write {
    /// The place in the object, or `env NAME` and the like. Rules that write the same place have the same
    /// value here.
    pub(super) what: String,
    /// The containers, by name. Empty for all containers.
    pub(super) containers: Vec<String>,
    /// The value, for comparisons and messages.
    pub(super) value: String,
    /// The place in the rule.
    pub(super) field: Pointer,
}

/// The spelling of a removal in messages.
const REMOVED: &str = "nothing";

/// What `rule` writes in every object of the kind. Values of expressions are not included.
pub(super) fn of(rule: &Rule, gvk: &GroupVersionKind, set: &PolicySet) -> Vec<Write> {
    match &rule.action {
        Action::Patch(patching) => patch(patching, gvk, set),
        Action::Env(action) => env(action).into_iter().collect(),
        Action::Image(action) => image(action),
        Action::Divide(divide) => vec![Write {
            what: divide.path.to_string(),
            containers: Vec::new(),
            value: format!(
                "its share ({:?}, at least {}, percentages {:?})",
                divide.weights,
                divide.minimum.max(divide.floor),
                divide.percentages
            ),
            field: Pointer::of(["divide", "path"]),
        }],
        Action::Fort(fort) => {
            let elsewhere = match &fort.elsewhere {
                Elsewhere::SetNull => "null".to_owned(),
                Elsewhere::Remove => REMOVED.to_owned(),
                Elsewhere::Value(value) => match value.constant() {
                    Some(value) => value.to_string(),
                    None => return Vec::new(),
                },
            };
            let matches = Value::Object(fort.matches.clone());
            vec![Write {
                what: format!("{} of the steps {matches} at {}", fort.field, fort.steps),
                containers: Vec::new(),
                value: elsewhere,
                field: Pointer::of(["fort"]),
            }]
        }
    }
}

fn env(env: &Env) -> Option<Write> {
    let (name, value) = match &env.change {
        EnvChange::Value(value) => ("value", value.constant()?.to_string()),
        EnvChange::ValueFrom(source) => ("valueFrom", source.constant()?.to_string()),
        EnvChange::Remove => ("remove", REMOVED.to_owned()),
    };
    let field = Pointer::of(["env", name]);
    Some(Write { what: variable(&env.name), containers: env.containers.clone(), value, field })
}

fn variable(name: &str) -> String {
    format!("the environment variable {name:?}")
}

fn image(image: &Image) -> Vec<Write> {
    let parts = [
        ("registry", &image.registry),
        ("repository", &image.repository),
        ("repositoryPrefix", &image.repository_prefix),
        ("tag", &image.tag),
        ("digest", &image.digest),
    ];
    let of = match &image.path {
        Some(path) => format!("the image at {path}"),
        None => "images".to_owned(),
    };
    let from = match image.from.as_ref().map(Templated::constant) {
        None => String::new(),
        Some(Some(from)) => format!(" from {from}"),
        // The images are not known.
        Some(None) => return Vec::new(),
    };
    let write = |(name, part): (&str, &Option<Templated>)| {
        Some(Write {
            what: format!("the {name} of {of}{from}"),
            containers: image.containers.clone(),
            value: part.as_ref()?.constant()?.to_string(),
            field: Pointer::of(["image", name]),
        })
    };
    parts.into_iter().filter_map(write).collect()
}

fn patch(patching: &PatchAction, gvk: &GroupVersionKind, set: &PolicySet) -> Vec<Write> {
    let pod_templates = set.active_pod_templates(gvk);
    let schema = |keys: &[MergeKey]| {
        Schema::of(&gvk.api_version(), &gvk.kind, &pod_templates)
            .declaring(keys.iter().map(MergeKey::declared))
    };
    let schema = match &patching.kind {
        PatchKind::Strategic(keys) => Some(schema(keys)),
        PatchKind::Merge | PatchKind::Json(_) => None,
    };
    let mut writes = Vec::new();
    for leaf in leaves(patching, schema.as_ref()) {
        let Some(value) = leaf.value else { continue };
        let (what, containers) =
            leaf.place.variable(&pod_templates).unwrap_or_else(|| (leaf.place.to_string(), Vec::new()));
        writes.push(Write {
            what,
            containers,
            value,
            field: Pointer::of(["patch", "value"]).concat(&leaf.field),
        });
    }
    writes
}

/// One operation of a JSON patch.
pub(in crate::policy) struct Operation<'t> {
    pub(super) op: &'t str,
    pub(super) path: &'t str,
    pub(super) from: Option<&'t str>,
    value: Option<Part<'t>>,
    /// The place in the patch.
    pub(in crate::policy) field: Pointer,
}

impl<'t> Operation<'t> {
    /// The paths of the operation, each with the name of its field.
    pub(in crate::policy) fn pointers(&self) -> impl Iterator<Item = (&'static str, &'t str)> {
        self.from.map(|from| ("from", from)).into_iter().chain([("path", self.path)])
    }
}

/// The operations of a JSON patch, without those that an expression returns.
pub(in crate::policy) fn operations(patch: &Templated) -> Vec<Operation<'_>> {
    fn operation((position, item): (usize, Part<'_>)) -> Option<Operation<'_>> {
        let members = item.members();
        let member = |name: &str| members.iter().find(|(member, _)| *member == name).map(|(_, node)| *node);
        Some(Operation {
            op: member("op")?.text()?,
            path: member("path")?.text()?,
            from: member("from").and_then(Part::text),
            value: member("value"),
            field: Pointer::of([position.to_string()]),
        })
    }
    Part::Templated(patch).items().into_iter().enumerate().filter_map(operation).collect()
}

/// All operations of a JSON patch. `None` if an expression returns one of them or its path.
pub(super) fn all_operations(patch: &Templated) -> Option<Vec<Operation<'_>>> {
    let operations = operations(patch);
    let is_whole =
        Part::Templated(patch).is_list() && Part::Templated(patch).items().len() == operations.len();
    let is_known =
        |operation: &Operation<'_>| !matches!(operation.op, "move" | "copy") || operation.from.is_some();
    (is_whole && operations.iter().all(is_known)).then_some(operations)
}

/// Whether the last step of a pointer can be an index of a list.
pub(super) fn is_in_list(path: &str) -> bool {
    let last = path.rsplit('/').next().unwrap_or_default();
    last == "-" || !last.is_empty() && last.bytes().all(|byte| byte.is_ascii_digit())
}

struct Leaf {
    place: WritePath,
    /// `None` if it comes from an expression.
    value: Option<String>,
    /// The place in the patch.
    field: Pointer,
}

fn leaves(patching: &PatchAction, schema: Option<&Schema>) -> Vec<Leaf> {
    let root = Part::Templated(&patching.value);
    let mut walk = LeafCollector { schema, merges: true, leaves: Vec::new() };
    if !matches!(patching.kind, PatchKind::Json(_)) {
        walk.node(root, &WritePath(Vec::new()), &Pointer::ROOT);
        return walk.leaves;
    }
    walk.merges = false;
    for operation in operations(&patching.value) {
        let Ok(path) = Pointer::parse(operation.path) else { continue };
        let place = WritePath(path.tokens().iter().cloned().map(WriteStep::Field).collect());
        let in_list = is_in_list(operation.path);
        match (operation.op, operation.value) {
            // An item added to a list replaces nothing.
            ("add" | "remove", _) if in_list => {}
            ("add" | "replace", Some(value)) => walk.node(value, &place, &operation.field.join("value")),
            ("remove", _) => walk.leaf(place, Some(REMOVED.to_owned()), operation.field),
            _ => {}
        }
    }
    walk.leaves
}

struct LeafCollector<'s> {
    /// The schema that defines how lists are merged. `None` if all lists are replaced.
    schema: Option<&'s Schema>,
    /// Whether a null removes the field.
    merges: bool,
    leaves: Vec<Leaf>,
}

impl LeafCollector<'_> {
    /// The recursion is as deep as the document is nested, which the parser bounds.
    fn node(&mut self, node: Part<'_>, place: &WritePath, field: &Pointer) {
        let members = node.members();
        // A map with a directive is skipped, because the directive decides what happens to it.
        if members.iter().any(|(name, _)| self.schema.is_some() && name.starts_with('$')) {
            return;
        }
        if !members.is_empty() {
            for (name, member) in members {
                self.node(member, &place.with(WriteStep::Field(name.to_owned())), &field.join(name));
            }
            return;
        }
        let list = self.schema.map_or(ListMerge::Replaced, |schema| schema.list_at(&place.steps()));
        match (list, node.is_list()) {
            // Values are only added to such a list.
            (ListMerge::Set, true) => {}
            (ListMerge::Keyed { keys, more }, true) => {
                for (position, item) in node.items().into_iter().enumerate() {
                    let Some(mut named) = names(item, &keys) else { continue };
                    named.extend(names(item, &more).unwrap_or_default());
                    self.node(item, &place.with(WriteStep::Item(named)), &field.join(position.to_string()));
                }
            }
            _ => match node {
                Part::Templated(Templated::Template(_)) => {
                    self.leaf(place.clone(), None, field.clone());
                }
                // Merging an empty map into an existing map writes nothing.
                _ if self.merges && node.constant().is_some_and(is_empty_map) => {}
                _ => {
                    let removed = self.merges && node.constant().is_some_and(Value::is_null);
                    let value = if removed {
                        Some(REMOVED.to_owned())
                    } else {
                        node.constant().map(Value::to_string)
                    };
                    self.leaf(place.clone(), value, field.clone());
                }
            },
        }
    }

    fn leaf(&mut self, place: WritePath, value: Option<String>, field: Pointer) {
        // The keys of an item identify it. They are not written.
        if !place.0.is_empty() && !place.is_key() {
            self.leaves.push(Leaf { place, value, field });
        }
    }
}

#[derive(Clone, Debug)]
struct WritePath(Vec<WriteStep>);

#[derive(Clone, Debug)]
enum WriteStep {
    Field(String),
    /// The item of a list with these values of its keys.
    Item(Vec<(Pointer, String)>),
}

/// The values of the keys of an item. `None` if one is missing or comes from an expression.
fn names(item: Part<'_>, keys: &[Pointer]) -> Option<Vec<(Pointer, String)>> {
    let name = |key: &Pointer| {
        let value = match item.at(key)?.constant()? {
            Value::String(text) => text.to_string(),
            Value::Number(number) => number.as_str().to_owned(),
            _ => return None,
        };
        Some((key.clone(), value))
    };
    keys.iter().map(name).collect()
}

impl WriteStep {
    fn field(&self) -> Option<&str> {
        match self {
            Self::Field(name) => Some(name),
            Self::Item(..) => None,
        }
    }
}

impl WritePath {
    fn with(&self, step: WriteStep) -> Self {
        let mut steps = self.0.clone();
        steps.push(step);
        Self(steps)
    }

    fn steps(&self) -> Vec<Option<&str>> {
        self.0.iter().map(WriteStep::field).collect()
    }

    /// Whether this is a key of an item of a list.
    fn is_key(&self) -> bool {
        let steps = self.0.iter().rev();
        let mut fields: Vec<&str> = steps.clone().map_while(WriteStep::field).collect();
        fields.reverse();
        match steps.clone().nth(fields.len()) {
            Some(WriteStep::Item(named)) => named.iter().any(|(key, _)| key.tokens() == fields),
            _ => false,
        }
    }

    /// For the value of an environment variable of a container: its name in the action `env`, and the
    /// container.
    fn variable(&self, pod_templates: &[Pointer]) -> Option<(String, Vec<String>)> {
        let is_at = |template: &&Pointer| {
            let steps = self.0.iter().zip(template.tokens());
            let mut steps =
                steps.map(|(step, token)| step.field().map_or(token == "*", |field| field == token));
            self.0.len() >= template.tokens().len() && steps.all(|is_same| is_same)
        };
        let rest = &self.0[pod_templates.iter().find(is_at)?.tokens().len()..];
        match rest {
            [spec, containers, WriteStep::Item(container), env, WriteStep::Item(name), value]
                if [spec, containers, env].map(WriteStep::field)
                    == ["spec", "containers", "env"].map(Some)
                    && value.field() == Some("value") =>
            {
                let (_, container) = container.first()?;
                Some((variable(&name.first()?.1), vec![container.clone()]))
            }
            _ => None,
        }
    }
}

impl fmt::Display for WritePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for step in &self.0 {
            match step {
                WriteStep::Field(name) => write!(f, "{}", Pointer::of([name.as_str()]))?,
                WriteStep::Item(named) => {
                    let named: Vec<String> =
                        named.iter().map(|(key, name)| format!("{}={name}", spelled(key))).collect();
                    write!(f, "[{}]", named.join(","))?;
                }
            }
        }
        Ok(())
    }
}

fn is_empty_map(value: &Value<'_>) -> bool {
    value.as_object().is_some_and(Object::is_empty)
}
