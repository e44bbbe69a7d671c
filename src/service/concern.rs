//! Which Works and manifests the policies and transformations apply to.

use crate::domain::{Failure, Workload};
use crate::engine::{self, ObjectSource, PolicySet, Selection};
use crate::work::Work;

/// The policies and transformations that apply to a manifest, which without its last revision is `object`.
pub(crate) fn select<'s>(
    policies: &'s PolicySet,
    workload: &Workload,
    object: &ObjectSource<'_>,
) -> Result<Selection<'s>, Failure> {
    if policies.has_transformations() {
        return policies.selection(workload, object);
    }
    // `selection` refuses a manifest that names a missing transformation. If all transformations were
    // deleted, the Works that still name one could then not be restored.
    Ok(Selection { policies: policies.selecting(workload, object)?, ..Selection::default() })
}

/// Whether the Work is revised, or has a manifest that may have to be.
pub(crate) fn has_revisable_manifest(policies: &PolicySet, work: &Work<'_>) -> bool {
    work.is_recorded()
        || work.manifests.iter().any(|manifest| {
            let workload = manifest.workload.as_ref();
            manifest.is_marked()
                || workload.is_some_and(|workload| policies.concerns(&workload.gvk, &manifest.raw.into()))
        })
}

/// A warning for each manifest that names transformations although there is none, which [`select`] accepts.
pub(crate) fn transformation_warnings(policies: &PolicySet, work: &Work<'_>) -> Vec<String> {
    if policies.has_transformations() {
        return Vec::new();
    }
    let naming = work.manifests.iter().filter(|manifest| engine::names_transformations(&manifest.raw.into()));
    let workloads = naming.filter_map(|manifest| manifest.workload.as_ref());
    workloads
        .map(|workload| {
            format!("{workload}: names transformations, and there is none; it is delivered without")
        })
        .collect()
}
