//! Which Works and manifests policies and transformations apply to.

use crate::domain::{Failure, Workload};
use crate::engine::{self, PolicySet, Selection};
use crate::json::Raw;
use crate::work::{Manifest, Work};

/// What applies to a manifest, which without its last revision is `object`.
pub(super) fn at_work<'s>(
    set: &'s PolicySet,
    workload: &Workload,
    object: &Raw<'_>,
) -> Result<Selection<'s>, Failure> {
    if !set.has_transformations() {
        // Without this, revisions could not be taken back after all transformations have been deleted: the Works that still name one
        // would be refused.
        return Ok(Selection { policies: set.selecting(workload, object)?, ..Selection::default() });
    }
    set.selection(workload, object)
}

/// Whether the Work has been revised, or holds something that may have to be.
pub(super) fn concerns(set: &PolicySet, work: &Work<'_>) -> bool {
    let known = |manifest: &Manifest<'_>| {
        let gvk = manifest.workload.as_ref().map(|workload| &workload.gvk);
        gvk.is_some_and(|gvk| set.concerns(gvk, &manifest.raw))
    };
    work.is_recorded() || work.manifests.iter().any(|manifest| manifest.is_marked() || known(manifest))
}

/// Warnings about manifests that name transformations where there is none at all, which [`at_work`] does not refuse.
pub(super) fn unheard(set: &PolicySet, work: &Work<'_>) -> Vec<String> {
    if set.has_transformations() {
        return Vec::new();
    }
    let naming = work.manifests.iter().filter(|manifest| engine::names_transformations(&manifest.raw));
    let warning = |workload: &Workload| {
        format!("{workload}: names transformations, and there is none; it is delivered without")
    };
    naming.filter_map(|manifest| manifest.workload.as_ref()).map(warning).collect()
}
