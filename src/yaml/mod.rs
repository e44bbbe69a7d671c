//! YAML as Kubernetes users write it, to [`json::Value`](crate::json::Value) and back.
//!
//! [`documents`] reads a text of any number of documents; each comes with its [`Lines`], so that errors about a value
//! can name its line. [`write`](write()) prints a value the way `kubectl` does.
//! What `sigs.k8s.io/yaml` (the reader in kubectl and in every Kubernetes controller) makes of a text is what we make
//! of it, down to `yes`, `n` and `0777`; a table of its answers is part of the tests.
//!
//! Where we differ, on purpose:
//!
//! * A key that is there twice in one map is an error; there the last one wins, or any.
//! * A number that is spelled as JSON spells one keeps its spelling (`1.0` stays `1.0`), and so its digits beyond
//!   what a double holds, and its size (`1e400` is a number). Other numbers become JSON with the digits that they
//!   have (`+1_000.50` is `1000.50`).
//! * `.inf` and `.nan`, which JSON cannot say, are errors here, not only later.
//! * Tags are the ones that name a JSON type (`!!str`, `!!int`, `!!float`, `!!bool`, `!!null`, `!!map`, `!!seq`),
//!   `!!timestamp` (a string), `!!merge` and `!`. Any other is an error, `!!binary` included, and so is one that
//!   does not fit what it stands before.
//! * A text that begins with `{` or `[` is read as JSON first, and as YAML only if it is not JSON. As YAML, brackets
//!   can be nested 255 deep, indented or JSON text [`MAX_DEPTH`](crate::json::MAX_DEPTH).
//! * U+0085, U+2028 and U+2029, which end a line in YAML 1.1 and do not in 1.2, are refused (as escapes they are
//!   fine), and so is a byte order mark anywhere but at the start.
//! * The grammar is that of YAML 1.2, in whose corners (a comment or a tab in an odd place) it is now stricter, now
//!   more lenient than the 1.1 of the other reader. The table in the tests lists what we know of.
//! * Aliases are expanded up to a million nodes in one text, whatever its size.
//!
//! As there, and surprising to many: a merge (`<<`) counts where it stands, so that it replaces the keys *before* it
//! and yields to those after it; single letters `y` and `n` are booleans, as values and as keys.
//!
//! Documents that are empty, or `null`, are skipped. No text panics, and none uses more than a bounded piece of stack.
//!
//! This module reads no files and is not specific to Kubernetes; of the crate it uses only [`json`](crate::json).

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
