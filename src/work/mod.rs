//! Karmada's `Work`: reading it, the record of its revision, and the patch that revises it. Pure.
//!
//! * [`Work`] is a parsed Work; its [`Link`] names its binding.
//! * A revised manifest has the annotation `reviser.io/revised`, the *marker*: the id of its entry in the
//!   [`Record`], which is the annotation `reviser.io/revision` of the Work. Karmada overwrites manifests and
//!   keeps the annotations of the Work, so the marker tells a manifest that Karmada wrote from a revised one.
//! * [`Work::restore`] takes revisions back; [`Rewrite`] collects new ones and makes the patch.
//!
//! Source: karmada-io/karmada@f8fdd02 `pkg/apis/work/v1alpha1/work_types.go`. docs/karmada.md describes what
//! Karmada does with Works.

mod link;
mod read;
mod record;
mod restore;
mod rewrite;

#[cfg(test)]
mod tests;

pub use link::Link;
pub use read::{Manifest, Work};
pub use record::{Record, RecordEntry, RecordError};
pub use restore::RestoreError;
pub use rewrite::{MAX_ANNOTATION_BYTES, Revised, Rewrite};
