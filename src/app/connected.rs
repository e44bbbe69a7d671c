//! A server that reads from an API server: what has to have been read before it is ready, and the election of one replica.

use std::time::Duration;

use super::in_force::InForce;
use crate::apiserver::ApiServer;
use crate::controller::{self, ControllerMetrics, ElectionOptions};
use crate::server::{Check, Lifecycle, Phase};
use crate::state::kube::KubeState;

/// What the lease is called.
const LEASE: &str = "reviser";

/// The namespace of the lease where nothing says another one.
const NAMESPACE: &str = "reviser-system";

/// How one of several replicas is elected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Election {
    /// The namespace that the lease is in; without it, that of the pod, or `reviser-system`.
    pub namespace: Option<String>,
    /// How long others wait for a leader that they have not heard from.
    pub lease_duration: Duration,
    /// How long a leader goes on without having renewed its lease.
    pub renew_deadline: Duration,
    /// How long to wait between two attempts.
    pub retry_period: Duration,
}

/// Whether all clusters have been read.
pub(super) fn clusters(state: &KubeState) -> Check {
    let state = state.clone();
    Check::new("clusters", move || {
        if state.is_synced() { Ok(()) } else { Err("have not been read from the API server yet".to_owned()) }
    })
}

/// The election that was asked for.
pub(super) fn election(asked: Election, server: &ApiServer) -> ElectionOptions {
    let Election { namespace, lease_duration, renew_deadline, retry_period } = asked;
    let own = || server.pod_namespace().unwrap_or(NAMESPACE).to_owned();
    ElectionOptions {
        namespace: namespace.unwrap_or_else(own),
        name: LEASE.to_owned(),
        identity: controller::identity(),
        lease_duration,
        renew_deadline,
        retry_period,
    }
}

/// Stands for election once policies are known, until the process is to end.
pub(super) async fn stand(
    server: ApiServer,
    in_force: InForce,
    options: ElectionOptions,
    metrics: ControllerMetrics,
    lifecycle: Lifecycle,
) {
    let ending = lifecycle.reached(Phase::Draining);
    tokio::pin!(ending);
    // Who does not know the policies does not know what is to be undone either.
    let policies = tokio::select! {
        () = &mut ending => return,
        policies = in_force.subscribe() => policies,
    };
    controller::run(server, in_force.service(), policies, options, metrics, ending).await;
}
