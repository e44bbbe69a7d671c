//! The patch of a Work.

use crate::domain::{Failure, REVISED_ANNOTATION, REVISION_ANNOTATION};
use crate::engine::Draft;
use crate::json::{Kind, Pointer, Value};
use crate::patch::{Operation, Patch, diff};

use super::read::Work;
use super::record::{Entry, Record};

/// Where the record is.
const RECORD: [&str; 3] = ["metadata", "annotations", REVISION_ANNOTATION];

/// How many bytes the keys and values of all annotations of an object may have together, says Kubernetes.
pub const MAX_ANNOTATION_BYTES: usize = 256 << 10;

/// Collects what becomes of the manifests of a Work.
#[derive(Debug)]
pub struct Rewrite<'w, 'a> {
    work: &'w Work<'a>,
    operations: Vec<Operation<'a>>,
    record: Record,
}

impl<'w, 'a> Rewrite<'w, 'a> {
    /// Nothing yet.
    pub fn new(work: &'w Work<'a>) -> Self {
        Self { work, operations: Vec::new(), record: Record::default() }
    }

    /// Takes the revision of a manifest that is as Karmada wrote it. `entry` makes the record of it.
    pub fn revised(
        &mut self,
        position: usize,
        mut draft: Draft<'a>,
        entry: impl FnOnce(&Draft<'_>) -> Option<Entry>,
    ) -> Result<(), Failure> {
        self.mark(&mut draft, entry)?;
        self.put(position, draft.patch()?);
        Ok(())
    }

    /// Takes the revision of a manifest that carried another one, which has been taken back before.
    pub fn revised_again(
        &mut self,
        position: usize,
        mut draft: Draft<'_>,
        entry: impl FnOnce(&Draft<'_>) -> Option<Entry>,
    ) -> Result<(), Failure> {
        self.mark(&mut draft, entry)?;
        let revised = draft.to_value()?.into_owned();
        let Some(manifest) = self.work.manifests.get(position) else { return Ok(()) };
        let before = manifest.raw.to_value().map_err(|error| Failure::unprocessable(error.to_string()))?;
        self.put(position, diff(&before, &revised));
        Ok(())
    }

    /// Records the revision, and marks the manifest with the id of its record.
    fn mark(
        &mut self,
        draft: &mut Draft<'_>,
        entry: impl FnOnce(&Draft<'_>) -> Option<Entry>,
    ) -> Result<(), Failure> {
        if !draft.is_unchanged() {
            // The marker needs a map; if we make it, that is part of the revision.
            draft.make_map(&Pointer::of(["metadata", "annotations"]))?;
        }
        let Some(entry) = entry(draft) else { return Ok(()) };
        if let Some(id) = entry.id() {
            draft.set(&Pointer::of(["metadata", "annotations", REVISED_ANNOTATION]), id.to_owned().into())?;
        }
        self.record.entries.push(entry);
        Ok(())
    }

    fn put(&mut self, position: usize, patch: Patch<'a>) {
        let place = Pointer::of(["spec", "workload", "manifests", &position.to_string()]);
        self.operations.extend(patch.0.into_iter().map(|operation| operation.below(&place)));
    }

    /// The patch of the whole Work. Refuses a record that does not fit into its annotations.
    pub fn patch(self) -> Result<Patch<'a>, Failure> {
        let was = self.work.record_text();
        let is = (!self.record.entries.is_empty()).then(|| self.record.to_text());
        let change = match (was, is) {
            (None, None) => None,
            (Some(_), None) => Some(self.without_record()),
            (Some(was), Some(is)) if was.as_str().is_ok_and(|was| was.as_deref() == Some(&is)) => None,
            (was, Some(is)) => {
                self.check_room(&is)?;
                Some(if was.is_some() {
                    Operation::Replace(Pointer::of(RECORD), is.into())
                } else {
                    self.with_record(is)
                })
            }
        };
        Ok(Patch(change.into_iter().chain(self.operations).collect()))
    }

    /// Adds the record, and the maps on the way to it that are missing: Karmada gives a Work without a binding no annotations.
    fn with_record(&self, record: String) -> Operation<'a> {
        let is_map = |depth: usize| {
            let place = self.work.raw.at(&Pointer::of(RECORD[..depth].iter().copied()));
            place.is_ok_and(|found| found.is_some_and(|found| found.kind() == Kind::Object))
        };
        let missing = (1..RECORD.len()).find(|depth| !is_map(*depth)).unwrap_or(RECORD.len());
        let value = RECORD[missing..]
            .iter()
            .rev()
            .fold(Value::from(record), |value, name| Value::Object([(*name, value)].into_iter().collect()));
        Operation::Add(Pointer::of(RECORD[..missing].iter().copied()), value)
    }

    /// Removes the record, and the map that it is in if nothing else is.
    fn without_record(&self) -> Operation<'a> {
        let depth = if self.work.annotations.len() == 1 { RECORD.len() - 1 } else { RECORD.len() };
        Operation::Remove(Pointer::of(RECORD[..depth].iter().copied()))
    }

    fn check_room(&self, record: &str) -> Result<(), Failure> {
        let others = self.work.other_annotation_bytes();
        let needed = REVISION_ANNOTATION.len() + record.len();
        if others + needed <= MAX_ANNOTATION_BYTES {
            return Ok(());
        }
        Err(Failure::unprocessable(format!(
            "/metadata/annotations/{}: to be able to take the revision back would need {needed} bytes, and with the other {others} bytes of \
             the Work's annotations that is more than the {MAX_ANNOTATION_BYTES} that an object may have; make the rules change less",
            REVISION_ANNOTATION.replace('/', "~1")
        )))
    }
}
