//! Documents to a snapshot.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::path::{Path, PathBuf};

use super::{Identity, Snapshot, binding, cluster, one_a_cluster};
use super::{Node, Notes};
use crate::documents::Fault;
use crate::domain::{ClusterKind, ClusterName, Delivery, GroupVersionKind, Hosts};
use crate::json::{Pointer, Text, Value};
use crate::work::Work;
use crate::yaml::Document;

/// What is read of a kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Kind {
    ResourceBinding,
    ClusterResourceBinding,
    Work,
    Cluster,
    Target,
    ClusterTarget,
}

/// Kind, group and version, and whether its objects are in namespaces.
const KINDS: [(Kind, &str, &str, &str, bool); 6] = [
    (Kind::ResourceBinding, "ResourceBinding", "work.karmada.io", "v1alpha2", true),
    (Kind::ClusterResourceBinding, "ClusterResourceBinding", "work.karmada.io", "v1alpha2", false),
    (Kind::Work, "Work", "work.karmada.io", "v1alpha1", true),
    (Kind::Cluster, "Cluster", "cluster.karmada.io", "v1alpha1", false),
    (Kind::Target, "Target", "multicluster.admiralty.io", "v1alpha1", true),
    (Kind::ClusterTarget, "ClusterTarget", "multicluster.admiralty.io", "v1alpha1", false),
];

/// Stands for a name that is not there; it can be none.
pub(super) const UNKNOWN: &str = "?";

/// A [`Snapshot`] in the making. Give it the documents, file by file, then [`finish`](Self::finish) it.
#[derive(Debug, Default)]
pub struct Draft {
    snapshot: Snapshot,
    faults: Vec<Fault>,
    files: Vec<PathBuf>,
    /// Where each object was seen.
    seen: HashMap<(Kind, Box<str>, Box<str>), Place>,
}

/// A place in one of the files.
#[derive(Clone, Copy, Debug)]
struct Place {
    file: usize,
    document: usize,
    line: usize,
}

/// An object that is still to be read, and the `apiVersion` and `kind` that it has from the list that it is in.
type Pending<'d> = (Node<'d>, Option<(&'d str, &'d str)>);

impl Draft {
    /// Takes the documents of the file at `path`. A file without any is a fault: more likely than not, somebody is about
    /// to write it.
    pub fn add(&mut self, path: &Path, documents: &[Document]) {
        self.begin(path, documents.is_empty());
        for document in documents {
            let mut notes = Notes::default();
            // Lists may be in lists, as deep as documents go, so they are no recursion.
            let root = Node { value: &document.value, field: Pointer::default() };
            let mut pending: Vec<Pending<'_>> = vec![(root, None)];
            while let Some((node, inherited)) = pending.pop() {
                let Some((api_version, kind)) = head(&node, inherited, &mut notes) else { continue };
                if let Some(inherited) = list_of(api_version, kind, node.value) {
                    // The first item is to come off first.
                    let items = node.list("items", &mut notes).into_iter().rev();
                    pending.extend(items.map(|item| (item, inherited)));
                } else {
                    self.take(Some(document), &node, (api_version, kind), &mut notes);
                }
            }
            self.faults.extend(
                notes.into_iter().map(|(field, problem)| Fault::at(path, document, &field, &problem)),
            );
        }
    }

    /// Begins another file.
    pub(super) fn begin(&mut self, path: &Path, is_empty: bool) {
        if is_empty {
            self.fault(Fault::of(
                path,
                "there is no document in it; to say that there is nothing, write a List without items",
            ));
        }
        self.files.push(path.to_owned());
    }

    /// Notes something that is wrong with a file as a whole.
    pub fn fault(&mut self, fault: Fault) {
        self.faults.push(fault);
    }

    /// The snapshot, or all that is wrong, a line each.
    pub fn finish(mut self) -> Result<Snapshot, Vec<String>> {
        if !self.faults.is_empty() {
            return Err(Fault::texts(self.faults));
        }
        for deliveries in self.snapshot.works.values_mut() {
            *deliveries = one_a_cluster(std::mem::take(deliveries));
            deliveries.shrink_to_fit();
        }
        for bindings in self.snapshot.bindings.values_mut() {
            bindings.shrink_to_fit();
        }
        Ok(self.snapshot)
    }

    /// Takes one object that is no list. Without its document nobody can tell where a fault is.
    pub(super) fn take(
        &mut self,
        document: Option<&Document>,
        object: &Node<'_>,
        (api_version, kind): (&str, &str),
        notes: &mut Notes,
    ) {
        let gvk = GroupVersionKind::of(api_version, kind);
        let known = KINDS.iter().find(|(_, name, group, ..)| *name == gvk.kind && *group == gvk.group);
        let Some(&(kind, _, group, version, namespaced)) = known else {
            self.pass_over(object, &gvk, notes);
            return;
        };
        if gvk.version != version {
            let problem = format!("must be {group}/{version}, is {api_version}");
            notes.note(&object.field.join("apiVersion"), problem);
            return;
        }
        // Without a name it is read on for its other faults, and kept nowhere in the end.
        let unknown = (if namespaced { UNKNOWN } else { "" }, UNKNOWN);
        let (namespace, name) = self.identify(document, kind, namespaced, object, notes).unwrap_or(unknown);
        self.keep(kind, namespace, name, object, notes);
    }

