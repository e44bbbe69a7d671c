//! Transformations: patches by target, chosen by the workload itself, by name.
//!
//! They come after all policies, in the order in which the workload names them. What the annotations say is read from the
//! object as it arrived: what a rule writes there is for whoever reads the object next.

use std::collections::BTreeMap;
use std::fmt;

use super::actions::{Ask, PatchAction};
use super::invalid::InvalidDocument;
use super::selectors::LabelSelector;
use super::{Draft, naming};
use crate::domain::{Cluster, ClusterKind, ClusterName, Failure, Workload, nearest_names, shorten};
use crate::json::{Pointer, Raw, Value};

/// A `TargetPodTransformation` or a `ClusterTargetPodTransformation`.
#[derive(Clone, Debug)]
pub struct Transformation {
    /// Where it can be chosen.
    pub scope: TransformationScope,
    /// Its name.
    pub name: String,
    /// Applied in order, all that are for the cluster.
    pub entries: Vec<TargetPatch>,
    /// A digest of the document.
    pub digest: String,
}

/// Where a transformation can be chosen. The first of several with one name is taken.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TransformationScope {
    /// In this namespace.
    Namespace(String),
    /// In the namespace of whoever chooses it: it is namespaced, and says no namespace.
    AnyNamespace,
    /// Everywhere.
    Cluster,
}

/// A patch for some targets.
#[derive(Clone, Debug)]
pub struct TargetPatch {
    /// Which.
    pub targets: Targets,
    /// The patch.
    pub patch: PatchAction,
}

/// Which targets a patch is for.
#[derive(Clone, Debug, PartialEq)]
pub enum Targets {
    /// The one of this kind and name; a `Target` in the namespace of the workload.
    Reference(ClusterKind, ClusterName),
    /// All with such labels.
    Selector(LabelSelector),
}

/// A transformation that the object chooses and that changes nothing of it for this cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IdleTransformation {
    /// It, as `Kind/name`.
    pub transformation: String,
    /// The cluster.
    pub cluster: ClusterName,
    /// Whether an entry of it is for the cluster.
    pub has_entry: bool,
    /// Why nothing changes.
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

impl TransformationScope {
    /// Whether it can be chosen in `namespace`.
    pub(super) fn includes(&self, namespace: &str) -> bool {
        match self {
            Self::Namespace(scope) => scope == namespace,
            Self::AnyNamespace => !namespace.is_empty(),
            Self::Cluster => true,
        }
    }
}

impl Transformations {
    /// Adds one.
    pub fn insert(&mut self, transformation: Transformation) {
        let same = self.0.entry(transformation.name.clone()).or_default();
        same.push(transformation);
        same.sort_by(|a, b| a.scope.cmp(&b.scope));
    }

    /// Adds all of another.
    pub fn extend(&mut self, others: Self) {
        others.0.into_values().flatten().for_each(|other| self.insert(other));
    }

    /// All of them, by name.
    pub fn iter(&self) -> impl Iterator<Item = &Transformation> {
        self.0.values().flatten()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.0.values().map(Vec::len).sum()
    }

    /// Those that a workload chooses, in its order, with what was probably not meant in its annotations. A name that does not exist,
    /// or is that of one of the `invalid`, is a failure.
    pub(super) fn chosen(
        &self,
        workload: &Workload,
        object: &Raw<'_>,
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
            // One that is further away is not what is meant, well or not.
            (Some(found), Some((scope, invalid))) if *scope < found.scope => Err(invalid.failure()),
            (Some(found), _) => Ok(found),
            (None, Some((_, invalid))) => Err(invalid.failure()),
            (None, None) => Err(self.missing(namespace, name, &place())),
        }
    }

    /// Why nothing is chosen by `name`, which stands at `annotation`.
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
    /// Applies what is for the cluster, in order. `known` is what is known about it, and `kind` as what, if that is known too.
    pub(super) fn apply<'a, A: Ask<'a>>(
        &self,
        object: &mut Draft<'a>,
        ask: &mut A,
        kind: Option<ClusterKind>,
        known: Option<&Cluster>,
    ) -> Result<Reach, A::Error> {
        let name = ask.request().target.cluster.clone();
        let mut reach = Reach::NoEntry;
        for entry in &self.entries {
            if entry.targets.include(&name, kind, known)? {
                entry.patch.apply(object, ask)?;
                let is_empty = entry.patch.value.constant().is_some_and(Value::is_null);
                reach = if is_empty { reach.max(Reach::EmptyPatches) } else { Reach::Patches };
            }
        }
        if let (Reach::NoEntry, Some((position, wanted, is))) = (reach, self.other_kind(&name, kind)) {
            reach = Reach::OtherKind;
            ask.warn(format!(
                "transformations[{position}].targetReference: is for the {wanted} {:?}, and {:?} is a {is} here, so that nothing of it \
                 applies; change the kind",
                name.as_str(),
                name.as_str()
            ));
        }
        Ok(reach)
    }

    /// The first reference to a cluster of that name as what it is not: its position, the kind in it, and the right one.
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

/// What a transformation has for a cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Reach {
    /// None of its entries is for it.
    NoEntry,
    /// None of its entries is for it, and one names it as another kind, which has been warned of.
    OtherKind,
    /// Entries whose patches are empty.
    EmptyPatches,
    /// Entries with patches.
    Patches,
}

impl Targets {
    /// Whether the cluster of that name is one of them. Where it is not known as what, a reference goes by the name alone.
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
