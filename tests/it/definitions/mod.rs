//! The definitions of custom resources: that the files are what the types give, and that the schemas and the
//! reader of policies say the same.
//!
//! What an API server makes of them is seen in `tests/cluster`.

mod defaults;
mod fields;
mod files;
#[path = "../../support/places.rs"]
mod places;
mod refused;
