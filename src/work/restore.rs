//! Taking the revision of a manifest back.

use super::read::{Manifest, Work};
use super::record::RecordError;
use crate::domain::{Failure, REVISED_ANNOTATION, REVISION_ANNOTATION};
use crate::engine::UndoError;
use crate::json::{Raw, Value};

/// Why the revision of a manifest cannot be taken back.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RestoreError {
    #[error("the annotation {REVISED_ANNOTATION} of the manifest is no string")]
    Marker,
    #[error("the annotation {REVISION_ANNOTATION} of the Work {0}")]
    Record(RecordError),
    #[error("the annotation {REVISION_ANNOTATION} of the Work has no record of it")]
    Missing,
    #[error("another client changed what the revision wrote: {0}")]
    Edited(UndoError),
}

impl RestoreError {
    /// The refusal of a Work because of this manifest.
    pub fn failure(&self, position: usize, manifest: &Manifest<'_>) -> Failure {
        let failure = Failure::unprocessable(format!(
            "/spec/workload/manifests/{position}: it is marked as revised ({REVISED_ANNOTATION}), but {self}; let Karmada write the Work \
             again (any change of the template does), or correct the manifest and remove the marker"
        ));
        match &manifest.workload {
            Some(workload) => failure.context(workload),
            None => failure,
        }
    }
}

impl<'a> Work<'a> {
    /// A manifest as Karmada wrote it; `None` for a manifest that is not revised. If the record of this Work
    /// does not fit the manifest, the record of `stored`, its stored version, is tried.
    pub fn restore(
        &self,
        manifest: &Manifest<'a>,
        stored: Option<Raw<'_>>,
    ) -> Result<Option<Value<'static>>, RestoreError> {
        let Some(id) = manifest.id()? else { return Ok(None) };
        let restored = self.undo(manifest, &id).or_else(|error| {
            let stored = stored.and_then(|stored| Work::read(stored).ok());
            stored.and_then(|stored| stored.undo(manifest, &id).ok()).ok_or(error)
        });
        restored.map(Some)
    }

    /// The manifest without the changes that this Work's record has under `id`.
    fn undo(&self, manifest: &Manifest<'_>, id: &str) -> Result<Value<'static>, RestoreError> {
        let record = self.record().map_err(RestoreError::Record)?;
        let workload = manifest.workload.as_ref().ok_or(RestoreError::Missing)?;
        let entry = record.entry(id, workload).ok_or(RestoreError::Missing)?;
        let mut object = manifest.raw.to_value().map_err(|_| RestoreError::Record(RecordError::Malformed))?;
        let annotations = object
            .object_mut()
            .and_then(|object| object.get_mut("metadata")?.object_mut()?.get_mut("annotations"));
        if let Some(annotations) = annotations.and_then(Value::object_mut) {
            annotations.remove(REVISED_ANNOTATION);
        }
        entry.undo().apply(&object).map(Value::into_owned).map_err(RestoreError::Edited)
    }

    /// Whether both have the same manifests.
    pub fn has_same_manifests(&self, other: &Work<'_>) -> bool {
        let same = |(a, b): (&Manifest<'_>, &Manifest<'_>)| {
            a.raw.text() == b.raw.text()
                || matches!((a.raw.to_value(), b.raw.to_value()), (Ok(a), Ok(b)) if a == b)
        };
        self.manifests.len() == other.manifests.len() && self.manifests.iter().zip(&other.manifests).all(same)
    }
}
