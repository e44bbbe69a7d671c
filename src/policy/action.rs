//! Reads the actions of rules. A rule has exactly one.

use super::decode::{Fields, Node, Notes, names, one_of, pointer};
use super::fort;
use super::patch;
use super::template::{Expressions, ended};
use crate::engine::{Action, Divide, Env, EnvChange, Image, Percentages, Templated, Weights, protected_by};
use crate::json::{Kind, Pointer};

#[derive(Clone, Copy)]
enum ActionField {
    Fort,
    Patch,
    Env,
    Image,
    Divide,
}

impl ActionField {
    const ALL: [Self; 5] = [Self::Fort, Self::Patch, Self::Env, Self::Image, Self::Divide];

    const fn name(self) -> &'static str {
        match self {
            Self::Fort => "fort",
            Self::Patch => "patch",
            Self::Env => "env",
            Self::Image => "image",
            Self::Divide => "divide",
        }
    }

    fn read(self, node: Node<'_>, expressions: &mut Expressions, notes: &mut Notes) -> Option<Action> {
        match self {
            Self::Fort => fort::fort(node, expressions, notes).map(Action::Fort),
            Self::Patch => patch::patch(node, expressions, notes).map(Action::Patch),
            Self::Env => env(node, expressions, notes).map(Action::Env),
            Self::Image => image(node, expressions, notes).map(Action::Image),
            Self::Divide => divide(node, notes).map(Action::Divide),
        }
    }
}

