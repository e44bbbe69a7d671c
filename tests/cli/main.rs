//! The commands as their users see them: exit code, stdout and stderr of the real program.

#![expect(
    clippy::panic,
    clippy::unwrap_used,
    reason = "clippy lets tests do so, but does not take the helpers of a test for one"
)]

mod admiralty;
mod admissions;
mod certs;
mod chaperons;
mod check;
mod check_clusters;
mod check_objects;
mod check_repeated;
mod clusters;
mod completion;
mod explain;
mod files;
mod flags;
mod help;
#[path = "../support/https.rs"]
mod https;
mod log;
mod manifests;
mod platform_keys;
mod policies;
mod preview;
mod preview_objects;
#[path = "../support/process.rs"]
mod process;
mod serve;
mod state;
mod transformations;
mod usage;
