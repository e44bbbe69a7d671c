//! Transformations: patches by target, chosen by the workload itself, by name.
//!
//! They come after all policies, in the order in which the workload names them. What the annotations say is read from the
//! object as it arrived: what a rule writes there is for whoever reads the object next.

use std::collections::BTreeMap;
use std::fmt;

use super::Draft;
use super::actions::{Ask, Patching};
use super::broken::Broken;
use super::selectors::LabelSelector;
use crate::domain::{
    Cluster, ClusterKind, ClusterName, Failure, PROPOSED_TRANSFORMATION_ANNOTATION,
    TRANSFORMATION_ANNOTATION, Workload, join_transformations,
};
use crate::json::{Pointer, Raw};

/// Most names that a message lists.
const MOST_NAMES: usize = 3;

/// A `TargetPodTransformation` or a `ClusterTargetPodTransformation`.
#[derive(Clone, Debug)]
pub struct Transformation {
    /// Where it can be chosen.
    pub home: Home,
    /// Its name.
    pub name: String,
    /// Applied in order, all that are for the cluster.
    pub entries: Vec<TargetPatch>,
    /// A digest of the document.
    pub digest: String,
}

/// Where a transformation can be chosen. The first of several with one name is taken.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Home {
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
    pub patch: Patching,
}

/// Which targets a patch is for.
#[derive(Clone, Debug, PartialEq)]
pub enum Targets {
    /// The one of this kind and name; a `Target` in the namespace of the workload.
    Reference(ClusterKind, ClusterName),
    /// All with such labels.
    Selector(LabelSelector),
}

/// All transformations, by name.
#[derive(Clone, Debug, Default)]
pub struct Transformations(BTreeMap<String, Vec<Transformation>>);

impl fmt::Display for Transformation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scope = if self.home == Home::Cluster { "Cluster" } else { "" };
        write!(f, "{scope}TargetPodTransformation/{}", self.name)
    }
}

impl Home {
    /// Whether it can be chosen in `namespace`.
    pub(super) fn includes(&self, namespace: &str) -> bool {
        match self {
            Self::Namespace(home) => home == namespace,
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
        same.sort_by(|a, b| a.home.cmp(&b.home));
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

    /// Those that a workload chooses, in its order. A name that does not exist, or is that of one of the `broken`, is a failure.
    pub(super) fn chosen(
        &self,
        workload: &Workload,
        object: &Raw<'_>,
        broken: &[Broken],
    ) -> Result<Vec<&Transformation>, Failure> {
        let Some(names) = named(object)? else { return Ok(Vec::new()) };
        let names = names.split(',').map(str::trim).filter(|name| !name.is_empty());
        names.map(|name| self.find(&workload.namespace, name, broken)).collect()
    }

    fn find(&self, namespace: &str, name: &str, broken: &[Broken]) -> Result<&Transformation, Failure> {
        let visible = |same: &&Transformation| same.home.includes(namespace);
        let found = self.0.get(name).and_then(|same| same.iter().find(visible));
        let broken = broken.iter().filter_map(|broken| Some((broken.chosen_as(namespace, name)?, broken)));
        match (found, broken.min_by_key(|(home, _)| *home)) {
            // One that is further away is not what is meant, well or not.
            (Some(found), Some((home, broken))) if *home < found.home => Err(broken.failure()),
            (Some(found), _) => Ok(found),
            (None, Some((_, broken))) => Err(broken.failure()),
            (None, None) => Err(self.missing(namespace, name)),
        }
    }

    fn missing(&self, namespace: &str, name: &str) -> Failure {
        let visible = |(_, same): &(&String, &Vec<Transformation>)| {
            same.iter().any(|transformation| transformation.home.includes(namespace))
        };
        let mut names: Vec<&str> = self.0.iter().filter(visible).map(|(name, _)| name.as_str()).collect();
        // Equals stay in the order of the alphabet.
        names.sort_by(|a, b| likeness(name, b).total_cmp(&likeness(name, a)));
        names.truncate(MOST_NAMES);
        let advice = if names.is_empty() {
            "there is none to choose; give its document with --policy".to_owned()
        } else {
            let names: Vec<String> = names.iter().map(|name| format!("{name:?}")).collect();
            format!(
                "the nearest names are {}; choose one of them, or give its document with --policy",
                names.join(", ")
            )
        };
        let annotation = Pointer::of(["metadata", "annotations", TRANSFORMATION_ANNOTATION]);
        let place = if namespace.is_empty() { String::new() } else { format!(" in namespace {namespace:?}") };
        Failure::unprocessable(format!(
            "{annotation}: no TargetPodTransformation or ClusterTargetPodTransformation {name:?} can be chosen{place}: {advice}"
        ))
    }
}

/// How alike two names are, whatever their case.
fn likeness(a: &str, b: &str) -> f64 {
    strsim::jaro_winkler(&a.to_lowercase(), &b.to_lowercase())
}

/// Whether an object names transformations.
pub fn chooses(object: &Raw<'_>) -> bool {
    !matches!(named(object), Ok(None))
}

/// What the annotations say; `None` where they say nothing. An object whose annotations are no map has none.
fn named(object: &Raw<'_>) -> Result<Option<String>, Failure> {
    let Some(annotations) = object.at(&Pointer::of(["metadata", "annotations"])).ok().flatten() else {
        return Ok(None);
    };
    let text = |key: &str| {
        let Some(raw) = annotations.get(key).ok().flatten().filter(|raw| !raw.is_null()) else {
            return Ok(None);
        };
        let refused = |problem: String| {
            let place = Pointer::of(["metadata", "annotations", key]);
            Failure::unprocessable(format!("{place}: {problem}; name transformations, separated by commas"))
        };
        match raw.as_str() {
            Ok(Some(text)) => Ok(Some(text)),
            Ok(None) => Err(refused(format!("must be a string, is {}", raw.kind()))),
            Err(error) => Err(refused(error.to_string())),
        }
    };
    let (proposed, own) = (text(PROPOSED_TRANSFORMATION_ANNOTATION)?, text(TRANSFORMATION_ANNOTATION)?);
    let names = join_transformations(&proposed.unwrap_or_default(), &own.unwrap_or_default());
    Ok((!names.is_empty()).then_some(names))
}

impl Transformation {
    /// Applies what is for the cluster, in order. `known` is what is known about it, and `kind` as what, if that is known too.
    pub(super) fn apply<'a, A: Ask<'a>>(
        &self,
        object: &mut Draft<'a>,
        ask: &mut A,
        kind: Option<ClusterKind>,
        known: Option<&Cluster>,
    ) -> Result<(), A::Error> {
        let name = ask.request().target.cluster.clone();
        for entry in &self.entries {
            if entry.targets.include(&name, kind, known)? {
                entry.patch.apply(object, ask)?;
            }
        }
        Ok(())
    }
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
