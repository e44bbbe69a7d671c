//! The front doors: bytes through a protocol to the service and back, and the line in the log.
//!
//! One file a door. A door decides nothing: what a request means is the protocol's to say, what it gets the
//! service's, and what HTTP has to do with it the server's.

mod interpreter;

pub use interpreter::Interpreter;
