//! Karmada's `Work`: what it delivers to one cluster, and how its revision is written into it.
//!
//! Pure: from a Work as an API server sends it to a patch of it. Who decides *what* is revised is the engine; what is
//! looked up for that is the service's business.
//!
//! * [`Work`] reads one, as far as it concerns us; its [`Link`] says whether there is a binding.
//! * A revised manifest carries the annotation `reviser.io/revised` (the *marker*): the id of its entry in the [`Record`],
//!   which is the annotation `reviser.io/revision` of the Work. Karmada writes manifests afresh and keeps the Work's own
//!   annotations, so the marker tells whether a manifest is as Karmada wrote it or as we did.
//! * [`Work::restore`] takes revisions back; [`Rewrite`] collects the new ones and makes the patch.
//!
//! Source: karmada-io/karmada@f8fdd02 `pkg/apis/work/v1alpha1/work_types.go`; what Karmada does with Works is in docs/karmada.md.

mod link;
mod read;
mod record;
mod restore;
mod rewrite;

#[cfg(test)]
mod tests;

pub use link::Link;
pub use read::{Manifest, Work};
pub use record::{Entry, Record, RecordError};
pub use restore::{Restored, Unrestorable};
pub use rewrite::{MAX_ANNOTATION_BYTES, Rewrite};
