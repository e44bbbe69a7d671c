//! The metrics of revisions.

use prometheus_client::{metrics::counter::Counter, registry::Registry};

use crate::service::Outcome;

/// Counters of skipped rules and handovers. Clones share the counters.
#[derive(Clone, Debug, Default)]
pub struct RevisionMetrics {
    waiting: Counter,
    kept_behind: Counter,
    skipped: Counter,
}

impl RevisionMetrics {
    pub fn register(registry: &mut Registry) -> Self {
        let metrics = Self::default();
        registry.register(
            "reviser_handover_waiting",
            "Answers in which no cluster hosts an allocation, because the Work of its old cluster still exists",
            metrics.waiting.clone(),
        );
        registry.register(
            "reviser_handover_kept_behind",
            "Answers about an allocation that moves away from a cluster that keeps the object (preserveResourcesOnDeletion)",
            metrics.kept_behind.clone(),
        );
        registry.register(
            "reviser_rules_skipped",
            "Rules that failed and were skipped, because they say onError: Skip",
            metrics.skipped.clone(),
        );
        metrics
    }

    pub(super) fn count<T>(&self, outcome: &Outcome<T>) {
        self.skipped.inc_by(outcome.skipped as u64);
        for handover in &outcome.handovers {
            self.waiting.inc_by(handover.waiting.into());
            self.kept_behind.inc_by(handover.object_stays.into());
        }
    }
}
