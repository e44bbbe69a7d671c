//! Policies as the engine uses them: checked, in the order in which they apply.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::LazyLock;
use std::time::Duration;

use super::actions::Action;
use super::chaperon;
use super::invalid::{InvalidDocument, InvalidScope};
use super::naming::names_transformations;
use super::selectors::{ResourceSelector, TargetClusters};
use super::transformations::{Transformation, TransformationScope, Transformations};
use crate::domain::{
    ADMIRALTY_GROUP, ClusterName, Failure, GroupVersionKind, POD_CHAPERON, Workload, allocation_annotation,
    digest,
};
use crate::expression::{Condition, Expression, Variable};
use crate::json::{Pointer, Raw, Value};

/// All the policies that are in force at one time.
#[derive(Clone, Debug, Default)]
pub struct PolicySet {
    /// In the order in which they apply.
    pub policies: Vec<Policy>,
    /// By name; a name is defined once, over all policies.
    pub allocations: BTreeMap<String, Allocation>,
    /// By the kind that they are about.
    pub interpretations: BTreeMap<GroupVersionKind, Interpretation>,
    /// What workloads choose themselves.
    pub transformations: Transformations,
    /// The documents that are out of use while these are in force.
    pub invalid: Vec<InvalidDocument>,
}

/// What is at work on one object.
#[derive(Clone, Debug, Default)]
pub struct Selection<'p> {
    /// The policies that select it, in the order in which they apply.
    pub policies: Vec<&'p Policy>,
    /// The transformations that it names_transformations, in the order in which they apply.
    pub transformations: Vec<&'p Transformation>,
    /// What was probably not meant where the object names its transformations, or where policies select it by labels.
    pub warnings: Vec<String>,
}

impl Selection<'_> {
    /// Whether nothing is.
    pub fn is_empty(&self) -> bool {
        self.policies.is_empty() && self.transformations.is_empty()
    }

    /// The [`warnings`](Self::warnings), each with the workload and the cluster in front.
    pub fn warnings_for(&self, workload: &Workload, cluster: &ClusterName) -> Vec<String> {
        let about = |warning| format!("{workload} cluster {:?}: {warning}", cluster.as_str());
        self.warnings.iter().map(about).collect()
    }

    /// A digest of all that is at work: another one means that the outcome may differ.
    pub fn hash(&self) -> String {
        let policies = self.policies.iter().map(|policy| policy.digest.as_str());
        digest(
            policies.chain(self.transformations.iter().map(|transformation| transformation.digest.as_str())),
        )
    }

    /// Whether something wants to know more of the cluster than its name.
    pub fn needs_cluster(&self) -> bool {
        !self.transformations.is_empty() || self.policies.iter().any(|policy| policy.needs_cluster)
    }

    /// Whether something wants to know the template, as which `object` goes to the cluster: a rule reads it, or `object` is
    /// pinned, and only the template says so for all clusters.
    pub fn needs_original(&self, object: &Raw<'_>) -> bool {
        self.policies.iter().any(|policy| policy.needs_original)
            || super::allocations(&self.policies).any(|allocation| is_pinned(object, allocation))
    }
}

/// Whether `object` carries a pin of `allocation`, of whatever kind.
fn is_pinned(object: &Raw<'_>, allocation: &str) -> bool {
    let pin = Pointer::of(["metadata", "annotations", &allocation_annotation(allocation)]);
    object.at(&pin).is_ok_and(|pin| pin.is_some_and(|pin| !pin.is_null()))
}

