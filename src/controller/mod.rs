//! The elected replica: it has Works revised again when policies change, writes the `status` of policies, and
//! removes allocations that no policy defines from the ledger.
//!
//! * [`planner`] decides which Works to touch when. Pure.
//! * `election` elects one replica by a `Lease`. Its `terms` are pure.
//! * `driver` watches, touches and writes.
//! * `status` computes the `status` of a policy. Pure.
//!
//! A touch is a merge patch of `{}`: the API server calls the Work door, which revises the Work. The
//! controller never writes the content of a Work, so two replicas that both act as elected only do the work
//! twice.
//!
//! It stops before another replica can be elected. The number of calls at a time and in a second is limited,
//! failed calls are repeated with exponential backoff, and Works that are in sync are not touched.

mod driver;
mod election;
mod metrics;
pub mod planner;
mod policies;
mod status;
mod statuses;

use std::sync::Arc;

use tokio::sync::watch;

use crate::apiserver::ApiServer;
use crate::service::Service;

pub use election::{ElectionOptions, identity};
pub use metrics::ControllerMetrics;
pub use policies::{Policies, PolicyResource};

/// Takes part in the election, and does the work of the elected replica while it is elected, until
/// `shutdown`.
///
/// `policies` are the policies that the doors use. They have to be complete from the beginning: the revisions
/// of a missing policy would be undone.
pub async fn run(
    server: ApiServer,
    service: Arc<Service>,
    policies: watch::Receiver<Arc<Policies>>,
    options: ElectionOptions,
    metrics: ControllerMetrics,
    shutdown: impl Future<Output = ()>,
) {
    let tell = |leads| metrics.set_leader(leads);
    let work = || driver::drive(&server, &service, policies.clone(), &metrics);
    election::stand(&server, &options, shutdown, tell, work).await;
}
