//! The documents in the files that a user names: policies, state, objects.
//!
//! [`read`] takes files and directories and gathers everything that is wrong with any of them; what could be read is
//! there all the same, so that one look finds all faults. [`read_objects`] gives Kubernetes
//! objects one by one, and knows `-`. [`list`], [`read_bytes`] and [`parse`] are the steps of [`read`], for those who have to look between them.
//! A [`Fault`] is what is wrong with a document, told with its place.
//!
//! For files that are read again when they change, a [`Look`] tells whether they have, and [`read_still`] reads all of them as they
//! were at one moment.
//!
//! A directory is read flat: `*.yaml`, `*.yml` and `*.json`, links followed, names with a leading dot skipped (a
//! mounted `ConfigMap` holds `..data`). A file that is named itself is read whatever it is called. Files come in the
//! order of their paths, whatever the order of the arguments, and each is read once.
//!
//! This is an edge of the crate: it reads files and the standard input, when it is called and at no other time. What
//! the documents mean, and whether they may be what they are, is for others to say.

mod fault;
mod list;
mod look;
mod objects;
mod problem;
mod read;
mod still;

pub use fault::Fault;
pub use list::{Listing, list};
pub use look::Look;
pub use objects::{Object, Objects, read_objects};
pub use problem::{Cause, Problem};
pub use read::{File, MAX_FILE_BYTES, OWN_MAPPING, Reading, STDIN, parse, read, read_bytes};
pub use still::{Found, Still, read_still};
