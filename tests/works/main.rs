//! The Work door under whole histories: what Karmada does with Works, simulated and recorded, and one checker over both.
//!
//! * `api`: an API server that holds Works and bindings and asks the door about every write, as Karmada's does.
//! * `karmada`: what Karmada's binding and execution controllers do with them.
//! * `checker`: what must hold after every write.
//! * `histories`: random histories of users, clusters, faults and restarts.

mod api;
mod checker;
mod histories;
mod karmada;
