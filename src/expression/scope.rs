//! Names that expressions may use, and the source of their values.

use std::borrow::Cow;
use std::fmt;

use crate::domain::likeliest;
use crate::json::Value;

/// A variable that an expression reads. Each is looked up separately: an expression that reads only
/// `cluster.name` does not need the cluster.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Variable {
    /// `object`: the workload, with the revisions so far.
    Object,
    /// `original`: the resource template.
    Original,
    /// `replicas`: the replicas of this cluster.
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
    /// `binding.replicas`: the sum over the clusters of the binding.
    BindingReplicas,
    /// `binding.clusters`: a list of maps with `name` and `replicas`.
    BindingClusters,
    /// `allocations.<name>`: the cluster that the allocation has picked.
    Allocation(String),
    /// `variables.<name>`
    Declared(String),
}

impl Variable {
    /// Whether it is data of the cluster other than its name.
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
    /// Whether `object` is the only variable.
    object_only: bool,
    variables: Vec<String>,
    allocations: Vec<String>,
    /// Whether any other name of an allocation is valid too.
    any_allocation: bool,
}

/// Names that are not values themselves. Only their members can be read.
const GROUPS: [&str; 4] = ["cluster", "binding", "allocations", "variables"];

impl Scope {
    /// The variables that all rules of a policy can use, without the variables and allocations that the
    /// policy declares.
    pub fn new() -> Self {
        Self::default()
    }

    /// The scope that has only `object`.
    pub fn object_only() -> Self {
        Self { object_only: true, ..Self::default() }
    }

    /// Adds `variables.<name>`.
    #[must_use]
    pub fn with_variable(mut self, name: impl Into<String>) -> Self {
        self.variables.push(name.into());
        self
    }

    /// Adds `allocations.<name>`.
    #[must_use]
    pub fn with_allocation(mut self, name: impl Into<String>) -> Self {
        self.allocations.push(name.into());
        self
    }

    /// Adds `allocations.<name>` for any name. The caller checks the names in
    /// [`uses`](super::Expression::uses).
    #[must_use]
    pub fn with_any_allocation(self) -> Self {
        Self { any_allocation: true, ..self }
    }

    /// The variable that a bare name refers to.
    pub(super) fn root(&self, name: &str) -> Option<Variable> {
        Some(match name {
            "object" => Variable::Object,
            "original" if !self.object_only => Variable::Original,
            "replicas" if !self.object_only => Variable::Replicas,
            _ => return None,
        })
    }

    /// Whether a bare name is a group of variables.
    pub(super) fn is_group(&self, name: &str) -> bool {
        !self.object_only && GROUPS.contains(&name)
    }

    /// The variable `member` of the group `group`.
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

    /// The members of `group`.
    pub(super) fn members(&self, group: &str) -> Vec<&str> {
        match group {
            "cluster" => vec!["name", "labels", "provider", "region", "zone"],
            "binding" => vec!["replicas", "clusters"],
            "allocations" => self.allocations.iter().map(String::as_str).collect(),
            "variables" => self.variables.iter().map(String::as_str).collect(),
            _ => Vec::new(),
        }
    }

    /// The variables without a group, and the groups.
    pub(super) fn names(&self) -> Vec<&'static str> {
        if self.object_only {
            return vec!["object"];
        }
        ["object", "original", "replicas"].into_iter().chain(GROUPS).collect()
    }
}

/// The source of the values of variables. Each variable is looked up when an evaluation first reads it, and
/// at most once.
///
/// An implementation must not evaluate expressions, because nested evaluations would need unbounded stack. To
/// define variables by expressions, evaluate those in [`uses`](super::Expression::uses) first, in order.
pub trait Bindings<'a> {
    fn look_up(&self, variable: &Variable) -> Result<Cow<'_, Value<'a>>, Missing>;
}

/// Why a variable has no value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Missing {
    /// The variable certainly has no value: `has` is false, `.?` gives `none`, and reading it is an error.
    Absent,
    /// Like `Absent`, with a reason for the message. The reason must hold no content of an object.
    Lacking(String),
    /// It is not known whether there is a value, for this reason. Every use is an error. The reason must hold
    /// no content of an object.
    Unknown(String),
}

/// `; did you mean ...?`, if a candidate is similar to `name`.
pub(super) fn hint<'c>(name: &str, candidates: impl IntoIterator<Item = &'c str>) -> String {
    likeliest(name, candidates).map_or_else(String::new, |candidate| format!("; did you mean `{candidate}`?"))
}
