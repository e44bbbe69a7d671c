//! Reads YAML as Kubernetes users write it into [`json::Value`](crate::json::Value), and writes it.
//!
//! [`documents`] reads the documents of a text; each comes with its [`Lines`], so that errors about a value
//! can name its line. [`write`](write()) prints a value as `kubectl` does. Values are read as by
//! `sigs.k8s.io/yaml`, the reader in kubectl and in Kubernetes controllers, including `yes`, `n` and `0777`.
//! A table of its results is part of the tests.
//!
//! Intended differences:
//!
//! * A key that is in one map twice is an error. `sigs.k8s.io/yaml` keeps the last one, or any.
//! * A number that is valid JSON keeps its spelling (`1.0` stays `1.0`), so it may have more digits than a
//!   double, or be out of its range (`1e400`). Other numbers are converted to JSON with all of their digits
//!   (`+1_000.50` is `1000.50`).
//! * `.inf` and `.nan`, which JSON does not have, are errors of the reader.
//! * The tags for JSON types (`!!str`, `!!int`, `!!float`, `!!bool`, `!!null`, `!!map`, `!!seq`),
//!   `!!timestamp` (a string), `!!merge` and `!` are supported. Any other tag is an error, including
//!   `!!binary`, and so is a tag that does not match its node.
//! * A text that starts with `{` or `[` is read as JSON, and as YAML only if it is not JSON. In YAML,
//!   brackets can be nested 255 deep; block style and JSON [`MAX_DEPTH`](crate::json::MAX_DEPTH).
//! * U+0085, U+2028 and U+2029 are errors unless they are escaped, because they end a line in YAML 1.1 but
//!   not in 1.2. A byte order mark is allowed only at the start.
//! * The grammar is YAML 1.2, which is in a few cases (comments and tabs in unusual places) stricter or more
//!   lenient than the YAML 1.1 of `sigs.k8s.io/yaml`. The table in the tests lists the known cases.
//! * Aliases are expanded up to a million nodes in one text.
//!
//! Two rules of `sigs.k8s.io/yaml` that surprise many users also apply: a merge (`<<`) replaces the keys
//! *before* it, and the keys after it replace its own; `y` and `n` are booleans, as values and as keys.
//!
//! Documents that are empty or `null` are skipped. No text causes a panic, and the use of stack is bounded.
//!
//! The module reads no files and is not specific to Kubernetes. It depends only on [`json`](crate::json).

mod build;
mod error;
mod lines;
mod read;
mod scalar;
mod source;
mod write;

#[cfg(test)]
mod tests;

pub use build::MAX_NODES;
pub use error::{Position, YamlError, YamlErrorKind};
pub use lines::{Lines, Reading, asks_for_a_string};
pub use read::{Document, documents};
pub use write::write;
