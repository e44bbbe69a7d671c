//! Names: what may be used, what is used, and where their values come from.

use std::borrow::Cow;
use std::fmt;

use crate::domain::likeliest;
use crate::json::Value;

/// A variable that an expression reads. Each is looked up by itself, so that one that names only `cluster.name` needs no cluster.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Variable {
    /// `object`: the workload as revised so far.
    Object,
    /// `original`: the template.
    Original,
    /// `replicas`: those of this cluster.
    Replicas,
    /// `cluster.name`
    ClusterName,
    /// `cluster.labels`, a map.
    ClusterLabels,
    /// `cluster.provider`
    ClusterProvider,
    /// `cluster.region`
    ClusterRegion,
    /// `cluster.zone`
    ClusterZone,
    /// `binding.replicas`: the sum over its clusters.
    BindingReplicas,
    /// `binding.clusters`: a list of maps with `name` and `replicas`.
    BindingClusters,
    /// `allocations.<name>`: the cluster that it has picked.
    Allocation(String),
    /// `variables.<name>`
    Declared(String),
}

impl Variable {
    /// Whether it is what is known about the cluster, besides its name.
    pub fn is_of_cluster(&self) -> bool {
        matches!(self, Self::ClusterLabels | Self::ClusterProvider | Self::ClusterRegion | Self::ClusterZone)
    }
}

impl fmt::Display for Variable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Object => "object",
            Self::Original => "original",
            Self::Replicas => "replicas",
            Self::ClusterName => "cluster.name",
            Self::ClusterLabels => "cluster.labels",
            Self::ClusterProvider => "cluster.provider",
            Self::ClusterRegion => "cluster.region",
            Self::ClusterZone => "cluster.zone",
            Self::BindingReplicas => "binding.replicas",
            Self::BindingClusters => "binding.clusters",
            Self::Allocation(name) => return write!(f, "allocations.{name}"),
            Self::Declared(name) => return write!(f, "variables.{name}"),
        })
    }
}

/// The names that an expression may use.
#[derive(Clone, Debug, Default)]
pub struct Scope {
    /// Whether only `object` is known.
    object_only: bool,
    variables: Vec<String>,
    allocations: Vec<String>,
    /// Whether there may be allocations of any other name too.
    any_allocation: bool,
}

/// Roots that are no values themselves: each use names a member.
const GROUPS: [&str; 4] = ["cluster", "binding", "allocations", "variables"];

impl Scope {
    /// What the rules of a policy see, but for what it declares itself.
    pub fn new() -> Self {
        Self::default()
    }

    /// `object` and nothing else.
    pub fn object_only() -> Self {
        Self { object_only: true, ..Self::default() }
    }

    /// The same, and `variables.<name>`.
    #[must_use]
    pub fn with_variable(mut self, name: impl Into<String>) -> Self {
        self.variables.push(name.into());
        self
    }

    /// The same, and `allocations.<name>`.
    #[must_use]
    pub fn with_allocation(mut self, name: impl Into<String>) -> Self {
        self.allocations.push(name.into());
        self
    }

    /// The same, and `allocations.<name>` for any name: whether there is such a one is seen from what is used.
    #[must_use]
    pub fn with_any_allocation(self) -> Self {
        Self { any_allocation: true, ..self }
    }

    /// The variable that a bare name stands for.
    pub(super) fn root(&self, name: &str) -> Option<Variable> {
        Some(match name {
            "object" => Variable::Object,
            "original" if !self.object_only => Variable::Original,
            "replicas" if !self.object_only => Variable::Replicas,
            _ => return None,
        })
    }

    /// Whether a bare name stands for a group of variables.
    pub(super) fn is_group(&self, name: &str) -> bool {
        !self.object_only && GROUPS.contains(&name)
    }

    /// The variable `member` of `group`, which is one.
    pub(super) fn member(&self, group: &str, member: &str) -> Option<Variable> {
        let is_open = self.any_allocation && group == "allocations";
        if !is_open && !self.members(group).contains(&member) {
            return None;
        }
        Some(match (group, member) {
            ("cluster", "name") => Variable::ClusterName,
            ("cluster", "labels") => Variable::ClusterLabels,
            ("cluster", "provider") => Variable::ClusterProvider,
            ("cluster", "region") => Variable::ClusterRegion,
            ("cluster", _) => Variable::ClusterZone,
            ("binding", "replicas") => Variable::BindingReplicas,
            ("binding", _) => Variable::BindingClusters,
            ("allocations", name) => Variable::Allocation(name.to_owned()),
            (_, name) => Variable::Declared(name.to_owned()),
        })
    }

    /// What `group` holds.
    pub(super) fn members(&self, group: &str) -> Vec<&str> {
        match group {
            "cluster" => vec!["name", "labels", "provider", "region", "zone"],
            "binding" => vec!["replicas", "clusters"],
            "allocations" => self.allocations.iter().map(String::as_str).collect(),
            "variables" => self.variables.iter().map(String::as_str).collect(),
            _ => Vec::new(),
        }
    }

    /// Every name that stands for something by itself or with a member.
    pub(super) fn names(&self) -> Vec<&'static str> {
        if self.object_only {
            return vec!["object"];
        }
        ["object", "original", "replicas"].into_iter().chain(GROUPS).collect()
    }
}

/// Where the values of variables come from. Each is asked for when an evaluation first reads it, and once.
///
/// It must not evaluate expressions to answer: one evaluation inside another would need stack without bound. Who defines
/// variables by expressions evaluates those that [`uses`](super::Expression::uses) names first, in order.
pub trait Bindings<'a> {
    /// The value of `variable`, borrowed or made now.
    fn look_up(&self, variable: &Variable) -> Result<Cow<'_, Value<'a>>, Missing>;
}

/// Why a variable has no value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Missing {
    /// It is known that there is none: `has` says no, `.?` gives none, and reading it is an error.
    Absent,
    /// The same, for this reason, which a message may tell. The reason must hold no content of an object.
    Lacking(String),
    /// It is not known whether there is one, for this reason: every use is an error. The reason must hold no content of an object.
    Unknown(String),
}

/// `; did you mean ...?`, if a candidate is like `name`.
pub(super) fn hint<'c>(name: &str, candidates: impl IntoIterator<Item = &'c str>) -> String {
    likeliest(name, candidates).map_or_else(String::new, |candidate| format!("; did you mean `{candidate}`?"))
}
