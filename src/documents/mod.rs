//! Reads the YAML and JSON files that a user names: policies, state, objects.
//!
//! [`read`] reads files and directories, and collects all errors beside what could be read. [`read_objects`] gives the
//! Kubernetes objects in files, list items included, and reads standard input for `-`. A [`Diagnostic`] is an error or a
//! warning with its file, document, line and field.
//!
//! For files that are read again when they change, [`FileStamps`] says whether they have, and [`read_stable`] reads all of
//! them as they were at one moment.
//!
//! Directories are read without their subdirectories: `*.yaml`, `*.yml` and `*.json`, links followed, names with a leading
//! dot skipped (a mounted `ConfigMap` has `..data`). A file that is named itself may have any name. Files are ordered by
//! path, and each is read once.

mod diagnostic;
mod error;
mod list;
mod objects;
mod read;
mod stable;
mod stamps;

pub use diagnostic::Diagnostic;
pub use error::{FileError, FileErrorKind};
pub use list::{Listing, list};
pub use objects::{Object, Objects, read_objects};
pub use read::{File, Files, MAX_FILE_BYTES, STDIN, parse, read, read_bytes};
pub use stable::{Contents, StableRead, read_stable};
pub use stamps::FileStamps;
