//! Validates custom resources. An invalid resource does not affect the others.
//!
//! A document is inactive if it has errors, if it conflicts with an older document, or if it uses an
//! allocation that no active document defines. The steps below never revise a decision, so the outcome is
//! unique:
//!
//! 1. Find the errors of each document by itself.
//! 2. From the oldest to the youngest, give each document its names.
//! 3. Repeatedly deactivate documents that use an undefined allocation. Such a document keeps its names: otherwise a
//!    younger document could take them, define what the older one lacked, and conflict with it again.

use std::collections::{BTreeMap, BTreeSet};

use super::compile::{Compiler, already_defined, already_interpreted, in_order, there_twice, undefined};
use super::decode::Notes;
use super::finding::Finding;
use super::lint::{self, Material};
use super::{invalid, readings};
use crate::domain::{GroupVersionKind, PolicyKind};
use crate::engine::PolicySet;
use crate::expression::Scope;
use crate::json::{Pointer, Value};

/// The outcome of [`admit`].
#[derive(Debug)]
pub struct Admitted {
    /// The active policies, with the [invalid documents](PolicySet::invalid).
    pub policies: PolicySet,
    /// A report on each document, in their order.
    pub reports: Vec<DocumentReport>,
}

/// The errors and warnings of a document.
#[derive(Clone, Debug, Default)]
pub struct DocumentReport {
    /// Its own errors, and its conflicts with older documents.
    pub findings: Vec<Finding>,
    /// The allocations that it uses and that no active document defines. A change of another document can fix
    /// this.
    pub lacking: Vec<Finding>,
    /// Warnings. Empty if the document is inactive.
    pub warnings: Vec<Finding>,
}

impl DocumentReport {
    /// Whether the document is active.
    pub fn is_active(&self) -> bool {
        self.findings.is_empty() && self.lacking.is_empty()
    }

    /// All errors that keep the document inactive.
    pub fn errors(&self) -> impl Iterator<Item = &Finding> {
        self.findings.iter().chain(&self.lacking)
    }
}

/// The order of documents that conflict. The first keeps its names.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Seniority {
    /// A document that is not stored yet comes last.
    is_new: bool,
    /// The creation time as RFC 3339 in UTC, which sorts by time.
    created: String,
    kind: String,
    namespace: String,
    name: String,
}

