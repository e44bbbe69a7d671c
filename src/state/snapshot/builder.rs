//! Builds a snapshot from documents.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::path::{Path, PathBuf};

use super::{Node, Notes, Snapshot, WorkloadKey, binding, cluster, merge_by_cluster};
use crate::documents::Diagnostic;
use crate::domain::{ClusterKind, ClusterName, GroupVersionKind};
use crate::json::{Pointer, Text, Value};
use crate::work::Work;
use crate::yaml::Document;

/// The kinds that are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Kind {
    ResourceBinding,
    ClusterResourceBinding,
    Work,
    Cluster,
    Target,
    ClusterTarget,
}

/// Kind, group and version, and whether the kind is namespaced.
const KINDS: [(Kind, &str, &str, &str, bool); 6] = [
    (Kind::ResourceBinding, "ResourceBinding", "work.karmada.io", "v1alpha2", true),
    (Kind::ClusterResourceBinding, "ClusterResourceBinding", "work.karmada.io", "v1alpha2", false),
    (Kind::Work, "Work", "work.karmada.io", "v1alpha1", true),
    (Kind::Cluster, "Cluster", "cluster.karmada.io", "v1alpha1", false),
    (Kind::Target, "Target", "multicluster.admiralty.io", "v1alpha1", true),
    (Kind::ClusterTarget, "ClusterTarget", "multicluster.admiralty.io", "v1alpha1", false),
];

/// Replaces a missing name. It is not a valid name of an object.
pub(super) const UNKNOWN: &str = "?";

/// Builds a [`Snapshot`]: [`add`](Self::add) the documents of each file, then [`finish`](Self::finish).
#[derive(Debug, Default)]
pub struct SnapshotBuilder {
    snapshot: Snapshot,
    errors: Vec<Diagnostic>,
    files: Vec<PathBuf>,
    /// The location of each object, by kind, namespace and name.
    seen: HashMap<(Kind, String, String), Location>,
}

#[derive(Clone, Copy, Debug)]
struct Location {
    /// The index in `files`.
    file: usize,
    document: usize,
    line: usize,
}

/// An object to be read, with the `apiVersion` and `kind` that its typed list implies.
type Pending<'d> = (Node<'d>, Option<(&'d str, &'d str)>);

impl SnapshotBuilder {
    /// Adds the documents of the file at `path`. A file without documents is an error, because it may not be
    /// written yet.
    pub fn add(&mut self, path: &Path, documents: &[Document]) {
        if documents.is_empty() {
            self.error(Diagnostic::of(
                path,
                "there is no document in it; to say that there is nothing, write a List without items",
            ));
        }
        self.files.push(path.to_owned());
        for document in documents {
            let mut notes = Notes::default();
            // Not recursive, because lists can be nested as deep as documents.
            let mut pending: Vec<Pending<'_>> = vec![(Node::root(&document.value), None)];
            while let Some((node, inherited)) = pending.pop() {
                let Some((api_version, kind)) = type_meta(&node, inherited, &mut notes) else { continue };
                if let Some(inherited) = item_type(api_version, kind, node.value) {
                    let items = node.list("items", &mut notes).into_iter().rev();
                    pending.extend(items.map(|item| (item, inherited)));
                } else {
                    self.add_object(document, &node, api_version, kind, &mut notes);
                }
            }
            self.errors.extend(
                notes.into_iter().map(|(field, problem)| Diagnostic::at(path, document, &field, &problem)),
            );
        }
    }

    /// Adds an error about a file as a whole.
    pub fn error(&mut self, error: Diagnostic) {
        self.errors.push(error);
    }

    /// The snapshot, or all errors, one per line.
    pub fn finish(mut self) -> Result<Snapshot, Vec<String>> {
        if !self.errors.is_empty() {
            return Err(Diagnostic::texts(self.errors));
        }
        for deliveries in self.snapshot.works.values_mut() {
            *deliveries = merge_by_cluster(std::mem::take(deliveries));
        }
        Ok(self.snapshot)
    }

