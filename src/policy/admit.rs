//! Documents of which each stands for itself: custom resources.
//!
//! A faulty one puts only itself out of use, and so does one that clashes with another that is senior. What needs others is settled in an
//! order in which nothing that has been decided is ever taken back, so that there is one outcome, and little work: first what is wrong
//! with each by itself; then, from the senior to the junior, who may have a name; last, step by step, who relies on a name that nobody
//! in force defines. Whoever goes out of use in that last step keeps its names: else a junior could take them, bring back what the senior
//! relies on, and so clash again.

use std::collections::{BTreeMap, BTreeSet};

use super::compile::{Compiler, already_defined, already_interpreted, in_order, there_twice, undefined};
use super::decode::Notes;
use super::finding::Finding;
use super::lint::{self, Material, Subject};
use super::{readings, salvage};
use crate::domain::{GroupVersionKind, PolicyKind};
use crate::engine::PolicySet;
use crate::expression::{Scope, Variable};
use crate::json::{Pointer, Value};

/// What came of [`admit`].
#[derive(Debug)]
pub struct Admitted {
    /// What is in force, with [what is not](PolicySet::invalid).
    pub policies: PolicySet,
    /// What there is to say about each document, in their order.
    pub verdicts: Vec<Verdict>,
}

/// What there is to say about a document.
#[derive(Clone, Debug, Default)]
pub struct Verdict {
    /// What is wrong with it, which only it can mend, or whoever has its names.
    pub findings: Vec<Finding>,
    /// What it relies on, and nobody in force defines. Another document can mend that too.
    pub lacking: Vec<Finding>,
    /// What is strange about it, if it is in force.
    pub warnings: Vec<Finding>,
}

impl Verdict {
    /// Whether it is in force.
    pub fn is_in_force(&self) -> bool {
        self.findings.is_empty() && self.lacking.is_empty()
    }

    /// All that keeps it out of use.
    pub fn faults(&self) -> impl Iterator<Item = &Finding> {
        self.findings.iter().chain(&self.lacking)
    }
}

/// Who comes first of documents that clash: the lower.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Seniority {
    /// One that the API server has not stored yet comes last.
    is_new: bool,
    /// As the API server writes it: such texts are in the order of the times.
    created: String,
    kind: String,
    namespace: String,
    name: String,
}

impl Seniority {
    /// That of a document.
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

    /// The document's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether it is that of a document of the same kind, namespace and name.
    pub fn is_same_document(&self, other: &Self) -> bool {
        (&self.kind, &self.namespace, &self.name) == (&other.kind, &other.namespace, &other.name)
    }
}

