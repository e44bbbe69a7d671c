//! Webhook configurations: what a caller has to be told so that it calls us, and for nothing else.
//!
//! * [`InterpreterHook`] is the one for Karmada's interpreter; its [`yaml`](InterpreterHook::yaml) is ready to be applied.
//! * [`HookUrl`] and [`CaBundle`] are what a user gives. One that Karmada would refuse, or misread, can't be made.
//! * [`kinds`] are the kinds that a set of policies is about.
//!
//! Values in, text out: no files and no API server. What operations there are, and the names of the wire, are those of
//! [`protocol`](crate::protocol), so that a configuration can't ask for what is not answered. The files under
//! `manifests/karmada` are what this module writes for the built-in example, and a test holds them to that.

mod bundle;
mod karmada;
mod url;

pub use bundle::CaBundle;
pub use karmada::{InterpreterHook, kinds};
pub use url::{HookUrl, UrlError};
