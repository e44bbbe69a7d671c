//! State files: their use by the service, their check for changes, and their metric.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric as _};
use prometheus_client::metrics::gauge::ConstGauge;
use prometheus_client::registry::Registry;

use crate::service::Service;
use crate::state::files::StateFiles;

/// Lookups check for changes themselves; this is for the log and the metric when there are no requests.
const INTERVAL: Duration = Duration::from_secs(10);

/// The service with bindings, Works and clusters from `files`.
pub(super) fn with_files(service: Service, files: &StateFiles) -> Service {
    let files = Arc::new(files.clone());
    service.with_state(files.clone(), files.clone()).with_clusters(files)
}

pub(super) fn register(files: &StateFiles, registry: &mut Registry) {
    registry.register_collector(Box::new(Staleness(files.clone())));
}

/// Reads `files` again when they have changed; never ends.
pub(super) async fn follow(files: StateFiles) {
    loop {
        tokio::time::sleep(INTERVAL).await;
        files.refresh().await;
    }
}

/// 1 if the files are faulty and older ones are used.
#[derive(Debug)]
struct Staleness(StateFiles);

impl Collector for Staleness {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), fmt::Error> {
        let gauge = ConstGauge::new(i64::from(self.0.is_stale()));
        let help = "Whether the state files are faulty, so that an older version is used";
        gauge.encode(encoder.encode_descriptor("reviser_state_stale", help, None, gauge.metric_type())?)
    }
}
