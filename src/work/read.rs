//! A Work as an API server sends it.

use std::borrow::Cow;

use jiff::Timestamp;

use super::record::{Record, RecordError};
use super::restore::Unrestorable;
use crate::domain::{
    ClusterName, Delivery, EXECUTION_NAMESPACE_PREFIX, Failure, GroupVersionKind, Hosts, REVISED_ANNOTATION,
    REVISION_ANNOTATION, Workload,
};
use crate::json::{Kind, Members, ParseError, Raw};

/// A Work, as far as it concerns us. What has another shape than a Work's counts as missing: to refuse that is the
/// API server's business.
#[derive(Clone, Debug)]
pub struct Work<'a> {
    /// The whole of it.
    pub raw: Raw<'a>,
    /// What it is called, the same for every cluster; `None` if it does not say.
    pub name: Option<Cow<'a, str>>,
    /// `spec.workload.manifests`.
    pub manifests: Vec<Manifest<'a>>,
    /// `spec.preserveResourcesOnDeletion`.
    pub preserves: bool,
    /// `spec.suspendDispatching`.
    pub(super) is_suspended: bool,
    /// `metadata.ownerReferences`, read where it is asked for.
    pub(super) owners: Option<Raw<'a>>,
    /// `metadata.labels`, read where they are asked for.
    pub(super) labels: Option<Raw<'a>>,
    pub(super) annotations: Members<'a>,
    deletion: Option<Cow<'a, str>>,
}

/// One object in a Work.
#[derive(Clone, Debug)]
pub struct Manifest<'a> {
    /// The whole of it.
    pub raw: Raw<'a>,
    /// Who it is; `None` if it does not say.
    pub workload: Option<Workload>,
    /// Its annotation `reviser.io/revised`, if it has one of whatever kind.
    pub(super) marker: Option<Raw<'a>>,
}

impl<'a> Work<'a> {
    /// Reads a Work.
    pub fn read(raw: Raw<'a>) -> Result<Self, Failure> {
        Self::try_read(raw)
            .map_err(|error| Failure::unprocessable(format!("the Work can't be read: {error}; mend it")))
    }

    fn try_read(raw: Raw<'a>) -> Result<Self, ParseError> {
        let members = raw.members()?;
        let metadata = below(&members, "metadata")?;
        let spec = below(&members, "spec")?;
        let workload = below(&spec, "workload")?;
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
            annotations: below(&metadata, "annotations")?,
            deletion: string(&metadata, "deletionTimestamp")?,
        })
    }

    /// The cluster that the Works of a namespace are for; `None` if it is no namespace of Karmada's for Works.
    pub fn cluster(namespace: &str) -> Option<ClusterName> {
        namespace.strip_prefix(EXECUTION_NAMESPACE_PREFIX).and_then(ClusterName::new)
    }

    /// Whether it is on its way out.
    pub fn is_being_deleted(&self) -> bool {
        self.deletion.is_some()
    }

    /// The record of its revision; one without entries if it has none.
    pub fn record(&self) -> Result<Record, RecordError> {
        match self.annotations.get(REVISION_ANNOTATION) {
            None => Ok(Record::default()),
            Some(raw) => {
                let text = raw.as_str().ok().flatten().ok_or(RecordError::Garbled)?;
                Record::parse(&text)
            }
        }
    }

    /// Whether it has a record of its revision, of whatever form.
    pub fn is_recorded(&self) -> bool {
        self.record_text().is_some()
    }

    /// The annotation that the record is in, as it is.
    pub(super) fn record_text(&self) -> Option<Raw<'a>> {
        self.annotations.get(REVISION_ANNOTATION)
    }

    /// How many bytes its annotations have, without the one that the record is in.
    pub(super) fn other_annotation_bytes(&self) -> usize {
        let others = self.annotations.iter().filter(|(key, _)| *key != REVISION_ANNOTATION);
        let length = |value: Raw<'_>| value.as_str().ok().flatten().map_or(0, |text| text.len());
        others.map(|(key, value)| key.len() + length(value)).sum()
    }

    /// What it says about `workload` in the cluster that it is for; `None` if it does not deliver it.
    pub fn delivery(&self, cluster: &ClusterName, workload: &Workload) -> Option<Delivery> {
        let is_it =
            |manifest: &&Manifest<'_>| manifest.workload.as_ref().is_some_and(|own| same(own, workload));
        let manifest = self.manifests.iter().find(is_it)?;
        let hosts = match (self.record(), manifest.id()) {
            (Ok(record), Ok(marker)) => record.hosts(workload, marker.as_deref()),
            _ => Hosts::Unrecorded,
        };
        // From a time that can't be read no timeout counts.
        let read = |text: &Cow<'_, str>| text.parse().unwrap_or(Timestamp::MAX);
        let deleting_since = self.deletion.as_ref().map(read);
        Some(Delivery { cluster: cluster.clone(), hosts, deleting_since, preserves: self.preserves })
    }
}

/// Whether both are one workload: its version may change.
pub(super) fn same(a: &Workload, b: &Workload) -> bool {
    a.gvk.group == b.gvk.group && a.gvk.kind == b.gvk.kind && a.namespace == b.namespace && a.name == b.name
}

impl<'a> Manifest<'a> {
    fn read(raw: Raw<'a>) -> Result<Self, ParseError> {
        let members = raw.members()?;
        let metadata = below(&members, "metadata")?;
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

    /// Whether it says that it has been revised.
    pub fn is_marked(&self) -> bool {
        self.marker.is_some()
    }

    /// The id in its marker, if it has one.
    pub(super) fn id(&self) -> Result<Option<Cow<'a, str>>, Unrestorable> {
        match self.marker {
            None => Ok(None),
            Some(raw) => raw.as_str().ok().flatten().ok_or(Unrestorable::Marker).map(Some),
        }
    }
}

/// The members of the member `name`; none if it is no map.
fn below<'a>(members: &Members<'a>, name: &str) -> Result<Members<'a>, ParseError> {
    match members.get(name) {
        Some(raw) => raw.members(),
        None => Ok(Members::default()),
    }
}

/// The string `name`; `None` if it is missing or something else.
pub(super) fn string<'a>(members: &Members<'a>, name: &str) -> Result<Option<Cow<'a, str>>, ParseError> {
    match members.get(name).filter(|raw| raw.kind() == Kind::String) {
        Some(raw) => raw.as_str(),
        None => Ok(None),
    }
}
