//! The composition root: puts policies, ledger, state, service, doors and server together, and runs them.

mod check;
mod connected;
mod custom;
mod in_force;
mod policies;
mod reload;
mod serve;
mod state;
mod trial;

pub use check::{CheckInput, Checked, check};
pub use connected::Election;
pub use policies::{Loaded, load, load_for};
pub use serve::{LedgerChoice, ServeConfig, ServeError, State, serve};
pub use trial::{ClusterLabels, KnownClusters, Parsed, TrialObject, TrialObjects, without_template};
