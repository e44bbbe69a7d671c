//! All documents together: what they define, what they use, and the order in which they apply.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

use super::decode::{Fields, Node, Notes, did_you_mean, one_of};
use super::finding::Finding;
use super::lint::{self, Material, Subject};
use super::{interpretation, readings, revision, transformation};
use crate::domain::{GroupVersionKind, POLICY_GROUP, PolicyKind};
use crate::engine::{Owner, Policy, PolicySet, TransformationScope};
use crate::expression::{Scope, Variable};
use crate::json::{Pointer, Value};

/// The `apiVersion` of all our documents.
pub const API_VERSION: &str = "reviser.io/v1alpha1";

/// The policy that serves the seed's Rollout where none is given.
pub const BUILT_IN: &str = include_str!("../../manifests/examples/rollout-fort.yaml");

/// The `kind` of a document of the group `reviser.io`, in any version. Transformations may lack an `apiVersion`.
pub fn own_kind<'d>(document: &'d Value<'_>) -> Option<&'d str> {
    let kind = document.get("kind").and_then(Value::as_str)?;
    let is_own = match document.get("apiVersion").and_then(Value::as_str) {
        Some(version) => version.split('/').next() == Some(POLICY_GROUP),
        None => PolicyKind::by_name(kind).is_some_and(PolicyKind::is_transformation),
    };
    is_own.then_some(kind)
}

/// Compiles all documents, or says everything that is wrong with them, in their order.
pub fn compile(documents: &[Value<'static>]) -> Result<PolicySet, Vec<Finding>> {
    examine(documents).result
}

/// What came of [`examine`].
#[derive(Debug)]
pub struct Examined {
    /// What may be in force, or everything that is wrong, by document.
    pub result: Result<PolicySet, Vec<Finding>>,
    /// The document of each policy, in the order of the policies.
    pub origins: Vec<usize>,
    /// What is strange all the same, by document; of the documents in which nothing is wrong.
    pub warnings: Vec<Finding>,
}

/// Compiles all documents, and looks for what is strange about those with which nothing is wrong.
pub fn examine(documents: &[Value<'static>]) -> Examined {
    // Once each, however often it is defined.
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
    all.read.sort_by(|a, b| in_order(&a.1.policy, &b.1.policy));
    let mut warnings = lint::lint(&all.material());
    for warning in &mut warnings {
        readings::explain(&documents[warning.document], [warning]);
    }
    let Compiler { mut set, findings, read, .. } = all;
    let origins = read.iter().map(|(document, _)| *document).collect();
    if !findings.is_empty() {
        return Examined { result: Err(findings), origins, warnings };
    }
    set.policies = read.into_iter().map(|(_, read)| read.policy).collect();
    Examined { result: Ok(set), origins, warnings }
}

/// Which policy applies first.
pub(super) fn in_order(a: &Policy, b: &Policy) -> Ordering {
    let key = |policy: &Policy| (matches!(policy.owner, Owner::Namespace { .. }), policy.priority);
    key(a).cmp(&key(b)).then_with(|| a.owner.cmp(&b.owner))
}

/// The names under `spec.allocations`, of whatever sense the document makes otherwise.
fn allocation_names(document: &Value<'static>) -> Vec<String> {
    let list =
        document.at(&Pointer::of(["spec", "allocations"])).and_then(Value::as_array).unwrap_or_default();
    list.iter().filter_map(|item| item.get("name")?.as_str().map(str::to_owned)).collect()
}

/// What has been read so far, of one document or of all.
#[derive(Default)]
pub(super) struct Compiler {
    /// All but the policies.
    pub(super) set: PolicySet,
    /// The policies, each with its document and what else was read in it.
    pub(super) read: Vec<(usize, revision::Read)>,
    findings: Vec<Finding>,
    /// What expressions may use.
    scope: Scope,
    /// The documents that there were, by kind, namespace and name.
    pub(super) seen: BTreeSet<(PolicyKind, String, String)>,
    /// Which document defines an allocation, and how its message calls it.
    pub(super) defined: BTreeMap<String, String>,
    pub(super) used: Vec<(usize, String, Pointer)>,
    /// The kinds that are interpreted: in which document, and by what name.
    pub(super) targets: BTreeMap<GroupVersionKind, (usize, String)>,
}

impl Compiler {
    /// One that has read nothing.
    pub(super) fn new(scope: Scope) -> Self {
        Self { scope, ..Self::default() }
    }

    /// Reads a document, and notes what is wrong with it: by itself, and beside those that have been read before.
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
        // An unusable name is an error already. The rest is read all the same, to find all errors at once.
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
        // A stored object has a status, which is ignored.
        let _ = fields.optional("status");
        fields.end(notes);
        read
    }

    /// Notes a document that is there twice.
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
        let read = revision::policy(owner, &self.scope, &mut spec, notes);
        spec.end(notes);
        for (name, allocation, place) in &read.allocations {
            if let Some(first) = self.defined.get(name) {
                notes.note(place, already_defined(name, first));
                continue;
            }
            self.defined.insert(name.clone(), read.policy.owner.to_string());
            self.set.allocations.extend(allocation.clone().map(|allocation| (name.clone(), allocation)));
        }
        self.used.extend(read.used.iter().map(|(name, place)| (document, name.clone(), place.clone())));
        self.read.push((document, read));
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

    /// What there is to look at once all has been read.
    fn material(&self) -> Material<'_> {
        let faulty: BTreeSet<usize> = self.findings.iter().map(|finding| finding.document).collect();
        let reads = self.read.iter().flat_map(|(_, read)| &read.reads);
        let asked = reads.filter_map(|variable| match variable {
            Variable::Allocation(name) => Some(name.as_str()),
            _ => None,
        });
        let asked = asked.chain(self.used.iter().map(|(_, name, _)| name.as_str())).collect();
        let subjects = self.read.iter().filter(|(document, _)| !faulty.contains(document));
        let interpreted = self.targets.iter().map(|(gvk, (document, _))| (*document, gvk));
        Material {
            subjects: subjects
                .map(|(document, read)| Subject {
                    document: *document,
                    policy: &read.policy,
                    reads: &read.reads,
                    rule_reads: &read.rule_reads,
                    allocations: &read.allocations,
                })
                .collect(),
            set: &self.set,
            interpreted: interpreted.filter(|(document, _)| !faulty.contains(document)).collect(),
            asked,
        }
    }

    /// Allocations may be defined by another policy, so this waits until all have been read.
    fn check_used(&mut self) {
        for (document, name, field) in self.used.iter().cloned() {
            if self.defined.contains_key(&name) {
                continue;
            }
            let problem = undefined(&name, self.defined.keys().map(String::as_str));
            self.findings.push(Finding { document, field, problem });
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

/// Namespace (empty for a cluster-scoped kind) and name.
fn metadata(node: Node<'_>, kind: PolicyKind, notes: &mut Notes) -> Option<(String, String)> {
    let mut fields = Fields::of(node, notes)?;
    let name = fields.required("name", notes).and_then(|node| node.name(notes));
    let namespace = match kind {
        PolicyKind::RevisionPolicy => fields.required("namespace", notes).and_then(|node| node.name(notes)),
        // Files have no namespace that they are applied to, and whoever leaves it out means no other one.
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
    // The rest of an object's metadata is the API server's business.
    Some((namespace?.to_owned(), name?.to_owned()))
}
