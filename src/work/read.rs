//! Reading a Work.

use std::borrow::Cow;

use jiff::Timestamp;

use super::record::{Record, RecordError};
use super::restore::RestoreError;
use crate::domain::{
    ClusterName, Delivery, EXECUTION_NAMESPACE_PREFIX, Failure, GroupVersionKind, Hosts, REVISED_ANNOTATION,
    REVISION_ANNOTATION, Workload,
};
use crate::json::{Kind, Members, ParseError, Raw};

/// The parts of a Work that reviser reads. A member of the wrong type counts as missing: the API server
/// refuses it.
#[derive(Clone, Debug)]
pub struct Work<'a> {
    /// The whole Work.
    pub raw: Raw<'a>,
    /// `metadata.name`. The Works of one binding have the same name in every cluster.
    pub name: Option<Cow<'a, str>>,
    /// `spec.workload.manifests`.
    pub manifests: Vec<Manifest<'a>>,
    /// `spec.preserveResourcesOnDeletion`.
    pub preserves: bool,
    /// `spec.suspendDispatching`.
    pub(super) is_suspended: bool,
    /// `metadata.ownerReferences`.
    pub(super) owners: Option<Raw<'a>>,
    /// `metadata.labels`.
    pub(super) labels: Option<Raw<'a>>,
    pub(super) annotations: Members<'a>,
    deletion: Option<Cow<'a, str>>,
}

/// One object in a Work.
#[derive(Clone, Debug)]
pub struct Manifest<'a> {
    pub raw: Raw<'a>,
    /// `None` if apiVersion, kind or name is missing.
    pub workload: Option<Workload>,
    /// The annotation `reviser.io/revised`, of any type.
    pub(super) marker: Option<Raw<'a>>,
}

impl<'a> Work<'a> {
    /// Reads a Work. Fails if a name in it is repeated or it is not an object.
    pub fn read(raw: Raw<'a>) -> Result<Self, Failure> {
        Self::try_read(raw)
            .map_err(|error| Failure::unprocessable(format!("the Work can't be read: {error}; fix the Work")))
    }

    fn try_read(raw: Raw<'a>) -> Result<Self, ParseError> {
        let members = raw.members()?;
        let metadata = map(&members, "metadata")?;
        let spec = map(&members, "spec")?;
        let workload = map(&spec, "workload")?;
        let manifests = match workload.get("manifests") {
            Some(manifests) => {
                manifests.items()?.into_iter().map(Manifest::read).collect::<Result<_, _>>()?
            }
            None => Vec::new(),
        };
        Ok(Self {
            raw,
            name: string(&metadata, "name")?,
            manifests,
            preserves: spec.get("preserveResourcesOnDeletion").is_some_and(|raw| raw.text() == "true"),
            is_suspended: spec.get("suspendDispatching").is_some_and(|raw| raw.text() == "true"),
            owners: metadata.get("ownerReferences"),
            labels: metadata.get("labels"),
            annotations: map(&metadata, "annotations")?,
            deletion: string(&metadata, "deletionTimestamp")?,
        })
    }

    /// The cluster of an execution namespace; `None` for another namespace.
    pub fn cluster(namespace: &str) -> Option<ClusterName> {
        namespace.strip_prefix(EXECUTION_NAMESPACE_PREFIX).and_then(ClusterName::new)
    }

    pub fn is_being_deleted(&self) -> bool {
        self.deletion.is_some()
    }

    /// The record of the revision; empty if there is none.
    pub fn record(&self) -> Result<Record, RecordError> {
        match self.annotations.get(REVISION_ANNOTATION) {
            None => Ok(Record::default()),
            Some(raw) => {
                let text = raw.as_str().ok().flatten().ok_or(RecordError::Malformed)?;
                Record::parse(&text)
            }
        }
    }

    /// Whether it has a record, also an invalid one.
    pub fn is_recorded(&self) -> bool {
        self.record_text().is_some()
    }

    /// The annotation with the record.
    pub(super) fn record_text(&self) -> Option<Raw<'a>> {
        self.annotations.get(REVISION_ANNOTATION)
    }

    /// The bytes of all annotations but the record.
    pub(super) fn other_annotation_bytes(&self) -> usize {
        let others = self.annotations.iter().filter(|(key, _)| *key != REVISION_ANNOTATION);
        let length = |value: Raw<'_>| value.as_str().ok().flatten().map_or(0, |text| text.len());
        others.map(|(key, value)| key.len() + length(value)).sum()
    }

    /// What the Work of `cluster` records about `workload`; `None` if it does not deliver it.
    pub fn delivery(&self, cluster: &ClusterName, workload: &Workload) -> Option<Delivery> {
        let manifest = self.manifests.iter().find(|manifest| {
            manifest.workload.as_ref().is_some_and(|own| has_same_identity(own, workload))
        })?;
        let hosts = match (self.record(), manifest.id()) {
            (Ok(record), Ok(marker)) => record.hosts(workload, marker.as_deref()),
            _ => Hosts::Unrecorded,
        };
        // With an unreadable time no timeout passes.
        let deleting_since = self.deletion.as_ref().map(|time| time.parse().unwrap_or(Timestamp::MAX));
        Some(Delivery { cluster: cluster.clone(), hosts, deleting_since, preserves: self.preserves })
    }
}

/// Whether both are one workload, whatever the API version.
fn has_same_identity(a: &Workload, b: &Workload) -> bool {
    a.gvk.group == b.gvk.group && a.gvk.kind == b.gvk.kind && a.namespace == b.namespace && a.name == b.name
}

impl<'a> Manifest<'a> {
    fn read(raw: Raw<'a>) -> Result<Self, ParseError> {
        let members = raw.members()?;
        let metadata = map(&members, "metadata")?;
        let (api_version, kind) = (string(&members, "apiVersion")?, string(&members, "kind")?);
        let (name, namespace) = (string(&metadata, "name")?, string(&metadata, "namespace")?);
        let workload = match (api_version, kind, name) {
            (Some(api_version), Some(kind), Some(name)) if !name.is_empty() => Some(Workload {
                gvk: GroupVersionKind::of(&api_version, &kind),
                namespace: namespace.unwrap_or_default().into_owned(),
                name: name.into_owned(),
            }),
            _ => None,
        };
        let marker = match metadata.get("annotations") {
            Some(annotations) => annotations.get(REVISED_ANNOTATION)?,
            None => None,
        };
        Ok(Self { raw, workload, marker })
    }

    /// Whether it has a marker, also an invalid one.
    pub fn is_marked(&self) -> bool {
        self.marker.is_some()
    }

    /// The id in the marker.
    pub(super) fn id(&self) -> Result<Option<Cow<'a, str>>, RestoreError> {
        match self.marker {
            None => Ok(None),
            Some(raw) => raw.as_str().ok().flatten().ok_or(RestoreError::Marker).map(Some),
        }
    }
}

/// The members of the map `name`; none if it is missing.
fn map<'a>(members: &Members<'a>, name: &str) -> Result<Members<'a>, ParseError> {
    match members.get(name) {
        Some(raw) => raw.members(),
        None => Ok(Members::default()),
    }
}

/// The string `name`; `None` if it is missing or no string.
pub(super) fn string<'a>(members: &Members<'a>, name: &str) -> Result<Option<Cow<'a, str>>, ParseError> {
    match members.get(name).filter(|raw| raw.kind() == Kind::String) {
        Some(raw) => raw.as_str(),
        None => Ok(None),
    }
}