/// Tells which documents are in force. They are in the order of their [`Seniority`]: of two that clash the later one is faulty.
pub fn admit(documents: &[Value<'static>]) -> Admitted {
    let mut verdicts = vec![Verdict::default(); documents.len()];
    let mut read = Vec::with_capacity(documents.len());
    for (document, value) in documents.iter().enumerate() {
        let mut compiler = Compiler::new(Scope::new().with_any_allocation());
        let mut notes = Notes::default();
        compiler.document(document, value, &mut notes);
        let mut findings = Finding::all(document, notes);
        readings::explain(value, &mut findings);
        verdicts[document].findings = findings;
        read.push(compiler);
    }
    let names = Names::claimed(&read, &mut verdicts);
    lack(&read, &names, &mut verdicts);
    let mut policies = in_force(read, &mut verdicts);
    let invalid = documents.iter().zip(&verdicts).filter_map(|(document, verdict)| {
        verdict.faults().next().and_then(|first| salvage::invalid(document, first))
    });
    policies.invalid = invalid.collect();
    Admitted { policies, verdicts }
}

/// Who has which name. A document that has some is not wrong by itself, and clashes with nobody.
#[derive(Default)]
struct Names {
    seen: BTreeSet<(PolicyKind, String, String)>,
    /// The document that defines an allocation, and how messages call it.
    allocations: BTreeMap<String, (usize, String)>,
    /// The name of the interpretation of a kind.
    targets: BTreeMap<GroupVersionKind, String>,
}

impl Names {
    /// Gives names to the documents, in their order, and notes who wants one that is given away already.
    fn claimed(read: &[Compiler], verdicts: &mut [Verdict]) -> Self {
        let mut names = Self::default();
        for (document, (one, verdict)) in read.iter().zip(verdicts).enumerate() {
            let clashes = names.clashes(document, one);
            if clashes.is_empty() && verdict.findings.is_empty() {
                names.claim(document, one);
            }
            verdict.findings.extend(clashes);
        }
        names
    }

    fn clashes(&self, document: usize, one: &Compiler) -> Vec<Finding> {
        let mut notes = Notes::default();
        if let Some((kind, _, name)) = one.seen.iter().find(|seen| self.seen.contains(*seen)) {
            notes.note(&Pointer::of(["metadata", "name"]), there_twice(*kind, name));
        }
        for (name, _, place) in one.read.iter().flat_map(|(_, read)| &read.allocations) {
            if let Some((_, first)) = self.allocations.get(name) {
                notes.note(place, already_defined(name, first));
            }
        }
        for gvk in one.targets.keys() {
            if let Some(first) = self.targets.get(gvk) {
                notes.note(&Pointer::of(["spec", "target"]), already_interpreted(first));
            }
        }
        Finding::all(document, notes)
    }

    fn claim(&mut self, document: usize, one: &Compiler) {
        self.seen.extend(one.seen.iter().cloned());
        let defined = one.defined.iter();
        self.allocations.extend(defined.map(|(name, owner)| (name.clone(), (document, owner.clone()))));
        let targets = one.targets.iter();
        self.targets.extend(targets.map(|(gvk, (_, name))| (gvk.clone(), name.clone())));
    }
}

/// The allocations that a document names, each with the place.
fn relied_on(one: &Compiler) -> impl Iterator<Item = (&str, &Pointer)> {
    let by_rules = one.used.iter().map(|(_, name, place)| (name.as_str(), place));
    let by_expressions = one.read.iter().flat_map(|(_, read)| &read.asked);
    by_rules.chain(by_expressions.map(|(name, place)| (name.as_str(), place)))
}

/// Notes what documents rely on that nobody in force defines, which puts them out of use too, and so those that rely on them.
///
/// What is noted with a document is what was lacking when it went out of use, without what was lost by that.
fn lack(read: &[Compiler], names: &Names, verdicts: &mut [Verdict]) {
    let mut users: BTreeMap<&str, BTreeSet<usize>> = BTreeMap::new();
    // Those that are faulty define something too, and whoever relies on it should hear of them.
    let mut definers: BTreeMap<&str, &str> = BTreeMap::new();
    for (document, one) in read.iter().enumerate() {
        for (name, _) in relied_on(one) {
            users.entry(name).or_default().insert(document);
        }
        for (name, owner) in &one.defined {
            definers.entry(name).or_insert(owner);
        }
    }
    let mut is_in_force: Vec<bool> = verdicts.iter().map(Verdict::is_in_force).collect();
    let mut looked_at: BTreeSet<usize> = (0..read.len()).collect();
    while !looked_at.is_empty() {
        let has =
            |name: &str| names.allocations.get(name).is_some_and(|(document, _)| is_in_force[*document]);
        let mut lost = Vec::new();
        for document in looked_at {
            let one = &read[document];
            let mut notes = Notes::default();
            for (name, place) in
                relied_on(one).filter(|(name, _)| !one.defined.contains_key(*name) && !has(name))
            {
                notes.note(
                    place,
                    match definers.get(name) {
                        Some(owner) => format!(
                            "the allocation {name:?} is defined by {owner}, which is faulty; mend that one"
                        ),
                        None => undefined(name, names.allocations.keys().map(String::as_str)),
                    },
                );
            }
            verdicts[document].lacking = Finding::all(document, notes);
            if is_in_force[document] && !verdicts[document].lacking.is_empty() {
                lost.push(document);
            }
        }
        looked_at = BTreeSet::new();
        for document in lost {
            is_in_force[document] = false;
            let gone = read[document].defined.keys();
            looked_at.extend(gone.filter_map(|name| users.get(name.as_str())).flatten());
        }
        looked_at.retain(|document| is_in_force[*document]);
    }
}

/// Puts together what is in force, and notes what is strange about it.
fn in_force(read: Vec<Compiler>, verdicts: &mut [Verdict]) -> PolicySet {
    // What is out of use counts here: to take away what it will use again once it is mended is no good advice.
    let reads = read.iter().flat_map(|one| &one.read).flat_map(|(_, read)| &read.reads);
    let asked: BTreeSet<String> = reads
        .filter_map(|variable| match variable {
            Variable::Allocation(name) => Some(name.clone()),
            _ => None,
        })
        .chain(read.iter().flat_map(|one| &one.used).map(|(_, name, _)| name.clone()))
        .collect();
    let mut set = PolicySet::default();
    let (mut policies, mut targets) = (Vec::new(), Vec::new());
    for (one, _) in read.into_iter().zip(&*verdicts).filter(|(_, verdict)| verdict.is_in_force()) {
        set.allocations.extend(one.set.allocations);
        set.interpretations.extend(one.set.interpretations);
        set.transformations.extend(one.set.transformations);
        policies.extend(one.read);
        targets.extend(one.targets.into_iter().map(|(gvk, (document, _))| (document, gvk)));
    }
    policies.sort_by(|a, b| in_order(&a.1.policy, &b.1.policy));
    let warnings = lint::lint(&Material {
        subjects: policies
            .iter()
            .map(|(document, read)| Subject {
                document: *document,
                policy: &read.policy,
                reads: &read.reads,
                rule_reads: &read.rule_reads,
                allocations: &read.allocations,
            })
            .collect(),
        set: &set,
        interpreted: targets.iter().map(|(document, gvk)| (*document, gvk)).collect(),
        asked: asked.iter().map(String::as_str).collect(),
    });
    for warning in warnings {
        verdicts[warning.document].warnings.push(warning);
    }
    set.policies = policies.into_iter().map(|(_, read)| read.policy).collect();
    set
}
