//! `reviser serve`.

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::time::Duration;

use super::args::ServeArgs;
use super::exit::CliError;
use crate::apiserver::Access;
use crate::app::{self, ElectionConfig, ServeConfig, State};
use crate::state::files::StateFiles;
use crate::telemetry;

pub(super) fn run(arguments: ServeArgs) -> Result<(), CliError> {
    let _log = telemetry::init(arguments.log_format, &arguments.log_level).map_err(CliError::failed)?;
    let access = match arguments.kubeconfig {
        Some(path) => Some(Access::Kubeconfig(path)),
        None => arguments.in_cluster.then_some(Access::InCluster),
    };
    let state = match access {
        Some(access) => State::Server(access),
        None if arguments.state.is_empty() => State::Unknown,
        None => State::Files(StateFiles::open(arguments.state).map_err(CliError::refused_state)?),
    };
    let policies = arguments.policies.policies;
    let loaded = if matches!(state, State::Server(_)) && policies.is_empty() {
        None
    } else {
        let known = match &state {
            State::Files(files) => files.cluster_names(),
            State::Unknown | State::Server(_) => BTreeSet::new(),
        };
        Some(app::load_for(&policies, &known).map_err(CliError::refused_policies)?)
    };
    let election = ElectionConfig {
        namespace: arguments.leader_elect_resource_namespace,
        lease_duration: arguments.leader_elect_lease_duration,
        renew_deadline: arguments.leader_elect_renew_deadline,
        retry_period: arguments.leader_elect_retry_period,
    };
    if election.retry_period >= election.renew_deadline || election.renew_deadline >= election.lease_duration
    {
        return Err(CliError::usage(
            "set --leader-elect-retry-period below --leader-elect-renew-deadline, and that below --leader-elect-lease-duration",
        ));
    }
    let config = ServeConfig {
        secure_address: SocketAddr::new(arguments.bind_address, arguments.secure_port),
        admin_address: arguments.admin_bind_address,
        certificate_directory: arguments.cert_dir,
        client_ca_file: arguments.client_ca_file,
        loaded,
        ledger: arguments.ledger,
        election,
        state,
        max_body_bytes: arguments.max_body_bytes,
        memory_budget: arguments.memory_budget,
        drain: Duration::from_secs(arguments.drain_seconds.into()),
    };
    let runtime = tokio::runtime::Runtime::new().map_err(CliError::failed)?;
    runtime.block_on(app::serve(config)).map_err(CliError::failed)
}
