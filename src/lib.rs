//! reviser gives every member cluster its own version of a workload.
//!
//! The binary `reviser` is a thin shell around this library. What is where, who may use whom and why is
//! told in `ARCHITECTURE.md`; how to run it, in `README.md`.

pub mod documents;
pub mod domain;
pub mod json;
pub mod state;
pub mod yaml;
