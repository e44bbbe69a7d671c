//! Compiles documents together: it resolves what they define and use, and orders the policies.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

use super::decode::{Fields, Node, Notes, did_you_mean, one_of};
use super::finding::Finding;
use super::lint::{self, Material};
use super::revision::PolicyDocument;
use super::{interpretation, readings, revision, transformation};
use crate::domain::{GroupVersionKind, POLICY_GROUP, PolicyKind};
use crate::engine::{Owner, Policy, PolicySet, TransformationScope};
use crate::expression::Scope;
use crate::json::{Pointer, Value};

/// The `apiVersion` of all reviser documents.
pub const API_VERSION: &str = "reviser.io/v1alpha1";

/// The policy for the Rollout of the seed, used if no policy is given.
pub const BUILT_IN: &str = include_str!("../../manifests/examples/rollout-fort.yaml");

/// The `kind` of a document of the group `reviser.io` in any version. A transformation may lack the
/// `apiVersion`.
pub fn own_kind<'d>(document: &'d Value<'_>) -> Option<&'d str> {
    let kind = document.get("kind").and_then(Value::as_str)?;
    let is_own = match document.get("apiVersion").and_then(Value::as_str) {
        Some(version) => version.split('/').next() == Some(POLICY_GROUP),
        None => PolicyKind::by_name(kind).is_some_and(PolicyKind::is_transformation),
    };
    is_own.then_some(kind)
}

