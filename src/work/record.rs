//! The record of a Work's revision: the annotation `reviser.io/revision`.
//!
//! Compact JSON, `{"version":1,"manifests":[...]}` with an [`Entry`] for each manifest that has been revised or that hosts an
//! allocation:
//!
//! | member | what |
//! |---|---|
//! | `object` | whom it is about: `Rollout.deploy.example.com shop/checkout` |
//! | `id` | what the manifest's marker says; a digest of `object` and `undo`. Missing where the manifest is unchanged |
//! | `undo` | how the revision is taken back: `[{path, was, wrote, position, length}]` |
//! | `rules` | which rules changed something |
//! | `hash` | a digest of the policies that select the object |
//! | `hosts` | the allocations that its cluster hosts |

use super::read::Manifest;
use crate::domain::{Hosts, Workload, digest};
use crate::engine::Undo;
use crate::json::{Number, Object, Value, write_string};

/// The version of the form that this version of reviser writes, and the only one that it reads.
const VERSION: i64 = 1;

/// What is recorded of a Work's revision.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Record {
    pub(super) entries: Vec<Entry>,
}

/// What is recorded of one manifest.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// Whom it is about.
    object: String,
    /// How the revision is taken back; nothing for a manifest that is as Karmada wrote it.
    undo: Undo<'static>,
    /// The same as text, and the digest of that and `object`; `None` where there is nothing to take back.
    marked: Option<Marked>,
    /// The rules that changed something.
    rules: Vec<String>,
    /// A digest of the policies that select the object.
    hash: String,
    /// The allocations that its cluster hosts.
    hosts: Vec<String>,
}

/// What a marker stands for.
#[derive(Clone, Debug, PartialEq)]
struct Marked {
    id: String,
    undo: String,
}

impl Marked {
    fn of(object: &str, undo: &Undo<'_>) -> Option<Self> {
        let undo = (!undo.is_empty()).then(|| undo.to_text())?;
        Some(Self { id: digest([object, &undo]), undo })
    }
}

/// Why an annotation is no record that can be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RecordError {
    /// Somebody has changed it.
    #[error("is garbled")]
    Garbled,
    /// It has another form.
    #[error("has a form that this version of reviser does not know")]
    Version,
}

impl Record {
    /// Reads the text of the annotation.
    pub fn parse(text: &str) -> Result<Self, RecordError> {
        let value = Value::parse(text.as_bytes()).map_err(|_| RecordError::Garbled)?.into_owned();
        let record = value.as_object().ok_or(RecordError::Garbled)?;
        match record.get("version").and_then(Value::as_number).and_then(Number::as_i64) {
            Some(VERSION) => {}
            Some(_) => return Err(RecordError::Version),
            None => return Err(RecordError::Garbled),
        }
        let entries = record.get("manifests").and_then(Value::as_array).ok_or(RecordError::Garbled)?;
        let entries: Option<Vec<Entry>> = entries.iter().map(Entry::from_value).collect();
        Ok(Self { entries: entries.ok_or(RecordError::Garbled)? })
    }

    /// The text of the annotation.
    pub fn to_text(&self) -> String {
        let undo =
            self.entries.iter().filter_map(|entry| entry.marked.as_ref()).map(|marked| marked.undo.len());
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

    /// The entry about a manifest, as that is now.
    pub fn of(&self, manifest: &Manifest<'_>) -> Option<&Entry> {
        self.about(manifest.workload.as_ref()?, manifest.id().ok()?.as_deref())
    }

    /// The entry that a marker with this id means, for this workload.
    pub(super) fn entry(&self, id: &str, workload: &Workload) -> Option<&Entry> {
        let object = describe(workload);
        self.entries.iter().find(|entry| entry.object == object && entry.id() == Some(id))
    }

    /// What it says about the allocations that `workload` hosts, whose manifest has this marker.
    pub(super) fn hosts(&self, workload: &Workload, marker: Option<&str>) -> Hosts {
        match self.about(workload, marker) {
            Some(entry) => Hosts::Recorded(entry.hosts.clone()),
            None => Hosts::Unrecorded,
        }
    }

    /// The entry about `workload`, whose manifest has this marker. One that does not belong to the manifest as it is says
    /// nothing: somebody has written it since.
    pub(super) fn about(&self, workload: &Workload, marker: Option<&str>) -> Option<&Entry> {
        let object = describe(workload);
        let entry = self.entries.iter().find(|entry| entry.object == object)?;
        (entry.id() == marker).then_some(entry)
    }
}

impl Entry {
    /// An entry about `workload`.
    pub fn new(
        workload: &Workload,
        undo: Undo<'static>,
        rules: Vec<String>,
        hash: String,
        hosts: Vec<String>,
    ) -> Self {
        let object = describe(workload);
        let marked = Marked::of(&object, &undo);
        Self { object, undo, marked, rules, hash, hosts }
    }

    /// What the manifest's marker says; `None` for one that is unchanged and has none.
    pub fn id(&self) -> Option<&str> {
        self.marked.as_ref().map(|marked| marked.id.as_str())
    }

    /// The rules that changed something, as `Kind/policy/rule`.
    pub fn rules(&self) -> &[String] {
        &self.rules
    }

    /// A digest of the policies that selected the object.
    pub fn hash(&self) -> &str {
        &self.hash
    }

    /// The allocations that its cluster hosts.
    pub fn hosts(&self) -> &[String] {
        &self.hosts
    }

    /// How the revision is taken back.
    pub(super) fn undo(&self) -> &Undo<'static> {
        &self.undo
    }

    fn write_to(&self, out: &mut String) {
        out.push_str(r#"{"object":"#);
        write_string(&self.object, out);
        if let Some(Marked { id, undo }) = &self.marked {
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
            marked: Marked::of(&object, &undo),
            object,
            undo,
            rules: list(members, "rules")?,
            hash: members.get("hash")?.as_str()?.to_owned(),
            hosts: list(members, "hosts")?,
        };
        // The id says whether the undo is the one that was written.
        (entry.id() == members.get("id").and_then(Value::as_str)).then_some(entry)
    }
}

/// `Rollout.deploy.example.com shop/checkout`; kinds of the core group have no group, cluster-scoped objects no namespace.
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
