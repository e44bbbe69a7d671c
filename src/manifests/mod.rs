//! Webhook configurations: what a caller has to be told so that it calls us, and for nothing else.
//!
//! * [`InterpreterHook`] is the one for Karmada's interpreter, [`WorksHook`] the one for the admission of Karmada's Works,
//!   [`PodsHook`] and [`PodChaperonsHook`] those for sources and targets of Admiralty, [`PoliciesHook`] the one for our own custom resources;
//!   what their `yaml` gives is ready to be applied.
//! * [`HookUrl`] and [`CaBundle`] are what a user gives. One that Karmada would refuse, or misread, can't be made.
//! * [`crds`] are the definitions of our own custom resources, the files in `manifests/crds`.
//! * [`kinds`] are the kinds that a set of policies is about, [`selected`] those of them that a policy may select.
//!
//! Values in, text out: no files and no API server. What operations there are, and the names of the wire, are those of
//! [`protocol`](crate::protocol), so that a configuration can't ask for what is not answered. The files in
//! `manifests/karmada/{interpreter,works}`, `manifests/policies` and `manifests/admiralty/{pods,podchaperons}` are what this module writes for the built-in example, and tests
//! hold them to that.

mod admiralty;
mod build;
mod bundle;
mod condition;
mod crds;
mod karmada;
mod policies;
mod selected;
mod url;
mod works;

pub use admiralty::{PodChaperonsHook, PodsHook};
pub use bundle::CaBundle;
pub use crds::crds;
pub use karmada::{InterpreterHook, kinds};
pub use policies::PoliciesHook;
pub use selected::{Namespaces, selected};
pub use url::{HookUrl, UrlError};
pub use works::WorksHook;
