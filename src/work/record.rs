//! The record of a Work's revision: the annotation `reviser.io/revision`.
//!
//! Compact JSON, `{"version":1,"manifests":[...]}` with a [`RecordEntry`] for each manifest that is revised
//! or hosts an allocation:
//!
//! | member | content |
//! |---|---|
//! | `object` | the identity of the object: `Rollout.deploy.example.com shop/checkout` |
//! | `id` | the value of the manifest's marker: a digest of `object` and `undo`. Missing if the manifest is unchanged |
//! | `undo` | how to take the revision back: `[{path, was, wrote, position, length}]` |
//! | `rules` | the rules that changed something |
//! | `hash` | a digest of the policies that select the object |
//! | `hosts` | the allocations that its cluster hosts |

use super::read::Manifest;
use crate::domain::{Hosts, Workload, digest};
use crate::engine::Undo;
use crate::json::{Number, Object, Value, write_string};

/// The version of the format. No other version is read.
const VERSION: i64 = 1;

/// The record of a Work's revision.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Record {
    pub(super) entries: Vec<RecordEntry>,
}

/// The record of one manifest.
#[derive(Clone, Debug, PartialEq)]
pub struct RecordEntry {
    /// See [`describe`].
    object: String,
    /// Empty for a manifest that is unchanged.
    undo: Undo<'static>,
    /// `None` if `undo` is empty.
    marker: Option<Marker>,
    rules: Vec<String>,
    hash: String,
    hosts: Vec<String>,
}

/// The id of an entry, and the undo as text that it is a digest of.
#[derive(Clone, Debug, PartialEq)]
struct Marker {
    id: String,
    undo: String,
}

impl Marker {
    fn of(object: &str, undo: &Undo<'_>) -> Option<Self> {
        let undo = (!undo.is_empty()).then(|| undo.to_text())?;
        Some(Self { id: digest([object, &undo]), undo })
    }
}

/// Why an annotation is not a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RecordError {
    #[error("is malformed")]
    Malformed,
    #[error("has a format that this version of reviser does not support")]
    Version,
}

impl Record {
    /// Parses the annotation.
    pub fn parse(text: &str) -> Result<Self, RecordError> {
        let value = Value::parse(text.as_bytes()).map_err(|_| RecordError::Malformed)?.into_owned();
        let record = value.as_object().ok_or(RecordError::Malformed)?;
        match record.get("version").and_then(Value::as_number).and_then(Number::as_i64) {
            Some(VERSION) => {}
            Some(_) => return Err(RecordError::Version),
            None => return Err(RecordError::Malformed),
        }
        let entries = record.get("manifests").and_then(Value::as_array).ok_or(RecordError::Malformed)?;
        let entries: Option<Vec<RecordEntry>> = entries.iter().map(RecordEntry::from_value).collect();
        Ok(Self { entries: entries.ok_or(RecordError::Malformed)? })
    }

