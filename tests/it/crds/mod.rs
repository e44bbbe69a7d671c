//! The types that `manifests/crds` is made from: what an API server is given of the five kinds, with the
//! texts that `kubectl explain` shows.
//!
//! They read no document; `policy` does. The tests in `definitions` hold both to the same fields, words and
//! defaults, and to refusing whatever the schema refuses.
//!
//! The API server drops a null in an optional field, and `policy` takes it as missing. Where null is a value,
//! the field is required.

mod action;
mod definition;
mod fort;
mod free;
mod interpretation;
mod policy;
mod selector;
mod status;
mod transformation;

pub(crate) use definition::definitions;
