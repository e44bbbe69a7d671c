//! Transformations: patches by target, chosen by the workload itself, by name.
//!
//! They apply after all policies, in the order in which the workload names them. The annotations are read
//! from the object as it arrived: what a rule writes there is for later readers of the object.

use std::collections::BTreeMap;
use std::fmt;

use super::actions::PatchAction;
use super::context::Context;
use super::draft::ObjectSource;
use super::invalid::InvalidDocument;
use super::owner::TransformationScope;
use super::request::Stop;
use super::selectors::LabelSelector;
use super::{Draft, naming};
use crate::domain::{Cluster, ClusterKind, ClusterName, Failure, Workload, nearest_names, shorten};
use crate::json::{Pointer, Value};

/// A `TargetPodTransformation` or a `ClusterTargetPodTransformation`.
#[derive(Clone, Debug)]
pub struct Transformation {
    pub scope: TransformationScope,
    pub name: String,
    /// All that are for the cluster are applied, in this order.
    pub entries: Vec<TargetPatch>,
    /// A digest of the document.
    pub digest: String,
}

/// A patch for some targets.
#[derive(Clone, Debug)]
pub struct TargetPatch {
    pub targets: Targets,
    pub patch: PatchAction,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Targets {
    /// The target of this kind and name; a `Target` is in the namespace of the workload.
    Reference(ClusterKind, ClusterName),
    Selector(LabelSelector),
}

/// A transformation that the object names and that changes nothing in it for this cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IdleTransformation {
    /// `Kind/name`
    pub transformation: String,
    pub cluster: ClusterName,
    /// Whether an entry is for the cluster.
    pub has_entry: bool,
    pub reason: &'static str,
}

impl IdleTransformation {
    pub(super) fn new(transformation: &Transformation, cluster: &ClusterName, reach: Reach) -> Self {
        let reason = match reach {
            Reach::NoEntry | Reach::OtherKind => "none of its entries is for this target",
            Reach::EmptyPatches => "its patches for this target are empty",
            Reach::Patches => "what it writes for this target is there already",
        };
        let has_entry = matches!(reach, Reach::EmptyPatches | Reach::Patches);
        Self { transformation: transformation.to_string(), cluster: cluster.clone(), has_entry, reason }
    }
}

impl fmt::Display for IdleTransformation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} cluster {:?}: changes nothing: {}",
            self.transformation,
            self.cluster.as_str(),
            self.reason
        )
    }
}

/// All transformations, by name.
#[derive(Clone, Debug, Default)]
pub struct Transformations(BTreeMap<String, Vec<Transformation>>);

impl fmt::Display for Transformation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let prefix = if self.scope == TransformationScope::Cluster { "Cluster" } else { "" };
        write!(f, "{prefix}TargetPodTransformation/{}", self.name)
    }
}

impl Transformations {
    pub fn insert(&mut self, transformation: Transformation) {
        let same = self.0.entry(transformation.name.clone()).or_default();
        same.push(transformation);
        same.sort_by(|a, b| a.scope.cmp(&b.scope));
    }

    pub fn extend(&mut self, others: Self) {
        others.0.into_values().flatten().for_each(|other| self.insert(other));
    }

