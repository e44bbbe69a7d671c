//! The patch of a Work.

use super::read::{Manifest, Work};
use super::record::{Record, RecordEntry};
use crate::domain::{Failure, REVISED_ANNOTATION, REVISION_ANNOTATION, Workload};
use crate::engine::Draft;
use crate::json::{Kind, Pointer, Value};
use crate::patch::{Operation, Patch, diff};

/// The path of the record.
const RECORD: [&str; 3] = ["metadata", "annotations", REVISION_ANNOTATION];

/// Most bytes of the keys and values of all annotations of an object, a limit of Kubernetes.
pub const MAX_ANNOTATION_BYTES: usize = 256 << 10;

/// Collects the revised manifests of a Work.
#[derive(Debug)]
pub struct Rewrite<'w, 'a> {
    work: &'w Work<'a>,
    operations: Vec<Operation<'a>>,
    record: Record,
}

/// The parts of a record entry that do not follow from the draft.
#[derive(Clone, Debug)]
pub struct Revised {
    pub rules: Vec<String>,
    /// The digest of the policies that select the object.
    pub hash: String,
    /// The allocations that its cluster hosts.
    pub hosts: Vec<String>,
}

impl<'w, 'a> Rewrite<'w, 'a> {
    pub fn new(work: &'w Work<'a>) -> Self {
        Self { work, operations: Vec::new(), record: Record::default() }
    }

    /// Takes the revision of the manifest at `position`.
    pub fn revise(
        &mut self,
        position: usize,
        workload: &Workload,
        draft: &mut Draft<'_>,
        revised: Revised,
    ) -> Result<(), Failure> {
        self.record(draft, workload, revised)?;
        if self.work.manifests.get(position).is_some_and(Manifest::is_marked) {
            // The draft began with the manifest without its last revision.
            self.replace(position, draft.value())
        } else {
            self.push(position, draft.patch());
            Ok(())
        }
    }

    /// Takes the new content of the manifest at `position`: without its last revision, or with a new one.
    pub fn replace(&mut self, position: usize, content: &Value<'_>) -> Result<(), Failure> {
        let Some(manifest) = self.work.manifests.get(position) else { return Ok(()) };
        let before = manifest.raw.to_value().map_err(|error| Failure::unprocessable(error.to_string()))?;
        self.push(position, diff(&before, content));
        Ok(())
    }

    fn push(&mut self, position: usize, patch: Patch<'_>) {
        let path = Pointer::of(["spec", "workload", "manifests", &position.to_string()]);
        let operations = patch.0.into_iter().map(|operation| operation.into_owned().below(&path));
        self.operations.extend(operations);
    }

    /// Records the revision, and marks the manifest with the id of its entry. A manifest that is unchanged
    /// and hosts nothing has no entry.
    fn record(
        &mut self,
        draft: &mut Draft<'_>,
        workload: &Workload,
        revised: Revised,
    ) -> Result<(), Failure> {
        if !draft.is_unchanged() {
            // The marker needs this map. Making it before `undo` is part of the revision that is undone.
            draft.make_map(&Pointer::of(["metadata", "annotations"]))?;
        }
        let undo = draft.undo().into_owned();
        if undo.is_empty() && revised.hosts.is_empty() {
            return Ok(());
        }
        let entry = RecordEntry::new(workload, undo, revised.rules, revised.hash, revised.hosts);
        if let Some(id) = entry.id() {
            draft.set(&Pointer::of(["metadata", "annotations", REVISED_ANNOTATION]), id.to_owned().into())?;
        }
        self.record.entries.push(entry);
        Ok(())
    }

    /// The patch of the whole Work. Refuses a record that exceeds [`MAX_ANNOTATION_BYTES`].
    pub fn patch(self) -> Result<Patch<'a>, Failure> {
        let old = self.work.record_text();
        let new = (!self.record.entries.is_empty()).then(|| self.record.to_text());
        let change = match (old, new) {
            (None, None) => None,
            (Some(_), None) => Some(self.without_record()),
            (Some(old), Some(new)) if old.as_str().is_ok_and(|old| old.as_deref() == Some(&new)) => None,
            (old, Some(new)) => {
                self.check_size(&new)?;
                Some(match old {
                    Some(_) => Operation::Replace(Pointer::of(RECORD), new.into()),
                    None => self.with_record(new),
                })
            }
        };
        Ok(Patch(change.into_iter().chain(self.operations).collect()))
    }

    /// Adds the record and the missing maps above it: Karmada writes no annotations to a Work without a
    /// binding.
    fn with_record(&self, record: String) -> Operation<'a> {
        let is_map = |depth: usize| {
            let found = self.work.raw.at(&Pointer::of(RECORD[..depth].iter().copied()));
            found.is_ok_and(|found| found.is_some_and(|found| found.kind() == Kind::Object))
        };
        let missing = (1..RECORD.len()).find(|depth| !is_map(*depth)).unwrap_or(RECORD.len());
        let value = RECORD[missing..]
            .iter()
            .rev()
            .fold(Value::from(record), |value, name| Value::Object([(*name, value)].into_iter().collect()));
        Operation::Add(Pointer::of(RECORD[..missing].iter().copied()), value)
    }

    /// Removes the record, and the annotations if there are no others.
    fn without_record(&self) -> Operation<'a> {
        let depth = if self.work.annotations.len() == 1 { RECORD.len() - 1 } else { RECORD.len() };
        Operation::Remove(Pointer::of(RECORD[..depth].iter().copied()))
    }

    fn check_size(&self, record: &str) -> Result<(), Failure> {
        let others = self.work.other_annotation_bytes();
        let needed = REVISION_ANNOTATION.len() + record.len();
        if others + needed <= MAX_ANNOTATION_BYTES {
            return Ok(());
        }
        Err(Failure::unprocessable(format!(
            "/metadata/annotations/{}: the record of the revision needs {needed} bytes, and with the other {others} bytes of the Work's \
             annotations that is more than the {MAX_ANNOTATION_BYTES} that an object may have; make the rules change less",
            REVISION_ANNOTATION.replace('/', "~1")
        )))
    }
}
