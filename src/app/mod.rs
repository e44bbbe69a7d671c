//! The composition root: combines policies, ledger, state, service, doors and server, for `serve`, `check`
//! and `preview`.

mod active_policies;
mod check;
mod connected;
mod custom;
mod policies;
mod reload;
mod serve;
mod state;
mod trial;

pub use check::{CheckInput, Checked, check};
pub use connected::ElectionConfig;
pub use policies::{LoadedPolicies, load, load_for};
pub use serve::{LedgerChoice, ServeConfig, ServeError, State, serve};
pub use trial::{ClusterLabels, KnownClusters, ParsedObject, TrialObject, TrialObjects, without_template};
