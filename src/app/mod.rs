//! The composition root: puts policies, ledger, service, doors and server together, and runs them.

mod policies;
mod serve;

pub use policies::{Loaded, load};
pub use serve::{LedgerChoice, ServeConfig, ServeError, serve};
