//! Policies as the engine uses them: checked, in the order in which they apply.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::LazyLock;
use std::time::Duration;

use super::fort::Fort;
use crate::domain::{ClusterName, Failure, GroupVersionKind, Workload, digest};
use crate::json::{ParseError, Pointer, Raw, Value};

/// All the policies that are in force at one time.
#[derive(Clone, Debug, Default)]
pub struct PolicySet {
    /// In the order in which they apply.
    pub policies: Vec<Policy>,
    /// By name; a name is defined once, over all policies.
    pub allocations: BTreeMap<String, Allocation>,
    /// By the kind that they are about.
    pub interpretations: BTreeMap<GroupVersionKind, Interpretation>,
}

impl PolicySet {
    /// The policies that select a workload, in the order in which they apply.
    pub fn selecting(&self, workload: &Workload, object: &Raw<'_>) -> Result<Vec<&Policy>, Failure> {
        let mut selecting = Vec::new();
        for policy in &self.policies {
            if policy.selects(workload, object)? {
                selecting.push(policy);
            }
        }
        Ok(selecting)
    }

    /// A digest of the rules that are at work where these policies select: another one means that the outcome may differ.
    pub fn hash(policies: &[&Policy]) -> String {
        digest(policies.iter().map(|policy| policy.digest.as_str()))
    }

    /// Whether a policy can select objects of this kind at all.
    pub fn knows(&self, gvk: &GroupVersionKind) -> bool {
        self.policies.iter().flat_map(|policy| &policy.selectors).any(|selector| selector.gvk == *gvk)
    }

    /// How a kind is interpreted.
    pub fn interpretation(&self, gvk: &GroupVersionKind) -> &Interpretation {
        static DEFAULT: LazyLock<Interpretation> = LazyLock::new(Interpretation::default);
        self.interpretations.get(gvk).unwrap_or(&DEFAULT)
    }
}

/// Where a policy comes from; its display is how messages begin.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Owner {
    /// A `ClusterRevisionPolicy`.
    Cluster {
        /// Its name.
        name: String,
    },
    /// A `RevisionPolicy`.
    Namespace {
        /// The namespace that it is in and that it is for.
        namespace: String,
        /// Its name.
        name: String,
    },
}

impl fmt::Display for Owner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cluster { name } => write!(f, "ClusterRevisionPolicy/{name}"),
            Self::Namespace { name, .. } => write!(f, "RevisionPolicy/{name}"),
        }
    }
}

/// One policy.
#[derive(Clone, Debug)]
pub struct Policy {
    /// Its identity.
    pub owner: Owner,
    /// Higher applies later, so that it has the last word.
    pub priority: i64,
    /// It is for workloads that any of these selects.
    pub selectors: Vec<ResourceSelector>,
    /// Applied in order, all that match.
    pub rules: Vec<Rule>,
    /// A digest of the document.
    pub digest: String,
}

