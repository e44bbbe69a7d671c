//! Webhook configurations that make callers send what the policies select, and the CustomResourceDefinitions.
//!
//! * [`InterpreterHook`] is for Karmada's interpreter, [`WorksHook`] for Karmada's Works, [`PodsHook`] and
//!   [`PodChaperonsHook`] for sources and targets of Admiralty, [`PoliciesHook`] for policies as custom
//!   resources. Their `yaml` gives what `kubectl apply` takes; it depends on the fields alone.
//! * [`HookUrl`] and [`CaBundle`] are user input that has been checked.
//! * [`kinds`] and [`selected`] say what the policies are about.
//! * [`crds`] are the CustomResourceDefinitions of the policies, as in `manifests/crds`.
//!
//! This module reads no files and no API server. The files in `manifests/karmada/{interpreter,works}`,
//! `manifests/policies` and `manifests/admiralty/{pods,podchaperons}` are its output for the built-in policy,
//! which tests compare.

mod admission;
mod bundle;
mod condition;
mod crds;
mod karmada;
mod selected;
mod url;
mod value;

pub use admission::{PodChaperonsHook, PodsHook, PoliciesHook, WorksHook};
pub use bundle::CaBundle;
pub use crds::crds;
pub use karmada::{InterpreterHook, kinds};
pub use selected::{Namespaces, selected};
pub use url::{HookUrl, UrlError};