    /// In the order of their names.
    pub fn iter(&self) -> impl Iterator<Item = &Transformation> {
        self.0.values().flatten()
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn len(&self) -> usize {
        self.0.values().map(Vec::len).sum()
    }

    /// The transformations that a workload names, in its order, and warnings about its annotations. Fails for
    /// a name that does not exist or is that of an invalid document.
    pub(super) fn chosen(
        &self,
        workload: &Workload,
        object: &ObjectSource<'_>,
        invalid: &[InvalidDocument],
    ) -> Result<(Vec<&Transformation>, Vec<String>), Failure> {
        let named = naming::named(object)?;
        let chosen = named.names.iter().map(|name| {
            let place = || named.place(name);
            self.find(&workload.namespace, name, place, invalid)
        });
        Ok((chosen.collect::<Result<_, _>>()?, named.warnings))
    }

    fn find(
        &self,
        namespace: &str,
        name: &str,
        place: impl Fn() -> Pointer,
        invalid: &[InvalidDocument],
    ) -> Result<&Transformation, Failure> {
        let visible = |same: &&Transformation| same.scope.includes(namespace);
        let found = self.0.get(name).and_then(|same| same.iter().find(visible));
        let invalid =
            invalid.iter().filter_map(|invalid| Some((invalid.chosen_as(namespace, name)?, invalid)));
        match (found, invalid.min_by_key(|(scope, _)| *scope)) {
            // The nearest scope counts, valid or not.
            (Some(found), Some((scope, invalid))) if *scope < found.scope => Err(invalid.failure()),
            (Some(found), _) => Ok(found),
            (None, Some((_, invalid))) => Err(invalid.failure()),
            (None, None) => Err(self.missing(namespace, name, &place())),
        }
    }

    /// The failure for a `name` that the annotation names and that does not exist.
    fn missing(&self, namespace: &str, name: &str, annotation: &Pointer) -> Failure {
        let visible = |(_, same): &(&String, &Vec<Transformation>)| {
            same.iter().any(|transformation| transformation.scope.includes(namespace))
        };
        let names: Vec<&str> = self.0.iter().filter(visible).map(|(name, _)| name.as_str()).collect();
        let near: Vec<String> =
            nearest_names(name, names.iter().copied()).iter().map(|name| format!("{name:?}")).collect();
        let advice = match (names.len(), near.len()) {
            (0, _) => "there is none to choose; add its document to the policies".to_owned(),
            _ if name.contains(char::is_whitespace) => {
                "names hold no blanks; write a comma between two names".to_owned()
            }
            (count, 0) => {
                let all = if count == 1 { "the only one".to_owned() } else { format!("each of the {count}") };
                format!(
                    "{all} that can be chosen has a very different name; list them with `kubectl get tpt,ctpt`, or look into the files of --policy"
                )
            }
            _ => format!(
                "the nearest names are {}; choose one of them, or add its document to the policies",
                near.join(", ")
            ),
        };
        let place = if namespace.is_empty() {
            " by an object without a namespace".to_owned()
        } else {
            format!(" in namespace {namespace:?}")
        };
        let name = shorten(format!("{name:?}"), naming::MAX_NAME_BYTES);
        Failure::unprocessable(format!(
            "{annotation}: no TargetPodTransformation or ClusterTargetPodTransformation {name} can be chosen{place}: {advice}"
        ))
    }
}

impl Transformation {
    /// Applies the entries that are for the cluster, in order.
    pub(super) fn apply<'a>(
        &self,
        draft: &mut Draft<'a>,
        context: &mut Context<'_, 'a>,
    ) -> Result<Reach, Stop> {
        let (name, kind) = (&context.request.target.cluster, context.facts.cluster_kind);
        let mut reach = Reach::NoEntry;
        for entry in &self.entries {
            if entry.targets.include(name, kind, context.facts.cluster)? {
                entry.patch.apply(draft, context)?;
                let is_empty = entry.patch.value.constant().is_some_and(Value::is_null);
                reach = if is_empty { reach.max(Reach::EmptyPatches) } else { Reach::Patches };
            }
        }
        if let (Reach::NoEntry, Some((position, wanted, is))) = (reach, self.other_kind(name, kind)) {
            reach = Reach::OtherKind;
            let name = name.as_str();
            context.warn(format!(
                "transformations[{position}].targetReference: is for the {wanted} {name:?}, and {name:?} is a {is} here, so that nothing of it \
                 applies; change the kind"
            ));
        }
        Ok(reach)
    }

    /// The first reference to the cluster by another kind: its position, its kind, and the kind of the
    /// cluster.
    fn other_kind(
        &self,
        name: &ClusterName,
        kind: Option<ClusterKind>,
    ) -> Option<(usize, ClusterKind, ClusterKind)> {
        let kind = kind?;
        self.entries.iter().enumerate().find_map(|(position, entry)| match &entry.targets {
            Targets::Reference(wanted, named) if named == name && *wanted != kind => {
                Some((position, *wanted, kind))
            }
            _ => None,
        })
    }

    /// The clusters that its entries name, each with the position of the entry.
    pub fn references(&self) -> impl Iterator<Item = (usize, ClusterKind, &ClusterName)> {
        self.entries.iter().enumerate().filter_map(|(position, entry)| match &entry.targets {
            Targets::Reference(kind, name) => Some((position, *kind, name)),
            Targets::Selector(_) => None,
        })
    }
}

/// Which entries of a transformation are for a cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Reach {
    NoEntry,
    /// No entry, but one that names it as another kind. A warning says so.
    OtherKind,
    EmptyPatches,
    Patches,
}

impl Targets {
    /// Whether the cluster is a target. Where its kind is not known, a reference is compared by name.
    fn include(
        &self,
        name: &ClusterName,
        kind: Option<ClusterKind>,
        known: Option<&Cluster>,
    ) -> Result<bool, Failure> {
        match (self, known) {
            (Self::Reference(wanted, named), _) => {
                Ok(named == name && kind.is_none_or(|kind| kind == *wanted))
            }
            (Self::Selector(selector), _) if selector.0.is_empty() => Ok(true),
            (Self::Selector(selector), Some(cluster)) => {
                Ok(selector.holds(|key| cluster.labels.get(key).map(String::as_str)))
            }
            (Self::Selector(_), None) => Err(Failure::unavailable(format!(
                "a targetSelector goes by labels, and nothing is known about {:?}; give its Target, ClusterTarget or Cluster document in --state",
                name.as_str()
            ))),
        }
    }
}
