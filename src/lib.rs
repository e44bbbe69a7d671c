//! reviser gives every member cluster its own version of a workload.
//!
//! The binary `reviser` is a thin shell around this library. `ARCHITECTURE.md` describes its modules and
//! their dependencies, `README.md` how to run it.

pub mod apiserver;
pub mod app;
pub mod certs;
pub mod cli;
pub mod controller;
pub mod documents;
pub mod domain;
pub mod doors;
pub mod engine;
pub mod expression;
pub mod json;
pub mod manifests;
pub mod patch;
pub mod policy;
pub mod schema;
pub mod server;
pub mod service;
pub mod state;
pub mod telemetry;
pub mod work;
pub mod yaml;
