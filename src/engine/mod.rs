//! What an object means and what becomes of it: values in, values out.
//!
//! No clock, no files, no network, no log, and no order that depends on hashing.

pub mod requirements;
