//! Metrics of the elected replica.

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct TouchLabels {
    result: &'static str,
}

/// Metrics of the elected replica. Clones share their values.
#[derive(Clone, Debug, Default)]
pub struct ControllerMetrics {
    leader: Gauge,
    touches: Family<TouchLabels, Counter>,
    stale: Gauge,
}

impl ControllerMetrics {
    /// New metrics, registered in `registry`.
    pub fn register(registry: &mut Registry) -> Self {
        let metrics = Self::default();
        for result in ["done", "unasked", "refused", "failed"] {
            drop(metrics.touches.get_or_create(&TouchLabels { result }));
        }
        registry.register("reviser_leader", "Whether this replica is elected", metrics.leader.clone());
        registry.register(
            "reviser_work_touches",
            "Works that were touched so that they are revised again, by what came of it",
            metrics.touches.clone(),
        );
        registry.register(
            "reviser_works_stale",
            "Works that are not as the policies say; 0 in replicas that are not elected",
            metrics.stale.clone(),
        );
        metrics
    }

    pub(super) fn set_leader(&self, leads: bool) {
        self.leader.set(leads.into());
        self.stale.set(0);
    }

    pub(super) fn count_touch(&self, result: &'static str) {
        self.touches.get_or_create(&TouchLabels { result }).inc();
    }

    pub(super) fn set_stale(&self, works: usize) {
        self.stale.set(i64::try_from(works).unwrap_or(i64::MAX));
    }
}