impl Policy {
    fn selects(&self, workload: &Workload, object: &Raw<'_>) -> Result<bool, Failure> {
        let namespace = match &self.owner {
            Owner::Cluster { .. } => None,
            Owner::Namespace { namespace, .. } => Some(namespace),
        };
        if namespace.is_some_and(|namespace| *namespace != workload.namespace) {
            return Ok(false);
        }
        for selector in &self.selectors {
            if selector.selects(workload, object)? {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// Selects workloads, as Karmada's `ResourceSelector` does: a name makes the label selector irrelevant.
#[derive(Clone, Debug, PartialEq)]
pub struct ResourceSelector {
    /// API group, version and kind; all of them have to be the same.
    pub gvk: GroupVersionKind,
    /// The namespace; `None` for any.
    pub namespace: Option<String>,
    /// The name; `None` for any.
    pub name: Option<String>,
    /// The labels; `None` for any.
    pub labels: Option<LabelSelector>,
}

impl ResourceSelector {
    fn selects(&self, workload: &Workload, object: &Raw<'_>) -> Result<bool, Failure> {
        if self.gvk != workload.gvk
            || self.namespace.as_ref().is_some_and(|namespace| *namespace != workload.namespace)
        {
            return Ok(false);
        }
        match (&self.name, &self.labels) {
            (Some(name), _) => Ok(*name == workload.name),
            (None, Some(labels)) => labels.matches(object),
            (None, None) => Ok(true),
        }
    }
}

/// A Kubernetes `LabelSelector`, over the labels of an object. All requirements have to hold.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LabelSelector(pub Vec<LabelRequirement>);

/// One requirement of a [`LabelSelector`].
#[derive(Clone, Debug, PartialEq)]
pub enum LabelRequirement {
    /// The label is there and has one of these values.
    In(String, Vec<String>),
    /// The label is missing or has none of these values.
    NotIn(String, Vec<String>),
    /// The label is there.
    Exists(String),
    /// The label is missing.
    DoesNotExist(String),
}

impl LabelSelector {
    fn matches(&self, object: &Raw<'_>) -> Result<bool, Failure> {
        let place = Pointer::of(["metadata", "labels"]);
        let refused =
            |error: ParseError| Failure::unprocessable(format!("{place}: {error}; mend the object"));
        let labels =
            object.at(&place).map_err(refused)?.map(|raw| raw.to_value()).transpose().map_err(refused)?;
        let label = |key: &str| labels.as_ref().and_then(|labels| labels.get(key)).and_then(Value::as_str);
        Ok(self.0.iter().all(|requirement| match requirement {
            LabelRequirement::In(key, values) => {
                label(key).is_some_and(|is| values.iter().any(|value| value == is))
            }
            LabelRequirement::NotIn(key, values) => {
                label(key).is_none_or(|is| values.iter().all(|value| value != is))
            }
            LabelRequirement::Exists(key) => label(key).is_some(),
            LabelRequirement::DoesNotExist(key) => label(key).is_none(),
        }))
    }
}

/// One rule of a policy.
#[derive(Clone, Debug)]
pub struct Rule {
    /// Its name, unique in its policy.
    pub name: String,
    /// The clusters that it is for.
    pub target: TargetClusters,
    /// What it does.
    pub action: Action,
}

/// Which clusters a rule is for: by default all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TargetClusters {
    /// Only these, if there are any.
    pub names: Vec<ClusterName>,
    /// None of these, even if named above.
    pub exclude: Vec<ClusterName>,
}

impl TargetClusters {
    /// Whether the rule is for `cluster`.
    pub fn includes(&self, cluster: &ClusterName) -> bool {
        (self.names.is_empty() || self.names.contains(cluster)) && !self.exclude.contains(cluster)
    }
}

/// What a rule does.
#[derive(Clone, Debug)]
pub enum Action {
    /// Writes the steps of a release so that only one cluster runs some of them.
    Fort(Fort),
}

/// The definition of an allocation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Allocation {
    /// How it leaves a cluster.
    pub handover: Handover,
}

/// How an allocation leaves a cluster. It matters where the delivered objects can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Handover {
    /// The new cluster waits until the old one has let go.
    AfterRelease {
        /// How long at the most; `None` for as long as it takes.
        timeout: Option<Duration>,
    },
    /// The new cluster does not wait.
    Immediate,
}

/// Where a kind has what the interpreter operations read and write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interpretation {
    /// Where InterpretReplica finds the replicas.
    pub replicas: Pointer,
    /// Where InterpretReplica finds the pod template.
    pub pod_template: Pointer,
    /// Whether InterpretReplica states requirements at 0 replicas too.
    pub requirements_at_zero: bool,
    /// Where ReviseReplica writes the replicas.
    pub revised_replicas: Pointer,
}

impl Default for Interpretation {
    fn default() -> Self {
        let replicas = Pointer::of(["spec", "replicas"]);
        Self {
            pod_template: Pointer::of(["spec", "template"]),
            requirements_at_zero: false,
            revised_replicas: replicas.clone(),
            replicas,
        }
    }
}
