//! A new file in the place of an old one, at one stroke.
//!
//! The steps are apart so that a test can stop after each: [`write`](Replacement::write),
//! [`sync`](Replacement::sync), [`publish`](Replacement::publish), [`sync_directory`]. Until the third the
//! old file is in its place, from then on the new one, which holds the same entries; the fourth makes sure
//! that it stays there.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write as _};
use std::path::{Path, PathBuf};

use super::format::{HEADER, write_record};
use super::identity::Identity;
use crate::state::memory::Entries;

/// What the name of a file that is being written ends with.
const TEMPORARY: &str = ".tmp";

/// A file that is to take the place of a ledger.
pub(super) struct Replacement {
    temporary: PathBuf,
    file: File,
    pub(super) identity: Identity,
    pub(super) bytes: u64,
    pub(super) records: usize,
}

impl Replacement {
    /// Writes `entries` beside `ledger`.
    pub(super) fn write(ledger: &Path, entries: &Entries) -> io::Result<Self> {
        remove_left_over(ledger)?;
        let temporary = sibling(ledger, TEMPORARY);
        let file = File::options().append(true).create_new(true).open(&temporary)?;
        match fs::metadata(ledger) {
            Ok(metadata) => file.set_permissions(metadata.permissions())?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
        let mut out = BufWriter::new(&file);
        out.write_all(HEADER.as_bytes())?;
        let mut bytes = HEADER.len() as u64;
        for (key, cluster) in entries.iter() {
            bytes += write_record(&mut out, &key, cluster)?;
        }
        out.flush()?;
        drop(out);
        let identity = Identity::of(&file)?;
        Ok(Self { temporary, file, identity, bytes, records: entries.len() })
    }

    pub(super) fn sync(&self) -> io::Result<()> {
        self.file.sync_all()
    }

    /// Puts the file in the place of `ledger`, where it is appended to from then on.
    pub(super) fn publish(self, ledger: &Path) -> io::Result<File> {
        fs::rename(&self.temporary, ledger)?;
        Ok(self.file)
    }
}

/// Makes sure that the name of `ledger` stands for the same file after a power failure.
pub(super) fn sync_directory(ledger: &Path) -> io::Result<()> {
    // `open` resolved the path, so that there is a parent; the root is its own.
    File::open(ledger.parent().unwrap_or(ledger))?.sync_all()
}

/// Removes what a replacement that did not come to its end has left.
pub(super) fn remove_left_over(ledger: &Path) -> io::Result<()> {
    match fs::remove_file(sibling(ledger, TEMPORARY)) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// The path of `ledger` with something behind its name.
pub(super) fn sibling(ledger: &Path, suffix: &str) -> PathBuf {
    let mut path = OsString::from(ledger);
    path.push(suffix);
    path.into()
}