    fn add_object(
        &mut self,
        document: &Document,
        object: &Node<'_>,
        api_version: &str,
        kind: &str,
        notes: &mut Notes,
    ) {
        let gvk = GroupVersionKind::of(api_version, kind);
        let known = KINDS.iter().find(|(_, name, group, ..)| *name == gvk.kind && *group == gvk.group);
        let Some(&(kind, _, group, version, namespaced)) = known else {
            self.count_other(object, &gvk, notes);
            return;
        };
        if gvk.version != version {
            let problem = format!("must be {group}/{version}, is {api_version}");
            notes.note(&object.field.join("apiVersion"), problem);
            return;
        }
        // Read an object without a name too, to report its other errors. The snapshot is not used then.
        let unknown = (if namespaced { UNKNOWN } else { "" }, UNKNOWN);
        let (namespace, name) = self.identify(document, kind, namespaced, object, notes).unwrap_or(unknown);
        self.read_object(kind, namespace, name, object, notes);
    }

    /// Counts an object of a kind that is not read.
    fn count_other(&mut self, object: &Node<'_>, gvk: &GroupVersionKind, notes: &mut Notes) {
        let GroupVersionKind { group, kind, .. } = gvk;
        // In a truncated file the kind may be incomplete (`Li`), and the metadata, which follows it, is
        // missing.
        let is_ours = KINDS.iter().any(|(_, _, ours, ..)| group == ours) || has_items(object.value);
        if is_ours && object.get("metadata").is_none() {
            let problem =
                format!("is not known: {kind:?}; there is no metadata, so this may be half written");
            notes.note(&object.field.join("kind"), problem);
            return;
        }
        let dot = if group.is_empty() { "" } else { "." };
        *self.snapshot.counts.others.entry(format!("{kind}{dot}{group}")).or_default() += 1;
    }