    /// The text of the annotation.
    pub fn to_text(&self) -> String {
        let undo =
            self.entries.iter().filter_map(|entry| entry.marker.as_ref()).map(|marker| marker.undo.len());
        let mut out = String::with_capacity(64 + 256 * self.entries.len() + undo.sum::<usize>());
        out.push_str(r#"{"version":"#);
        out.push_str(&VERSION.to_string());
        out.push_str(r#","manifests":["#);
        for (position, entry) in self.entries.iter().enumerate() {
            if position > 0 {
                out.push(',');
            }
            entry.write_to(&mut out);
        }
        out.push_str("]}");
        out
    }

    /// The entry of a manifest.
    pub fn of(&self, manifest: &Manifest<'_>) -> Option<&RecordEntry> {
        self.about(manifest.workload.as_ref()?, manifest.id().ok()?.as_deref())
    }

    /// The entry with this id, if it is about `workload`.
    pub(super) fn entry(&self, id: &str, workload: &Workload) -> Option<&RecordEntry> {
        let object = describe(workload);
        self.entries.iter().find(|entry| entry.object == object && entry.id() == Some(id))
    }

    /// The allocations that `workload` hosts, if its manifest has this marker.
    pub(super) fn hosts(&self, workload: &Workload, marker: Option<&str>) -> Hosts {
        match self.about(workload, marker) {
            Some(entry) => Hosts::Recorded(entry.hosts.clone()),
            None => Hosts::Unrecorded,
        }
    }

    /// The entry of `workload`, unless its manifest has another marker: then the manifest was written after
    /// the entry.
    pub(super) fn about(&self, workload: &Workload, marker: Option<&str>) -> Option<&RecordEntry> {
        let object = describe(workload);
        let entry = self.entries.iter().find(|entry| entry.object == object)?;
        (entry.id() == marker).then_some(entry)
    }
}

impl RecordEntry {
    pub fn new(
        workload: &Workload,
        undo: Undo<'static>,
        rules: Vec<String>,
        hash: String,
        hosts: Vec<String>,
    ) -> Self {
        let object = describe(workload);
        let marker = Marker::of(&object, &undo);
        Self { object, undo, marker, rules, hash, hosts }
    }

    /// The value of the manifest's marker; `None` for a manifest that is unchanged.
    pub fn id(&self) -> Option<&str> {
        self.marker.as_ref().map(|marker| marker.id.as_str())
    }

    /// The rules that changed something, as `Kind/policy/rule`.
    pub fn rules(&self) -> &[String] {
        &self.rules
    }

    /// The digest of the policies that selected the object.
    pub fn hash(&self) -> &str {
        &self.hash
    }

    /// The allocations that its cluster hosts.
    pub fn hosts(&self) -> &[String] {
        &self.hosts
    }

    pub(super) fn undo(&self) -> &Undo<'static> {
        &self.undo
    }

    fn write_to(&self, out: &mut String) {
        out.push_str(r#"{"object":"#);
        write_string(&self.object, out);
        if let Some(Marker { id, undo }) = &self.marker {
            out.push_str(r#","id":""#);
            out.push_str(id);
            out.push_str(r#"","undo":"#);
            out.push_str(undo);
        }
        out.push_str(r#","rules":"#);
        write_strings(&self.rules, out);
        out.push_str(r#","hash":"#);
        write_string(&self.hash, out);
        out.push_str(r#","hosts":"#);
        write_strings(&self.hosts, out);
        out.push('}');
    }

    fn from_value(value: &Value<'static>) -> Option<Self> {
        let members = value.as_object()?;
        let undo = match members.get("undo") {
            Some(undo) => Undo::from_value(undo).ok()?,
            None => Undo::default(),
        };
        let object = members.get("object")?.as_str()?.to_owned();
        let entry = Self {
            marker: Marker::of(&object, &undo),
            object,
            undo,
            rules: list(members, "rules")?,
            hash: members.get("hash")?.as_str()?.to_owned(),
            hosts: list(members, "hosts")?,
        };
        // A different id means that the undo was changed.
        (entry.id() == members.get("id").and_then(Value::as_str)).then_some(entry)
    }
}

/// `Rollout.deploy.example.com shop/checkout`. The core group and the namespace of cluster-scoped objects are
/// left out.
fn describe(workload: &Workload) -> String {
    let Workload { gvk, namespace, name } = workload;
    let dot = if gvk.group.is_empty() { "" } else { "." };
    let slash = if namespace.is_empty() { "" } else { "/" };
    format!("{}{dot}{} {namespace}{slash}{name}", gvk.kind, gvk.group)
}

fn write_strings(texts: &[String], out: &mut String) {
    out.push('[');
    for (position, text) in texts.iter().enumerate() {
        if position > 0 {
            out.push(',');
        }
        write_string(text, out);
    }
    out.push(']');
}

fn list(members: &Object<'static>, name: &str) -> Option<Vec<String>> {
    members.get(name)?.as_array()?.iter().map(|item| item.as_str().map(str::to_owned)).collect()
}