    /// Counts an object of a kind that nothing is known about.
    fn pass_over(&mut self, object: &Node<'_>, gvk: &GroupVersionKind, notes: &mut Notes) {
        let GroupVersionKind { group, kind, .. } = gvk;
        // Of a file that is half written the kind may be half there: `Li`. What comes next is the metadata.
        let is_ours = KINDS.iter().any(|(_, _, ours, ..)| group == ours) || is_list(object.value);
        if is_ours && object.get("metadata").is_none() {
            let problem =
                format!("is not known: {kind:?}; there is no metadata, so this may be half written");
            notes.note(&object.field.join("kind"), problem);
            return;
        }
        let dot = if group.is_empty() { "" } else { "." };
        *self.snapshot.counts.others.entry(format!("{kind}{dot}{group}")).or_default() += 1;
    }

    /// Namespace and name of an object that is not yet there.
    fn identify<'d>(
        &mut self,
        document: Option<&Document>,
        kind: Kind,
        namespaced: bool,
        object: &Node<'d>,
        notes: &mut Notes,
    ) -> Option<(&'d str, &'d str)> {
        let metadata = object.required_map("metadata", notes)?;
        let name = metadata.required_name("name", notes);
        let namespace = if namespaced { metadata.required_name("namespace", notes) } else { Some("") };
        let (namespace, name) = (namespace?, name?);
        let (document, line) = document.map_or((0, 0), |document| {
            (document.index, document.lines.of(&metadata.field.join("name")).line)
        });
        let here = Place { file: self.files.len() - 1, document, line };
        match self.seen.entry((kind, namespace.into(), name.into())) {
            Entry::Vacant(place) => {
                place.insert(here);
            }
            Entry::Occupied(there) => {
                let Place { file, document, line } = *there.get();
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

    fn keep(&mut self, kind: Kind, namespace: &str, name: &str, object: &Node<'_>, notes: &mut Notes) {
        let counts = &mut self.snapshot.counts;
        match kind {
            Kind::ResourceBinding | Kind::ClusterResourceBinding => {
                counts.bindings += 1;
                if let Some((workload, binding)) = binding::read(object, namespace, name, notes) {
                    self.snapshot.bindings.entry(Identity::of(&workload)).or_default().push(binding);
                }
            }
            Kind::Work => self.keep_work(namespace, object, notes),
            Kind::Cluster => {
                counts.clusters += 1;
                self.keep_cluster(ClusterKind::Cluster, namespace, name, object, notes);
            }
            Kind::ClusterTarget => {
                counts.targets += 1;
                self.keep_cluster(ClusterKind::ClusterTarget, namespace, name, object, notes);
            }
            Kind::Target => {
                counts.targets += 1;
                self.keep_cluster(ClusterKind::Target, namespace, name, object, notes);
            }
        }
    }

    fn keep_cluster(
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

    /// Keeps what a Work says about each of its manifests. Works that are for no cluster are passed over.
    fn keep_work(&mut self, namespace: &str, object: &Node<'_>, notes: &mut Notes) {
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
            self.snapshot.works.entry(Identity::of(workload)).or_default().push(delivery);
        }
    }
}

/// `apiVersion` and `kind`, which an item of a list may have from it.
pub(super) fn head<'d>(
    object: &Node<'d>,
    inherited: Option<(&'d str, &'d str)>,
    notes: &mut Notes,
) -> Option<(&'d str, &'d str)> {
    if !object.is_map(notes) {
        return None;
    }
    let inherit = |name: &str, own: Option<&'d str>, notes: &mut Notes| match own {
        Some(own) if object.get(name).is_none() => Some(own),
        _ => object.required_name(name, notes),
    };
    let api_version = inherit("apiVersion", inherited.map(|(api_version, _)| api_version), notes);
    let kind = inherit("kind", inherited.map(|(_, kind)| kind), notes);
    Some((api_version?, kind?))
}

/// What the items of a list have from it; `None` for what is no list.
#[expect(clippy::option_option, reason = "a list whose items have to tell themselves is a list all the same")]
pub(super) fn list_of<'d>(
    api_version: &'d str,
    kind: &'d str,
    value: &Value<'_>,
) -> Option<Option<(&'d str, &'d str)>> {
    let of = kind.strip_suffix("List").filter(|of| of.is_empty() || is_list(value))?;
    Some((!of.is_empty()).then_some((api_version, of)))
}

/// Whether something whose kind ends in `List` is one: it has `items` that are a list, or null, as Go writes an empty one.
fn is_list(value: &Value<'_>) -> bool {
    value.get("items").is_some_and(|items| items.is_null() || items.as_array().is_some())
}

/// Adds what another Work says that delivers the same to the same cluster: the cluster is free of it when both are gone.
pub(super) fn join(kept: &mut Delivery, other: &Delivery) -> bool {
    kept.preserves |= other.preserves;
    kept.deleting_since = kept.deleting_since.zip(other.deleting_since).map(|(a, b)| a.max(b));
    match (&mut kept.hosts, &other.hosts) {
        (Hosts::Recorded(hosts), Hosts::Recorded(others)) => {
            for other in others {
                if !hosts.contains(other) {
                    hosts.push(other.clone());
                }
            }
        }
        // Who says that it hosts something does. Who says that it hosts nothing does not speak for the other.
        (Hosts::Recorded(hosts), Hosts::Unrecorded) if hosts.is_empty() => kept.hosts = Hosts::Unrecorded,
        (Hosts::Unrecorded, Hosts::Recorded(others)) if !others.is_empty() => {
            kept.hosts = other.hosts.clone();
        }
        _ => {}
    }
    true
}
