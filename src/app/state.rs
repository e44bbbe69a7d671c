//! State files in a server that runs: looked at now and then, and watched by a metric.

use std::fmt;
use std::time::Duration;

use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric as _};
use prometheus_client::metrics::gauge::ConstGauge;
use prometheus_client::registry::Registry;

use crate::state::files::StateFiles;

/// How often files are looked at that nobody asks about. Lookups look by themselves; this is for the log and the metric.
const INTERVAL: Duration = Duration::from_secs(10);

/// Registers the metric of `files`.
pub(super) fn register(files: &StateFiles, registry: &mut Registry) {
    registry.register_collector(Box::new(Staleness(files.clone())));
}

/// Looks at `files` now and then, for ever.
pub(super) async fn follow(files: StateFiles) {
    loop {
        tokio::time::sleep(INTERVAL).await;
        files.look().await;
    }
}

/// Whether the files are not what is in force.
#[derive(Debug)]
struct Staleness(StateFiles);

impl Collector for Staleness {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), fmt::Error> {
        let gauge = ConstGauge::new(i64::from(self.0.is_stale()));
        let help = "Whether the state files are faulty, so that older ones are in force";
        gauge.encode(encoder.encode_descriptor("reviser_state_stale", help, None, gauge.metric_type())?)
    }
}
