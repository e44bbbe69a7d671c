//! `reviser` as its users have it: the program in a process of its own, and bytes over TLS to it.
//!
//! Not a test. Each of the test binaries that work on the whole program includes it, or only `server`.

pub(crate) mod server;
pub(crate) mod wire;
