//! All policies of a server, and which of them apply to an object.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use super::chaperon;
use super::draft::ObjectSource;
use super::handover::Allocation;
use super::invalid::{InvalidDocument, InvalidScope};
use super::naming::names_transformations;
use super::owner::{Owner, TransformationScope};
use super::policy::Policy;
use super::replicas::Interpretation;
use super::selectors::ResourceSelector;
use super::transformations::{Transformation, Transformations};
use crate::domain::{
    ADMIRALTY_GROUP, ClusterName, Failure, GroupVersionKind, POD_CHAPERON, Workload, allocation_annotation,
    digest,
};
use crate::json::Pointer;

/// The policies and other documents that are active at one time.
#[derive(Clone, Debug, Default)]
pub struct PolicySet {
    /// In the order in which they apply.
    pub policies: Vec<Policy>,
    /// By name; a name is defined once, over all policies.
    pub allocations: BTreeMap<String, Allocation>,
    pub interpretations: BTreeMap<GroupVersionKind, Interpretation>,
    pub transformations: Transformations,
    pub invalid: Vec<InvalidDocument>,
}

/// What applies to one object.
#[derive(Clone, Debug, Default)]
pub struct Selection<'p> {
    /// In the order in which they apply.
    pub policies: Vec<&'p Policy>,
    /// In the order in which they apply, after all policies.
    pub transformations: Vec<&'p Transformation>,
    /// Probable mistakes in the annotations that name transformations, or in labels that policies select by.
    pub warnings: Vec<String>,
}

impl Selection<'_> {
    pub fn is_empty(&self) -> bool {
        self.policies.is_empty() && self.transformations.is_empty()
    }

    /// The [`warnings`](Self::warnings), each with the workload and the cluster in front.
    pub fn warnings_for(&self, workload: &Workload, cluster: &ClusterName) -> Vec<String> {
        let cluster = cluster.as_str();
        let warnings = self.warnings.iter();
        warnings.map(|warning| format!("{workload} cluster {cluster:?}: {warning}")).collect()
    }

    /// A digest of the policies and transformations. If it changes, the revision may change.
    pub fn hash(&self) -> String {
        let policies = self.policies.iter().map(|policy| policy.digest.as_str());
        let transformations = self.transformations.iter().map(|it| it.digest.as_str());
        digest(policies.chain(transformations))
    }

    /// Whether more of the cluster than its name is needed.
    pub fn needs_cluster(&self) -> bool {
        !self.transformations.is_empty() || self.policies.iter().any(|policy| policy.needs_cluster)
    }

    /// Whether the template is needed: a rule reads it, or `object` is pinned. A pin counts only in the
    /// template, which is the same for all clusters.
    pub fn needs_original(&self, object: &ObjectSource<'_>) -> bool {
        self.policies.iter().any(|policy| policy.needs_original)
            || allocations(&self.policies).any(|allocation| is_pinned(object, allocation))
    }
}

fn is_pinned(object: &ObjectSource<'_>, allocation: &str) -> bool {
    let pin = Pointer::of(["metadata", "annotations", &allocation_annotation(allocation)]);
    object.at(&pin).is_ok_and(|pin| pin.is_some_and(|pin| !pin.is_null()))
}

/// The allocations that rules of these policies can ask for, in any cluster.
pub fn allocations<'s>(policies: &[&'s Policy]) -> impl Iterator<Item = &'s str> {
    policies.iter().flat_map(|policy| &policy.rules).flat_map(|rule| &rule.asks).map(String::as_str)
}

impl PolicySet {
    /// The policies that select a workload, and the transformations that it names. Fails if one of them is
    /// invalid.
    pub fn selection(
        &self,
        workload: &Workload,
        object: &ObjectSource<'_>,
    ) -> Result<Selection<'_>, Failure> {
        let policies = self.selecting(workload, object)?;
        let (transformations, mut warnings) = self.transformations.chosen(workload, object, &self.invalid)?;
        warnings.extend(chaperon::selector_warnings(self.selectors(), workload, object));
        Ok(Selection { policies, transformations, warnings })
    }

    /// The policies that select a workload, in the order in which they apply. Fails if one of them is
    /// invalid.
    pub fn selecting(&self, workload: &Workload, object: &ObjectSource<'_>) -> Result<Vec<&Policy>, Failure> {
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

    /// The selectors of all policies, also of invalid ones.
    pub fn selectors(&self) -> impl Iterator<Item = (&Owner, &ResourceSelector)> {
        let valid = self.policies.iter().map(|policy| (&policy.owner, &policy.selectors));
        let invalid = self.invalid.iter().filter_map(|invalid| match &invalid.scope {
            InvalidScope::Policy { owner, selectors } => Some((owner, selectors)),
            InvalidScope::Transformation { .. } | InvalidScope::Interpretation(_) => None,
        });
        valid
            .chain(invalid)
            .flat_map(|(owner, selectors)| selectors.iter().map(move |selector| (owner, selector)))
    }

    /// Whether there is a transformation, valid or not.
    pub fn has_transformations(&self) -> bool {
        let is_one = |invalid: &InvalidDocument| matches!(invalid.scope, InvalidScope::Transformation { .. });
        !self.transformations.is_empty() || self.invalid.iter().any(is_one)
    }

    /// A digest of everything that a [`Selection`] can contain. While it stays the same, so does every
    /// selection.
    pub fn digest(&self) -> String {
        let policies = self.policies.iter().map(|policy| policy.digest.as_str());
        let transformations = self.transformations.iter().flat_map(|transformation| {
            let namespace = match &transformation.scope {
                TransformationScope::Namespace(namespace) => namespace.as_str(),
                TransformationScope::AnyNamespace | TransformationScope::Cluster => "",
            };
            [transformation.digest.as_str(), namespace]
        });
        // No digest is "/", so that the two lists are kept apart.
        digest(policies.chain(["/"]).chain(transformations))
    }

    /// Whether a policy can select objects of this kind.
    pub fn knows(&self, gvk: &GroupVersionKind) -> bool {
        self.selectors().any(|(_, selector)| selector.gvk == *gvk)
    }

    /// Whether something may apply to an object: its kind can be selected, or it names transformations and
    /// there are some.
    pub fn concerns(&self, gvk: &GroupVersionKind, object: &ObjectSource<'_>) -> bool {
        self.knows(gvk) || self.has_transformations() && names_transformations(object)
    }

    /// Where objects of this kind have their pod templates; the root for a kind that is itself like a pod. A
    /// step `*` stands for each item of a list. Fails if the interpretation of the kind is invalid.
    pub fn pod_templates(&self, gvk: &GroupVersionKind) -> Result<Vec<Pointer>, Failure> {
        self.interpretation(gvk).map(|_| self.active_pod_templates(gvk))
    }

    /// The same, without a failure for an invalid interpretation.
    pub fn active_pod_templates(&self, gvk: &GroupVersionKind) -> Vec<Pointer> {
        match (self.interpretations.get(gvk), gvk.group.as_str(), gvk.kind.as_str()) {
            (Some(interpretation), _, _) => interpretation.pod_templates.clone(),
            (None, "", "Pod") | (None, ADMIRALTY_GROUP, POD_CHAPERON) => vec![Pointer::ROOT],
            (None, "", "PodTemplate") => vec![Pointer::of(["template"])],
            (None, "batch", "CronJob") => vec![Pointer::of(["spec", "jobTemplate", "spec", "template"])],
            _ => Interpretation::default().pod_templates,
        }
    }

    /// How a kind is interpreted. Fails if only an invalid document defines it.
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