impl Seniority {
    /// Reads the seniority of a document.
    pub fn of(document: &Value<'_>) -> Self {
        let text = |path: &[&str]| {
            let value = path.iter().try_fold(document, |value, name| value.get(name));
            value.and_then(Value::as_str).unwrap_or_default().to_owned()
        };
        let created = text(&["metadata", "creationTimestamp"]);
        Self {
            is_new: created.is_empty(),
            created,
            kind: text(&["kind"]),
            namespace: text(&["metadata", "namespace"]),
            name: text(&["metadata", "name"]),
        }
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether both documents have the same kind, namespace and name.
    pub fn is_same_document(&self, other: &Self) -> bool {
        (&self.kind, &self.namespace, &self.name) == (&other.kind, &other.namespace, &other.name)
    }
}

/// Decides which documents are active. The documents are in the order of their [`Seniority`].
pub fn admit(documents: &[Value<'static>]) -> Admitted {
    let mut reports = vec![DocumentReport::default(); documents.len()];
    let mut compiled = Vec::with_capacity(documents.len());
    for (document, value) in documents.iter().enumerate() {
        let mut compiler = Compiler::new(Scope::new().with_any_allocation());
        let mut notes = Notes::default();
        compiler.document(document, value, &mut notes);
        let mut findings = Finding::all(document, notes);
        readings::explain(value, &mut findings);
        reports[document].findings = findings;
        compiled.push(compiler);
    }
    let names = Names::claim_all(&compiled, &mut reports);
    find_lacking(&compiled, &names, &mut reports);
    let mut policies = active(compiled, &mut reports);
    let invalid = documents.iter().zip(&reports).filter_map(|(document, report)| {
        report.errors().next().and_then(|first| invalid::invalid(document, first))
    });
    policies.invalid = invalid.collect();
    Admitted { policies, reports }
}

/// The names that documents have. A document with errors of its own has no names.
#[derive(Default)]
struct Names {
    seen: BTreeSet<(PolicyKind, String, String)>,
    /// The document that defines an allocation, and the policy that messages name.
    allocations: BTreeMap<String, (usize, String)>,
    /// The name of the interpretation of a kind.
    targets: BTreeMap<GroupVersionKind, String>,
}

impl Names {
    /// Assigns names to the documents in order, and reports conflicts.
    fn claim_all(compiled: &[Compiler], reports: &mut [DocumentReport]) -> Self {
        let mut names = Self::default();
        for (document, (compiler, report)) in compiled.iter().zip(reports).enumerate() {
            let clashes = names.clashes(compiler);
            if clashes.is_empty() && report.findings.is_empty() {
                names.claim(document, compiler);
            }
            report.findings.extend(Finding::all(document, clashes));
        }
        names
    }

    fn clashes(&self, compiler: &Compiler) -> Notes {
        let mut notes = Notes::default();
        if let Some((kind, _, name)) = compiler.seen.iter().find(|seen| self.seen.contains(*seen)) {
            notes.note(&Pointer::of(["metadata", "name"]), there_twice(*kind, name));
        }
        for (name, _, place) in compiler.policies.iter().flat_map(|read| &read.allocations) {
            if let Some((_, first)) = self.allocations.get(name) {
                notes.note(place, already_defined(name, first));
            }
        }
        for gvk in compiler.targets.keys() {
            if let Some(first) = self.targets.get(gvk) {
                notes.note(&Pointer::of(["spec", "target"]), already_interpreted(first));
            }
        }
        notes
    }

    fn claim(&mut self, document: usize, compiler: &Compiler) {
        self.seen.extend(compiler.seen.iter().cloned());
        let defined = compiler.defined.iter();
        self.allocations.extend(defined.map(|(name, owner)| (name.clone(), (document, owner.clone()))));
        let targets = compiler.targets.iter();
        self.targets.extend(targets.map(|(gvk, (_, name))| (gvk.clone(), name.clone())));
    }
}

/// The allocations that a document uses, each with the place.
fn uses(compiler: &Compiler) -> impl Iterator<Item = (&str, &Pointer)> {
    let uses = compiler.policies.iter().flat_map(|read| read.used.iter().chain(&read.asked));
    uses.map(|(name, place)| (name.as_str(), place))
}

/// Reports the allocations that documents use and no active document defines. These documents become
/// inactive, and in turn those that use their allocations.
///
/// A document is reported only with the allocations that were undefined when it became inactive.
fn find_lacking(compiled: &[Compiler], names: &Names, reports: &mut [DocumentReport]) {
    let mut users: BTreeMap<&str, BTreeSet<usize>> = BTreeMap::new();
    // Invalid documents are included, so that messages can name the document to fix.
    let mut definers: BTreeMap<&str, &str> = BTreeMap::new();
    for (document, compiler) in compiled.iter().enumerate() {
        for (name, _) in uses(compiler) {
            users.entry(name).or_default().insert(document);
        }
        for (name, owner) in &compiler.defined {
            definers.entry(name).or_insert(owner);
        }
    }
    let mut is_active: Vec<bool> = reports.iter().map(DocumentReport::is_active).collect();
    let mut pending: BTreeSet<usize> = (0..compiled.len()).collect();
    while !pending.is_empty() {
        let is_defined =
            |name: &str| names.allocations.get(name).is_some_and(|(document, _)| is_active[*document]);
        let mut lost = Vec::new();
        for document in pending {
            let compiler = &compiled[document];
            let lacks = |name: &str| !compiler.defined.contains_key(name) && !is_defined(name);
            let mut notes = Notes::default();
            for (name, place) in uses(compiler).filter(|(name, _)| lacks(name)) {
                let problem = match definers.get(name) {
                    Some(owner) => {
                        format!(
                            "the allocation {name:?} is defined by {owner}, which is invalid; fix that one"
                        )
                    }
                    None => undefined(name, names.allocations.keys().map(String::as_str)),
                };
                notes.note(place, problem);
            }
            if is_active[document] && !notes.is_empty() {
                lost.push(document);
            }
            reports[document].lacking = Finding::all(document, notes);
        }
        pending = BTreeSet::new();
        for document in lost {
            is_active[document] = false;
            let gone = compiled[document].defined.keys();
            pending.extend(gone.filter_map(|name| users.get(name.as_str())).flatten());
        }
        pending.retain(|document| is_active[*document]);
    }
}

/// The active policies. Their warnings are added to the reports.
fn active(compiled: Vec<Compiler>, reports: &mut [DocumentReport]) -> PolicySet {
    // Inactive documents are included, because a warning to remove what they use would be wrong once they are
    // fixed.
    let used: BTreeSet<String> =
        compiled.iter().flat_map(Compiler::used_allocations).map(str::to_owned).collect();
    let mut set = PolicySet::default();
    let (mut policies, mut targets) = (Vec::new(), Vec::new());
    for (compiler, _) in compiled.into_iter().zip(&*reports).filter(|(_, report)| report.is_active()) {
        set.allocations.extend(compiler.set.allocations);
        set.interpretations.extend(compiler.set.interpretations);
        set.transformations.extend(compiler.set.transformations);
        policies.extend(compiler.policies);
        targets.extend(compiler.targets);
    }
    policies.sort_by(in_order);
    let warnings = lint::lint(&Material {
        policies: policies.iter().collect(),
        set: &set,
        interpreted: targets.iter().map(|(gvk, (document, _))| (*document, gvk)).collect(),
        used: used.iter().map(String::as_str).collect(),
    });
    for warning in warnings {
        reports[warning.document].warnings.push(warning);
    }
    set.policies = policies.into_iter().map(|read| read.policy).collect();
    set
}
