//! A server that reads from an API server: what has to have been read before it is ready.

use crate::server::Check;
use crate::state::kube::KubeState;

/// Whether all clusters have been read.
pub(super) fn clusters(state: &KubeState) -> Check {
    let state = state.clone();
    Check::new("clusters", move || {
        if state.is_synced() { Ok(()) } else { Err("have not been read from the API server yet".to_owned()) }
    })
}
