//! A revised manifest as Karmada wrote it.

use crate::domain::{Failure, REVISED_ANNOTATION, REVISION_ANNOTATION};
use crate::engine::UndoError;
use crate::json::Value;

use super::read::{Manifest, Work};
use super::record::RecordError;

/// A manifest without its revision.
#[derive(Clone, Debug)]
pub enum Restored {
    /// It carries none: it is as Karmada wrote it.
    Untouched,
    /// It carried one.
    Undone(Value<'static>),
}

/// Why the revision of a manifest can't be taken back.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unrestorable {
    /// Its marker is no text.
    #[error("the annotation {REVISED_ANNOTATION} of the manifest is no text")]
    Marker,
    /// The record can't be read.
    #[error("the annotation {REVISION_ANNOTATION} of the Work {0}")]
    Record(RecordError),
    /// The record has no entry for it.
    #[error("the annotation {REVISION_ANNOTATION} of the Work has no record of it")]
    Missing,
    /// Somebody has changed what the revision wrote.
    #[error("somebody has changed what the revision wrote: {0}")]
    Edited(UndoError),
}

impl Unrestorable {
    /// What is to be told to somebody who wants to store the Work, and what to do.
    pub fn failure(&self, position: usize, manifest: &Manifest<'_>) -> Failure {
        let failure = Failure::unprocessable(format!(
            "/spec/workload/manifests/{position}: it is marked as revised ({REVISED_ANNOTATION}), but {self}; let Karmada write the Work \
             afresh (any change of the template does), or put the manifest right and take the marker away"
        ));
        match &manifest.workload {
            Some(workload) => failure.context(workload),
            None => failure,
        }
    }
}

impl<'a> Work<'a> {
    /// One of its manifests as Karmada wrote it. The record of `old`, the Work as it is stored, is tried where its own
    /// does not fit.
    pub fn restore<'o>(
        &self,
        manifest: &Manifest<'a>,
        old: impl FnOnce() -> Option<&'o Work<'o>>,
    ) -> Result<Restored, Unrestorable> {
        let Some(id) = manifest.id()? else {
            return Ok(Restored::Untouched);
        };
        let own = self.undone(manifest, &id);
        let undone = own.or_else(|own| match old() {
            Some(old) => old.undone(manifest, &id).map_err(|_| own),
            None => Err(own),
        });
        undone.map(Restored::Undone)
    }

    /// The manifest, with what this Work's record says about it taken back.
    fn undone(&self, manifest: &Manifest<'_>, id: &str) -> Result<Value<'static>, Unrestorable> {
        let record = self.record().map_err(Unrestorable::Record)?;
        let workload = manifest.workload.as_ref().ok_or(Unrestorable::Missing)?;
        let entry = record.entry(id, workload).ok_or(Unrestorable::Missing)?;
        let garbled = |_| Unrestorable::Record(RecordError::Garbled);
        let mut object = manifest.raw.to_value().map_err(garbled)?;
        let annotations = object
            .object_mut()
            .and_then(|object| object.get_mut("metadata")?.object_mut()?.get_mut("annotations"));
        if let Some(annotations) = annotations.and_then(Value::object_mut) {
            annotations.remove(REVISED_ANNOTATION);
        }
        entry.undo().apply(&object).map(Value::into_owned).map_err(Unrestorable::Edited)
    }

    /// Whether both have the same manifests.
    pub fn same_manifests(&self, other: &Work<'_>) -> bool {
        let value = |manifest: &Manifest<'_>| manifest.raw.to_value().ok().map(Value::into_owned);
        self.manifests.len() == other.manifests.len()
            && self
                .manifests
                .iter()
                .zip(&other.manifests)
                .all(|(own, other)| own.raw.text() == other.raw.text() || value(own) == value(other))
    }
}