/// Compiles all documents. Returns all errors of all documents, in their order.
pub fn compile(documents: &[Value<'static>]) -> Result<PolicySet, Vec<Finding>> {
    examine(documents).result
}

/// The result of [`examine`].
#[derive(Debug)]
pub struct Examined {
    /// The policies, or all errors of all documents.
    pub result: Result<PolicySet, Vec<Finding>>,
    /// The document of each policy, in the order of the policies.
    pub origins: Vec<usize>,
    /// Warnings about documents without errors.
    pub warnings: Vec<Finding>,
}

/// Compiles all documents. Returns also warnings about documents without errors.
pub fn examine(documents: &[Value<'static>]) -> Examined {
    // Several documents may define the same name.
    let names: BTreeSet<String> = documents.iter().flat_map(allocation_names).collect();
    let mut all = Compiler::new(names.into_iter().fold(Scope::new(), Scope::with_allocation));
    for (document, value) in documents.iter().enumerate() {
        let mut notes = Notes::default();
        all.document(document, value, &mut notes);
        let mut findings = Finding::all(document, notes);
        readings::explain(value, &mut findings);
        all.findings.extend(findings);
    }
    all.check_used();
    all.findings.sort_by_key(|finding| finding.document);
    all.policies.sort_by(in_order);
    let mut warnings = lint::lint(&all.material());
    for warning in &mut warnings {
        readings::explain(&documents[warning.document], [warning]);
    }
    let Compiler { mut set, findings, policies, .. } = all;
    let origins = policies.iter().map(|read| read.document).collect();
    if !findings.is_empty() {
        return Examined { result: Err(findings), origins, warnings };
    }
    set.policies = policies.into_iter().map(|read| read.policy).collect();
    Examined { result: Ok(set), origins, warnings }
}

/// The order in which policies apply.
pub(super) fn in_order(a: &PolicyDocument, b: &PolicyDocument) -> Ordering {
    let key = |policy: &Policy| (matches!(policy.owner, Owner::Namespace { .. }), policy.priority);
    key(&a.policy).cmp(&key(&b.policy)).then_with(|| a.policy.owner.cmp(&b.policy.owner))
}

/// The names under `spec.allocations`, also of an invalid document.
fn allocation_names(document: &Value<'static>) -> Vec<String> {
    let list =
        document.at(&Pointer::of(["spec", "allocations"])).and_then(Value::as_array).unwrap_or_default();
    list.iter().filter_map(|item| item.get("name")?.as_str().map(str::to_owned)).collect()
}

/// The state of the compilation of one or all documents.
#[derive(Default)]
pub(super) struct Compiler {
    /// The result except for the policies.
    pub(super) set: PolicySet,
    pub(super) policies: Vec<PolicyDocument>,
    findings: Vec<Finding>,
    /// The names that expressions may use.
    scope: Scope,
    /// The documents so far, by kind, namespace and name.
    pub(super) seen: BTreeSet<(PolicyKind, String, String)>,
    /// The defined allocations, each with the policy for messages.
    pub(super) defined: BTreeMap<String, String>,
    /// The kinds with a `ResourceInterpretation`, each with the position and the name of the document.
    pub(super) targets: BTreeMap<GroupVersionKind, (usize, String)>,
}

impl Compiler {
    pub(super) fn new(scope: Scope) -> Self {
        Self { scope, ..Self::default() }
    }

    /// Reads a document, and reports its own errors and its conflicts with documents that were read before.
    pub(super) fn document(
        &mut self,
        document: usize,
        value: &Value<'static>,
        notes: &mut Notes,
    ) -> Option<()> {
        let mut fields = Fields::of(Node::root(value), notes)?;
        let named = value.get("kind").and_then(Value::as_str).and_then(PolicyKind::by_name);
        let version = fields.optional("apiVersion");
        if version.is_some() || !named.is_some_and(PolicyKind::is_transformation) {
            let version = version.or_else(|| fields.required("apiVersion", notes))?;
            if version.string(notes)? != API_VERSION {
                notes.note(&version.field, format!("must be {API_VERSION:?}, is {}", version.value));
                return None;
            }
        }
        let kinds = PolicyKind::ALL.map(|kind| (kind.name(), kind));
        let kind = one_of(&fields.required("kind", notes)?, &kinds, notes)?;
        let metadata = fields.required("metadata", notes).and_then(|node| metadata(node, kind, notes));
        self.see(kind, metadata.as_ref(), notes);
        // An invalid name has been reported. The rest is read too, to find all errors at once.
        let (namespace, name) = metadata.unwrap_or_default();
        let read = match kind {
            PolicyKind::ClusterTargetPodTransformation => {
                self.transformation(TransformationScope::Cluster, &name, &mut fields, notes);
                Some(())
            }
            PolicyKind::TargetPodTransformation => {
                let scope = if namespace.is_empty() {
                    TransformationScope::AnyNamespace
                } else {
                    TransformationScope::Namespace(namespace)
                };
                self.transformation(scope, &name, &mut fields, notes);
                Some(())
            }
            PolicyKind::ClusterRevisionPolicy => {
                self.policy(document, Owner::Cluster { name }, &mut fields, notes)
            }
            PolicyKind::RevisionPolicy => {
                self.policy(document, Owner::Namespace { namespace, name }, &mut fields, notes)
            }
            PolicyKind::ResourceInterpretation => self.interpretation(document, name, &mut fields, notes),
        };
        // A stored object has a status. It is ignored.
        let _ = fields.optional("status");
        fields.end(notes);
        read
    }

    /// Reports a document that exists twice.
    fn see(&mut self, kind: PolicyKind, metadata: Option<&(String, String)>, notes: &mut Notes) {
        if let Some((namespace, name)) = metadata
            && !self.seen.insert((kind, namespace.clone(), name.clone()))
        {
            notes.note(&Pointer::of(["metadata", "name"]), there_twice(kind, name));
        }
    }

    fn transformation(
        &mut self,
        scope: TransformationScope,
        name: &str,
        fields: &mut Fields<'_>,
        notes: &mut Notes,
    ) {
        transformation::check_name(name, &Pointer::of(["metadata", "name"]), notes);
        if let Some(read) = transformation::transformation(scope, name, fields, notes) {
            self.set.transformations.insert(read);
        }
    }

    fn policy(
        &mut self,
        document: usize,
        owner: Owner,
        fields: &mut Fields<'_>,
        notes: &mut Notes,
    ) -> Option<()> {
        let mut spec = Fields::of(fields.required("spec", notes)?, notes)?;
        let read = revision::policy(document, owner, &self.scope, &mut spec, notes);
        spec.end(notes);
        for (name, allocation, place) in &read.allocations {
            if let Some(first) = self.defined.get(name) {
                notes.note(place, already_defined(name, first));
                continue;
            }
            self.defined.insert(name.clone(), read.policy.owner.to_string());
            self.set.allocations.extend((*allocation).map(|allocation| (name.clone(), allocation)));
        }
        self.policies.push(read);
        Some(())
    }

    fn interpretation(
        &mut self,
        document: usize,
        name: String,
        fields: &mut Fields<'_>,
        notes: &mut Notes,
    ) -> Option<()> {
        let mut spec = Fields::of(fields.required("spec", notes)?, notes)?;
        let read = interpretation::interpretation(&mut spec, notes);
        spec.end(notes);
        let (gvk, interpretation) = read?;
        if let Some((_, first)) = self.targets.get(&gvk) {
            notes.note(&Pointer::of(["spec", "target"]), already_interpreted(first));
            return None;
        }
        self.targets.insert(gvk.clone(), (document, name));
        self.set.interpretations.insert(gvk, interpretation);
        Some(())
    }

    /// The allocations that policies use, including policies with errors.
    pub(super) fn used_allocations(&self) -> impl Iterator<Item = &str> {
        self.policies.iter().flat_map(PolicyDocument::used_allocations)
    }

    fn material(&self) -> Material<'_> {
        let invalid: BTreeSet<usize> = self.findings.iter().map(|finding| finding.document).collect();
        let interpreted = self.targets.iter().map(|(gvk, (document, _))| (*document, gvk));
        Material {
            policies: self.policies.iter().filter(|read| !invalid.contains(&read.document)).collect(),
            set: &self.set,
            interpreted: interpreted.filter(|(document, _)| !invalid.contains(document)).collect(),
            used: self.used_allocations().collect(),
        }
    }

    /// Reports allocations that no policy defines. It is called last, because any document may define them.
    fn check_used(&mut self) {
        for read in &self.policies {
            for (name, field) in read.used.iter().filter(|(name, _)| !self.defined.contains_key(name)) {
                let problem = undefined(name, self.defined.keys().map(String::as_str));
                self.findings.push(Finding { document: read.document, field: field.clone(), problem });
            }
        }
    }
}

pub(super) fn already_defined(allocation: &str, by: &str) -> String {
    format!("allocation {allocation:?} is already defined by {by}; a name is defined once, over all policies")
}

pub(super) fn there_twice(kind: PolicyKind, name: &str) -> String {
    format!("{kind} {name:?} is there twice")
}

pub(super) fn already_interpreted(by: &str) -> String {
    format!("ResourceInterpretation/{by} is already for this kind")
}

pub(super) fn undefined<'n>(allocation: &str, defined: impl IntoIterator<Item = &'n str>) -> String {
    let hint = did_you_mean(allocation, defined);
    format!("no policy defines the allocation {allocation:?}{hint}; define it under `spec.allocations`")
}

/// Namespace and name. The namespace is empty for a cluster-scoped kind.
fn metadata(node: Node<'_>, kind: PolicyKind, notes: &mut Notes) -> Option<(String, String)> {
    let mut fields = Fields::of(node, notes)?;
    let name = fields.required("name", notes).and_then(|node| node.name(notes));
    let namespace = match kind {
        PolicyKind::RevisionPolicy => fields.required("namespace", notes).and_then(|node| node.name(notes)),
        // A file has no default namespace. Without a namespace, the transformation applies in all namespaces.
        PolicyKind::TargetPodTransformation => match fields.optional("namespace") {
            Some(node) => node.name(notes),
            None => Some(""),
        },
        PolicyKind::ClusterRevisionPolicy
        | PolicyKind::ResourceInterpretation
        | PolicyKind::ClusterTargetPodTransformation => {
            if let Some(node) = fields.optional("namespace") {
                notes.note(&node.field, "this kind is cluster-scoped and has no namespace");
            }
            Some("")
        }
    };
    // The API server validates the other metadata.
    Some((namespace?.to_owned(), name?.to_owned()))
}
