//! What the one elected replica does: it sees to it that the Works that are stored are as the policies say, without anybody writing
//! them; it writes the `status` of policies; it clears what is left of allocations that no policy names.
//!
//! * [`planner`] decides which Works are to be touched when. Pure.
//! * `election` says which replica does it. Its `terms` are pure.
//! * `driver` watches, touches and writes.
//! * `status` is what a policy is told about itself. Pure.
//!
//! It judges and touches; it never writes a Work itself. A touch is a merge patch of `{}`: the API server asks the Work door, which
//! answers as it answers everybody. So nothing here has to be right for a revision to be right, and two replicas that
//! both think they are elected do no harm but work.
//!
//! What holds: it does nothing unless elected, and stops before another replica can be; a bounded number of calls at a time
//! and in a second; what fails is repeated later and later; what needs nothing is not touched.

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

/// Stands for election, and does the work of the elected replica while it is that, until `shutdown`.
///
/// `policies` are those that the doors answer by, told of after they have been put in force. They have to be complete from the
/// beginning: a policy that is not there yet would be undone.
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
