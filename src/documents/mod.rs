//! Reads the YAML and JSON files that a user gives: policies, state, objects.
//!
//! [`read`] reads files and directories, and returns all errors together with the files that could be read.
//! [`read_objects`] returns the Kubernetes objects in files, including list items, and reads standard input
//! for `-`. A [`Diagnostic`] is an error or a warning with its file, document, line and field.
//!
//! To read files again when they change, [`FileStamps`] detects changes and [`read_stable`] reads a
//! consistent state of all files.
//!
//! Directories are read without their subdirectories: `*.yaml`, `*.yml` and `*.json`. Links are followed, and
//! names with a leading dot are skipped (a mounted `ConfigMap` has `..data`). A file that is given itself may
//! have any name. Files are ordered by path, and each is read once.

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