pub(super) fn action(
    rule: &mut Fields<'_>,
    expressions: &mut Expressions,
    notes: &mut Notes,
) -> Option<Action> {
    let given: Vec<(ActionField, Node<'_>)> = ActionField::ALL
        .into_iter()
        .filter_map(|field| rule.optional(field.name()).map(|node| (field, node)))
        .collect();
    if given.len() != 1 {
        let names: Vec<&str> = given.iter().map(|(field, _)| field.name()).collect();
        let found =
            if names.is_empty() { "has none".to_owned() } else { format!("has {}", names.join(" and ")) };
        let all = ActionField::ALL.map(ActionField::name).join(", ");
        notes.note(&rule.field, format!("a rule has exactly one of {all}, and this one {found}"));
    }
    // If a rule has several actions, all are read, to find all errors at once.
    given.into_iter().fold(None, |_, (field, node)| field.read(node, expressions, notes))
}

fn env(node: Node<'_>, expressions: &mut Expressions, notes: &mut Notes) -> Option<Env> {
    let mut fields = Fields::of(node, notes)?;
    let name = fields.required("name", notes).and_then(|node| {
        let name = node.name(notes)?;
        if name.contains('=') || name.contains("${") {
            notes.note(&node.field, "is the name of an environment variable, without `=` and expressions");
            return None;
        }
        Some(name.to_owned())
    });
    let value = fields.optional("value").map(|node| expressions.text(&node, notes).map(EnvChange::Value));
    let value_from =
        fields.optional("valueFrom").map(|node| map(&node, expressions, notes).map(EnvChange::ValueFrom));
    let remove = fields.optional("remove").map(|node| {
        if node.boolean(notes)? {
            return Some(EnvChange::Remove);
        }
        notes.note(&node.field, "only `true` says something; leave it out");
        None
    });
    let (containers, init_containers) = containers(&mut fields, notes);
    let mut given: Vec<Option<EnvChange>> = [value, value_from, remove].into_iter().flatten().collect();
    if given.len() != 1 {
        notes.note(&fields.field, "needs exactly one of value, valueFrom, remove");
        return ended(fields, None, notes);
    }
    let change = given.pop().flatten();
    fields.end(notes);
    Some(Env { name: name?, change: change?, containers, init_containers })
}

fn image(node: Node<'_>, expressions: &mut Expressions, notes: &mut Notes) -> Option<Image> {
    const PARTS: [&str; 5] = ["registry", "repository", "repositoryPrefix", "tag", "digest"];
    let mut fields = Fields::of(node, notes)?;
    let place = fields.field.clone();
    let path = fields.optional("path").map(|node| (image_path(&node, notes), node.field));
    if let Some((_, field)) = &path
        && ["containers", "initContainers"].iter().any(|name| is_given(&fields, name))
    {
        notes.note(field, "names an image that is in no container; leave out containers and initContainers");
    }
    let (containers, init_containers) = containers(&mut fields, notes);
    let mut part = |name| fields.optional(name).map(|node| expressions.text(&node, notes));
    let from = part("from");
    let parts = PARTS.map(&mut part);
    fields.end(notes);
    if parts.iter().all(Option::is_none) {
        notes.note(&place, format!("needs at least one of {}", PARTS.join(", ")));
    }
    if parts[1].is_some() && parts[2].is_some() {
        notes.note(
            &place.join("repositoryPrefix"),
            "keeps the repository; leave out one of repository, repositoryPrefix",
        );
    }
    for (name, part) in [("from", &from), ("repository", &parts[1]), ("repositoryPrefix", &parts[2])] {
        if let Some(Some(part)) = part
            && part.constant().is_some_and(|value| value.as_str() == Some(""))
        {
            notes.note(&place.join(name), "must not be empty");
        }
    }
    let [registry, repository, repository_prefix, tag, digest] = parts.map(Option::flatten);
    let image = Image {
        containers,
        init_containers,
        path: match path {
            Some((path, _)) => Some(path?),
            None => None,
        },
        from: from.flatten(),
        registry,
        repository,
        repository_prefix,
        tag,
        digest,
    };
    for (name, fault) in image.invalid_parts() {
        notes.note(&place.join(name), fault);
    }
    Some(image)
}

/// Whether a field has a value. An empty list of containers and `initContainers: false` count as missing.
fn is_given(fields: &Fields<'_>, name: &str) -> bool {
    fields.object.get(name).is_some_and(|value| !value.is_null() && value.as_bool() != Some(false))
}

fn image_path(node: &Node<'_>, notes: &mut Notes) -> Option<Pointer> {
    let path = pointer(node, notes)?;
    if let Some(reason) = protected_by(&path) {
        notes.note(&node.field, reason);
        return None;
    }
    Some(path)
}

fn divide(node: Node<'_>, notes: &mut Notes) -> Option<Divide> {
    const WEIGHTS: &[(&str, Weights)] = &[("Replicas", Weights::Replicas), ("Equal", Weights::Equal)];
    const PERCENTAGES: &[(&str, Percentages)] = &[("Keep", Percentages::Keep), ("Scale", Percentages::Scale)];
    let mut fields = Fields::of(node, notes)?;
    let path = fields.required("path", notes).and_then(|node| {
        let path = pointer(&node, notes)?;
        if let Some(reason) = protected_by(&path) {
            notes.note(&node.field, reason);
            return None;
        }
        Some(path)
    });
    let weights =
        fields.optional("weights").map_or(Some(Weights::Replicas), |node| one_of(&node, WEIGHTS, notes));
    let mut least = |name| {
        fields.optional(name).map_or(Some(0), |node| {
            let least = node.integer(notes)?;
            let fits = u32::try_from(least).ok();
            if fits.is_none() {
                notes.note(&node.field, format!("must be from 0 to {}, is {least}", u32::MAX));
            }
            fits
        })
    };
    let (minimum, floor) = (least("minimum"), least("floor"));
    if minimum > Some(0) && floor > Some(0) {
        let advice = "use `minimum` where the sum must stay the whole, else `floor`";
        notes.note(&fields.field.join("floor"), format!("`minimum` is given too; {advice}"));
    }
    let percentages = fields
        .optional("percentages")
        .map_or(Some(Percentages::Keep), |node| one_of(&node, PERCENTAGES, notes));
    fields.end(notes);
    Some(Divide {
        path: path?,
        weights: weights?,
        minimum: minimum?,
        floor: floor?,
        percentages: percentages?,
    })
}

fn containers(fields: &mut Fields<'_>, notes: &mut Notes) -> (Vec<String>, bool) {
    let names = fields.optional("containers").map(|node| names(&node, notes)).unwrap_or_default();
    let init = fields.optional("initContainers").and_then(|node| node.boolean(notes)).unwrap_or_default();
    (names.into_iter().map(str::to_owned).collect(), init)
}

/// A map, or an expression that returns one.
fn map(node: &Node<'_>, expressions: &mut Expressions, notes: &mut Notes) -> Option<Templated> {
    let before = notes.len();
    let templated = expressions.value(node, notes);
    match templated.kind() {
        _ if notes.len() > before => None,
        None | Some(Kind::Object) => Some(templated),
        Some(kind) => {
            notes.note(&node.field, format!("must be a map, is {kind}"));
            None
        }
    }
}
