//! Reads policy files again when they change.
//!
//! The whole set is replaced at once. A set with a fault or an unreadable file is refused, and the last good
//! set stays active. Each refused state of the files is logged once, and `reviser_policies_stale` is 1
//! meanwhile.

use std::path::PathBuf;
use std::sync::atomic::AtomicI64;
use std::time::Duration;

use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;

use super::active_policies::ActivePolicies;
use super::policies::{LoadedPolicies, PolicySource, load_again};
use crate::documents::{Contents, Diagnostic, MAX_FILE_BYTES, StableRead, read_stable};
use crate::state::files::StateFiles;

/// How often the files are checked for changes.
const INTERVAL: Duration = Duration::from_secs(1);

pub(super) fn log_warnings(warnings: &[String]) {
    for warning in warnings {
        tracing::warn!(%warning, "policy warning");
    }
}

#[derive(Debug)]
pub(super) struct PolicyFiles {
    source: PolicySource,
    /// Why the current files are refused; empty if they are active.
    faults: Vec<String>,
    active: ActivePolicies,
    /// For warnings about unknown clusters.
    clusters: Option<StateFiles>,
    stale: Gauge<i64, AtomicI64>,
}

pub(super) fn register(registry: &mut Registry) -> Gauge<i64, AtomicI64> {
    let stale = Gauge::default();
    let help = "Whether the policy files are faulty, so that older policies are active";
    registry.register("reviser_policies_stale", help, stale.clone());
    stale
}

impl PolicyFiles {
    /// The policies from `source` are active.
    pub(super) fn new(
        source: PolicySource,
        active: ActivePolicies,
        clusters: Option<StateFiles>,
        stale: Gauge<i64, AtomicI64>,
    ) -> Self {
        Self { source, faults: Vec::new(), active, clusters, stale }
    }

    /// Never ends, unless reading panics.
    pub(super) async fn follow(mut self) {
        loop {
            tokio::time::sleep(INTERVAL).await;
            let reading = tokio::task::spawn_blocking(move || {
                self.read();
                self
            });
            match reading.await {
                Ok(files) => self = files,
                Err(error) => {
                    tracing::error!(%error, "policy files are no longer read again");
                    return;
                }
            }
        }
    }

    /// Activates the policies in the files if these have changed and are valid.
    fn read(&mut self) {
        if self.source.stamps.is_current() {
            return;
        }
        let StableRead { stamps, digest, contents } =
            read_stable(&self.source.paths, MAX_FILE_BYTES, self.source.digest);
        let loaded = match contents {
            Contents::Unchanged => None,
            Contents::Read(contents) => {
                let known = self.clusters.as_ref().map(StateFiles::cluster_names).unwrap_or_default();
                Some(load_again(&self.source.paths, &stamps, contents, &known))
            }
            Contents::Unstable(faults) => Some(Err(Diagnostic::texts(faults))),
        };
        let paths: Vec<PathBuf> = std::mem::take(&mut self.source.paths);
        self.source = PolicySource { paths, stamps, digest };
        match loaded {
            None => {}
            Some(Ok(loaded)) => self.activate(loaded),
            Some(Err(faults)) => self.refuse(faults),
        }
    }

    fn activate(&mut self, loaded: LoadedPolicies) {
        let LoadedPolicies { policies, documents, warnings, .. } = loaded;
        tracing::info!(documents, policies = policies.policies.len(), "policies read again");
        log_warnings(&warnings);
        self.active.replace(policies, Vec::new());
        self.faults.clear();
        self.stale.set(0);
    }

    fn refuse(&mut self, faults: Vec<String>) {
        self.stale.set(1);
        if faults != self.faults {
            tracing::warn!(
                error = faults.join("; "),
                "policy files refused: the last good policies stay active"
            );
            self.faults = faults;
        }
    }
}
