//! Policy files in a server that runs: read again when they change.
//!
//! The whole set changes at once. One that has a fault anywhere, or that can't be read, changes nothing: the last good one stays
//! in force until the files are mended. Each such state of the files is logged once, and a metric says that there is one.

use std::path::PathBuf;
use std::sync::atomic::AtomicI64;
use std::time::Duration;

use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;

use super::in_force::InForce;
use super::policies::{Loaded, Seen, load_again};
use crate::documents::{Fault, Found, MAX_FILE_BYTES, Still, read_still};
use crate::state::files::StateFiles;

/// How often the files are looked at. Unlike state, policies may be a moment old.
const INTERVAL: Duration = Duration::from_secs(1);

/// Logs what is strange about policies that are put in force.
pub(super) fn warn(warnings: &[String]) {
    for warning in warnings {
        tracing::warn!(%warning, "a policy is strange; `reviser check` tells the same");
    }
}

/// Policy files, as they were seen last.
#[derive(Debug)]
pub(super) struct PolicyFiles {
    seen: Seen,
    /// What was wrong with them. Then the set that is in force is an older one.
    faults: Vec<String>,
    in_force: InForce,
    /// Where clusters are known, for warnings.
    clusters: Option<StateFiles>,
    stale: Gauge<i64, AtomicI64>,
}

/// Registers the metric for policies that are older than their files.
pub(super) fn register(registry: &mut Registry) -> Gauge<i64, AtomicI64> {
    let stale = Gauge::default();
    let help = "Whether the policy files are faulty, so that older policies are in force";
    registry.register("reviser_policies_stale", help, stale.clone());
    stale
}

impl PolicyFiles {
    /// Files of which `seen` is in force.
    pub(super) fn new(
        seen: Seen,
        in_force: InForce,
        clusters: Option<StateFiles>,
        stale: Gauge<i64, AtomicI64>,
    ) -> Self {
        Self { seen, faults: Vec::new(), in_force, clusters, stale }
    }

    /// Looks at the files every now and then, for ever.
    pub(super) async fn follow(mut self) {
        loop {
            tokio::time::sleep(INTERVAL).await;
            let looking = tokio::task::spawn_blocking(move || {
                self.look();
                self
            });
            match looking.await {
                Ok(looked) => self = looked,
                Err(error) => {
                    tracing::error!(%error, "the policy files are not read again any more");
                    return;
                }
            }
        }
    }

    /// Looks at the files, and puts what they say in force if it is another set than before, and well.
    fn look(&mut self) {
        if self.seen.look.is_current() {
            return;
        }
        let Still { look, digest, found } = read_still(&self.seen.paths, MAX_FILE_BYTES, self.seen.digest);
        let loaded = match found {
            Found::Same => None,
            Found::Contents(contents) => {
                let known = self.clusters.as_ref().map(StateFiles::cluster_names).unwrap_or_default();
                Some(load_again(&self.seen.paths, &look, contents, &known))
            }
            Found::Restless(faults) => Some(Err(Fault::texts(faults))),
        };
        let paths: Vec<PathBuf> = std::mem::take(&mut self.seen.paths);
        self.seen = Seen { paths, look, digest };
        match loaded {
            None => {}
            Some(Ok(loaded)) => self.take(loaded),
            Some(Err(faults)) => self.refuse(faults),
        }
    }

    fn take(&mut self, loaded: Loaded) {
        let Loaded { policies, documents, warnings, .. } = loaded;
        tracing::info!(documents, policies = policies.policies.len(), "policies read again");
        warn(&warnings);
        self.in_force.put(policies, Vec::new());
        self.faults.clear();
        self.stale.set(0);
    }

    fn refuse(&mut self, faults: Vec<String>) {
        self.stale.set(1);
        if faults != self.faults {
            tracing::warn!(
                error = faults.join("; "),
                "the policies are refused: the last good ones stay in force until they are mended"
            );
            self.faults = faults;
        }
    }
}
