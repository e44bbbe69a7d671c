//! Karmada's interpreter protocol: `ResourceInterpreterContext`, `config.karmada.io/v1alpha1`.
//!
//! Decoding goes in two steps, the envelope first and the question second, so that the uid is echoed whenever it
//! can be read: [`decode`] fails only where there is no uid to answer to ([`Unreadable`]); everything else that is wrong
//! with a request is the failure that its reply carries. [`encode`] needs the [`Head`] that decoding gave, so a
//! reply without a uid can't be made.
//!
//! Source: karmada-io/karmada@f8fdd02 `pkg/apis/config/v1alpha1/interpretercontext_types.go`; `ReviseObject` and its fields are the
//! proposal of karmada#3436.

mod decode;
mod encode;

#[cfg(test)]
mod tests;

pub use decode::{Decoded, Head, Subject, decode, parse};
pub use encode::encode;

pub use super::envelope::Unreadable;

/// `apiVersion` of the envelope.
pub const API_VERSION: &str = "config.karmada.io/v1alpha1";

/// `kind` of the envelope.
pub const KIND: &str = "ResourceInterpreterContext";

/// The operations that are answered.
pub const ANSWERED: &[&str] = &["InterpretReplica", "ReviseReplica", "ReviseObject"];

/// Those of them that Karmada has today, and that a configuration for it may name. `ReviseObject` is only proposed:
/// Karmada's validation refuses the name.
pub const STOCK_KARMADA: &[&str] = &["InterpretReplica", "ReviseReplica"];

/// The operations that Karmada has and that are not answered.
const NOT_ANSWERED: &[&str] = &[
    "InterpretComponent",
    "Retain",
    "AggregateStatus",
    "InterpretStatus",
    "InterpretHealth",
    "InterpretDependency",
    "Prune",
];

/// The operation's name out of the closed set of those that exist, for labels.
fn label(operation: &str) -> Option<&'static str> {
    ANSWERED.iter().chain(NOT_ANSWERED).copied().find(|known| *known == operation)
}
