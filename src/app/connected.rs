//! A server with an API server: its readiness check for clusters, and leader election.

use std::time::Duration;

use super::active_policies::ActivePolicies;
use crate::apiserver::ApiServer;
use crate::controller::{self, ControllerMetrics, ElectionOptions};
use crate::server::{Check, Lifecycle, Phase};
use crate::state::kube::KubeState;

const LEASE_NAME: &str = "reviser";
const DEFAULT_NAMESPACE: &str = "reviser-system";

/// The fields are those of client-go's `LeaderElectionConfig`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ElectionConfig {
    /// The namespace of the Lease. Default: that of the pod, else `reviser-system`.
    pub namespace: Option<String>,
    pub lease_duration: Duration,
    pub renew_deadline: Duration,
    pub retry_period: Duration,
}

/// Fails until all clusters have been read.
pub(super) fn clusters_check(state: &KubeState) -> Check {
    let state = state.clone();
    Check::new("clusters", move || {
        if state.is_synced() { Ok(()) } else { Err("have not been read from the API server yet".to_owned()) }
    })
}

pub(super) fn election_options(config: ElectionConfig, server: &ApiServer) -> ElectionOptions {
    let ElectionConfig { namespace, lease_duration, renew_deadline, retry_period } = config;
    let default_namespace = || server.pod_namespace().unwrap_or(DEFAULT_NAMESPACE).to_owned();
    ElectionOptions {
        namespace: namespace.unwrap_or_else(default_namespace),
        name: LEASE_NAME.to_owned(),
        identity: controller::identity(),
        lease_duration,
        renew_deadline,
        retry_period,
    }
}

/// Runs the controller, with leader election, from when there are policies until the process drains.
pub(super) async fn run_controller(
    server: ApiServer,
    active: ActivePolicies,
    options: ElectionOptions,
    metrics: ControllerMetrics,
    lifecycle: Lifecycle,
) {
    let draining = lifecycle.reached(Phase::Draining);
    tokio::pin!(draining);
    // Without policies the controller would undo all revisions.
    let policies = tokio::select! {
        () = &mut draining => return,
        policies = active.subscribe() => policies,
    };
    controller::run(server, active.service(), policies, options, metrics, draining).await;
}
