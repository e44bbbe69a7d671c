//! What the doors count.

use prometheus_client::{metrics::counter::Counter, registry::Registry};

use crate::engine::HandoverEvent;
use crate::service::SkippedRule;

/// Counts what revisions come with: rules that are skipped, allocations that leave a cluster. All copies count into the same.
#[derive(Clone, Debug, Default)]
pub struct RevisionMetrics {
    waiting: Counter,
    kept_behind: Counter,
    skipped: Counter,
}

impl RevisionMetrics {
    /// New counters, registered in `registry`.
    pub fn register(registry: &mut Registry) -> Self {
        let metrics = Self::default();
        registry.register(
            "reviser_handover_waiting",
            "Answers that told no cluster to host an allocation, because the Work of its old one is still there",
            metrics.waiting.clone(),
        );
        registry.register(
            "reviser_handover_kept_behind",
            "Answers about an allocation that leaves a cluster which keeps the object (preserveResourcesOnDeletion)",
            metrics.kept_behind.clone(),
        );
        registry.register(
            "reviser_rules_skipped",
            "Rules that could not be applied, and were skipped because they say so (onError: Skip)",
            metrics.skipped.clone(),
        );
        metrics
    }

    pub(super) fn count(&self, skipped: &[SkippedRule], handovers: &[HandoverEvent]) {
        self.skipped.inc_by(skipped.len() as u64);
        for event in handovers {
            self.waiting.inc_by(event.waiting.into());
            self.kept_behind.inc_by(event.object_stays.into());
        }
    }
}