impl PolicySet {
    /// What is at work on a workload: policies that select it, transformations that it chooses.
    ///
    /// A failure if a document is that is out of use.
    pub fn selection(&self, workload: &Workload, object: &Raw<'_>) -> Result<Selection<'_>, Failure> {
        let policies = self.selecting(workload, object)?;
        let (transformations, mut warnings) = self.transformations.chosen(workload, object, &self.invalid)?;
        warnings.extend(chaperon::selector_warnings(self, workload, object));
        Ok(Selection { policies, transformations, warnings })
    }

    /// The policies that select a workload, in the order in which they apply.
    ///
    /// A failure if one does that is out of use.
    pub fn selecting(&self, workload: &Workload, object: &Raw<'_>) -> Result<Vec<&Policy>, Failure> {
        for invalid in &self.invalid {
            if invalid.selects(workload, object)? {
                return Err(invalid.failure());
            }
        }
        let mut selecting = Vec::new();
        for policy in &self.policies {
            if policy.owner.selects(&policy.selectors, workload, object)? {
                selecting.push(policy);
            }
        }
        Ok(selecting)
    }

    /// The selectors of all policies, also of those that are out of use, each with whose it is.
    pub fn selectors(&self) -> impl Iterator<Item = (&Owner, &ResourceSelector)> {
        let in_force = self.policies.iter().map(|policy| (&policy.owner, &policy.selectors));
        let invalid = self.invalid.iter().filter_map(|invalid| match &invalid.scope {
            InvalidScope::Policy { owner, selectors } => Some((owner, selectors)),
            InvalidScope::Transformation { .. } | InvalidScope::Interpretation(_) => None,
        });
        in_force
            .chain(invalid)
            .flat_map(|(owner, selectors)| selectors.iter().map(move |selector| (owner, selector)))
    }

    /// Whether there is a transformation to choose, if only one that is out of use.
    pub fn has_transformations(&self) -> bool {
        let is_one = |invalid: &InvalidDocument| matches!(invalid.scope, InvalidScope::Transformation { .. });
        !self.transformations.is_empty() || self.invalid.iter().any(is_one)
    }

    /// A digest of all that a [`Selection`] can be of: where that is the same, so is every selection.
    pub fn digest(&self) -> String {
        let policies = self.policies.iter().map(|policy| policy.digest.as_str());
        let transformations = self.transformations.iter();
        // The one is told from the other by what is between them, which is nobody's digest.
        let homes = transformations.flat_map(|transformation| {
            let namespace = match &transformation.scope {
                TransformationScope::Namespace(namespace) => namespace.as_str(),
                TransformationScope::AnyNamespace | TransformationScope::Cluster => "",
            };
            [transformation.digest.as_str(), namespace]
        });
        digest(policies.chain(["/"]).chain(homes))
    }

    /// Whether a policy can select objects of this kind at all.
    pub fn knows(&self, gvk: &GroupVersionKind) -> bool {
        self.selectors().any(|(_, selector)| selector.gvk == *gvk)
    }

    /// Whether something may be at work on an object: its kind can be selected, or it chooses transformations where there are some.
    pub fn concerns(&self, gvk: &GroupVersionKind, object: &Raw<'_>) -> bool {
        self.knows(gvk) || self.has_transformations() && names_transformations(object)
    }

    /// Where rules find the pod templates of objects of this kind; the root for a kind that is itself like a pod. A step `*` stands for
    /// each item of a list.
    ///
    /// A failure if that is said by a document that is out of use.
    pub fn pod_templates(&self, gvk: &GroupVersionKind) -> Result<Vec<Pointer>, Failure> {
        self.interpretation(gvk).map(|_| self.active_pod_templates(gvk))
    }

    /// The same, as if there were no documents out of use.
    pub fn active_pod_templates(&self, gvk: &GroupVersionKind) -> Vec<Pointer> {
        match (self.interpretations.get(gvk), gvk.group.as_str(), gvk.kind.as_str()) {
            (Some(interpretation), _, _) => interpretation.pod_templates.clone(),
            (None, "", "Pod") | (None, ADMIRALTY_GROUP, POD_CHAPERON) => vec![Pointer::ROOT],
            (None, "", "PodTemplate") => vec![Pointer::of(["template"])],
            (None, "batch", "CronJob") => vec![Pointer::of(["spec", "jobTemplate", "spec", "template"])],
            _ => Interpretation::default().pod_templates,
        }
    }

    /// How a kind is interpreted.
    ///
    /// A failure if that is said by a document that is out of use, and by no other.
    pub fn interpretation(&self, gvk: &GroupVersionKind) -> Result<&Interpretation, Failure> {
        static DEFAULT: LazyLock<Interpretation> = LazyLock::new(Interpretation::default);
        match self.interpretations.get(gvk) {
            Some(interpretation) => Ok(interpretation),
            None => match self.invalid.iter().find(|invalid| invalid.interprets(gvk)) {
                Some(invalid) => Err(invalid.failure()),
                None => Ok(&DEFAULT),
            },
        }
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

impl Owner {
    /// The namespace that it is for; all for `None`.
    pub fn namespace(&self) -> Option<&str> {
        match self {
            Self::Cluster { .. } => None,
            Self::Namespace { namespace, .. } => Some(namespace),
        }
    }

    /// Whether one of its selectors selects the workload.
    pub(super) fn selects(
        &self,
        selectors: &[ResourceSelector],
        workload: &Workload,
        object: &Raw<'_>,
    ) -> Result<bool, Failure> {
        if self.namespace().is_some_and(|namespace| *namespace != workload.namespace) {
            return Ok(false);
        }
        for selector in selectors {
            if selector.selects(workload, object)? {
                return Ok(true);
            }
        }
        Ok(false)
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
    /// What its expressions may use, in order.
    pub variables: Vec<(String, Definition)>,
    /// Applied in order, all that match.
    pub rules: Vec<Rule>,
    /// Whether a rule needs to know more of the cluster than its name.
    pub needs_cluster: bool,
    /// Whether a rule reads the template.
    pub needs_original: bool,
    /// A digest of the document.
    pub digest: String,
}

/// What a variable of a policy stands for.
#[derive(Clone, Debug)]
pub enum Definition {
    /// The value of an expression.
    Expression(Expression),
    /// A value for each cluster.
    Table(ClusterTable),
}

/// Values by the name of the cluster.
#[derive(Clone, Debug, Default)]
pub struct ClusterTable {
    /// The values.
    pub values: BTreeMap<String, Value<'static>>,
    /// The value of a cluster that is not among them.
    pub default: Option<Value<'static>>,
}

/// What messages say of a cluster without an entry in a [`ClusterTable`].
pub const NO_ENTRY: &str = "have no entry for the cluster";

impl ClusterTable {
    /// The value of a cluster.
    pub(super) fn get(&self, cluster: &ClusterName) -> Option<&Value<'static>> {
        self.values.get(cluster.as_str()).or(self.default.as_ref())
    }
}

impl Rule {
    /// Its expressions, without those of the variables that it reads.
    pub fn expressions(&self) -> Vec<Expression> {
        let mut expressions: Vec<Expression> =
            self.when.iter().map(|when| when.expression().clone()).collect();
        self.action.values(&mut |value| {
            value.templates(&mut |template| expressions.extend(template.expressions().cloned()));
        });
        expressions
    }
}

impl Policy {
    /// The variables that the expressions of `rule` read, with those that variables of the policy read for them.
    pub fn reads(&self, rule: &Rule) -> BTreeSet<Variable> {
        let expressions = rule.expressions();
        self.resolved(expressions.iter().flat_map(Expression::uses).cloned())
    }

    /// Variables, with those that variables of the policy read for them.
    pub fn resolved(&self, uses: impl IntoIterator<Item = Variable>) -> BTreeSet<Variable> {
        let mut reads = BTreeSet::new();
        let mut pending: Vec<Variable> = uses.into_iter().collect();
        while let Some(variable) = pending.pop() {
            if let Variable::Declared(name) = &variable
                && !reads.contains(&variable)
            {
                match self.variable(name) {
                    Some(Definition::Expression(expression)) => pending.extend_from_slice(expression.uses()),
                    Some(Definition::Table(_)) => pending.push(Variable::ClusterName),
                    None => {}
                }
            }
            reads.insert(variable);
        }
        reads
    }

    /// What the variable `name` stands for.
    pub fn variable(&self, name: &str) -> Option<&Definition> {
        self.variables.iter().find(|(declared, _)| declared == name).map(|(_, definition)| definition)
    }
}

/// One rule of a policy.
#[derive(Clone, Debug)]
pub struct Rule {
    /// Its name, unique in its policy.
    pub name: String,
    /// The clusters that it is for.
    pub target: TargetClusters,
    /// It applies only where this holds.
    pub when: Option<Condition>,
    /// What it does.
    pub action: Action,
    /// What becomes of the revision if it can't be applied.
    pub on_error: OnError,
    /// The allocations that it may ask for.
    pub asks: Vec<String>,
}

/// What becomes of a revision if a rule can't be applied.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnError {
    /// It is refused.
    #[default]
    Fail,
    /// It goes on as if the rule were not there.
    Skip,
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
    /// Where rules find pod templates. A step `*` stands for each item of a list.
    pub pod_templates: Vec<Pointer>,
    /// Whether InterpretReplica states requirements at 0 replicas too.
    pub requirements_at_zero: bool,
    /// Where ReviseReplica writes the replicas.
    pub revised_replicas: Pointer,
}

impl Default for Interpretation {
    fn default() -> Self {
        let replicas = Pointer::of(["spec", "replicas"]);
        let pod_template = Pointer::of(["spec", "template"]);
        Self {
            pod_templates: vec![pod_template.clone()],
            pod_template,
            requirements_at_zero: false,
            revised_replicas: replicas.clone(),
            replicas,
        }
    }
}