    /// The namespace and name of an object. A duplicate is an error.
    fn identify<'d>(
        &mut self,
        document: &Document,
        kind: Kind,
        namespaced: bool,
        object: &Node<'d>,
        notes: &mut Notes,
    ) -> Option<(&'d str, &'d str)> {
        let metadata = object.required_map("metadata", notes)?;
        let name = metadata.required_name("name", notes);
        let namespace = if namespaced { metadata.required_name("namespace", notes) } else { Some("") };
        let (namespace, name) = (namespace?, name?);
        let line = document.lines.of(&metadata.field.join("name")).line;
        let here = Location { file: self.files.len() - 1, document: document.index, line };
        match self.seen.entry((kind, namespace.into(), name.into())) {
            Entry::Vacant(entry) => {
                entry.insert(here);
            }
            Entry::Occupied(first) => {
                let Location { file, document, line } = *first.get();
                let slash = if namespace.is_empty() { "" } else { "/" };
                let problem = format!(
                    "{kind:?} {namespace}{slash}{name} is already there: {}: document {}, line {line}",
                    self.files[file].display(),
                    document + 1
                );
                notes.note(&metadata.field.join("name"), problem);
                return None;
            }
        }
        Some((namespace, name))
    }

    fn read_object(&mut self, kind: Kind, namespace: &str, name: &str, object: &Node<'_>, notes: &mut Notes) {
        let counts = &mut self.snapshot.counts;
        match kind {
            Kind::ResourceBinding | Kind::ClusterResourceBinding => {
                counts.bindings += 1;
                if let Some((workload, binding)) = binding::read(object, namespace, name, notes) {
                    self.snapshot.bindings.entry(WorkloadKey::of(&workload)).or_default().push(binding);
                }
            }
            Kind::Work => self.read_work(namespace, object, notes),
            Kind::Cluster => {
                counts.clusters += 1;
                self.read_cluster(ClusterKind::Cluster, namespace, name, object, notes);
            }
            Kind::ClusterTarget => {
                counts.targets += 1;
                self.read_cluster(ClusterKind::ClusterTarget, namespace, name, object, notes);
            }
            Kind::Target => {
                counts.targets += 1;
                self.read_cluster(ClusterKind::Target, namespace, name, object, notes);
            }
        }
    }

    fn read_cluster(
        &mut self,
        kind: ClusterKind,
        namespace: &str,
        name: &str,
        object: &Node<'_>,
        notes: &mut Notes,
    ) {
        let name = ClusterName::new(name);
        if let Some(cluster) = name.and_then(|name| cluster::read(kind, name, object, notes)) {
            self.snapshot.clusters.insert(kind, namespace, cluster);
        }
    }

    /// Reads a Work. Works outside of the namespaces of clusters are skipped.
    fn read_work(&mut self, namespace: &str, object: &Node<'_>, notes: &mut Notes) {
        let before = notes.len();
        if let Some(spec) = object.get("spec").filter(|spec| spec.is_map(notes))
            && let Some(workload) = spec.get("workload").filter(|workload| workload.is_map(notes))
        {
            for manifest in workload.list("manifests", notes) {
                manifest.is_map(notes);
            }
        }
        let deletion = object.value.at(&Pointer::of(["metadata", "deletionTimestamp"]));
        if let Some(time) = deletion.filter(|time| !time.is_null())
            && time.as_str().is_none_or(|text| text.parse::<jiff::Timestamp>().is_err())
        {
            let problem = "must be a time such as 2026-11-30T10:00:00Z, from which handover.timeout counts";
            notes.note(&object.field.join("metadata").join("deletionTimestamp"), problem);
        }
        let Some(cluster) = Work::cluster(namespace) else { return };
        if notes.len() > before {
            return;
        }
        let text = object.value.to_string();
        let Ok(text) = Text::parse(text.as_bytes()) else {
            return notes.note(&object.field, "can't be read as a Work");
        };
        let work = match Work::read(text.root()) {
            Ok(work) => work,
            Err(failure) => return notes.note(&object.field, failure.message()),
        };
        self.snapshot.counts.works += 1;
        for workload in work.manifests.iter().filter_map(|manifest| manifest.workload.as_ref()) {
            let Some(delivery) = work.delivery(&cluster, workload) else { continue };
            self.snapshot.works.entry(WorkloadKey::of(workload)).or_default().push(delivery);
        }
    }
}

/// The `apiVersion` and `kind` of an object, or those that its typed list implies.
fn type_meta<'d>(
    object: &Node<'d>,
    inherited: Option<(&'d str, &'d str)>,
    notes: &mut Notes,
) -> Option<(&'d str, &'d str)> {
    if !object.is_map(notes) {
        return None;
    }
    let inherit = |name: &str, inherited: Option<&'d str>, notes: &mut Notes| match inherited {
        Some(inherited) if object.get(name).is_none() => Some(inherited),
        _ => object.required_name(name, notes),
    };
    let api_version = inherit("apiVersion", inherited.map(|(api_version, _)| api_version), notes);
    let kind = inherit("kind", inherited.map(|(_, kind)| kind), notes);
    Some((api_version?, kind?))
}

/// The `apiVersion` and `kind` that a list implies for its items: none for a `List`, `Cluster` for a
/// `ClusterList`. `None` if the object is not a list.
#[expect(clippy::option_option, reason = "a list may not give its items a type")]
fn item_type<'d>(
    api_version: &'d str,
    kind: &'d str,
    value: &Value<'_>,
) -> Option<Option<(&'d str, &'d str)>> {
    let item = kind.strip_suffix("List").filter(|item| item.is_empty() || has_items(value))?;
    Some((!item.is_empty()).then_some((api_version, item)))
}

/// Whether `items` is a list, or null, which is how Go encodes an empty list.
fn has_items(value: &Value<'_>) -> bool {
    value.get("items").is_some_and(|items| items.is_null() || items.as_array().is_some())
}
