//! Writes certificates and keys into a directory.

use std::{
    fs, io,
    io::Write as _,
    os::unix::fs::OpenOptionsExt as _,
    path::{Path, PathBuf},
};

use super::CertsError;

/// A file to write.
#[derive(Clone, Copy)]
pub struct NewFile<'a> {
    /// The file name, without a directory.
    pub name: &'a str,
    /// The content of the file.
    pub contents: &'a [u8],
    /// Whether only the owner may read the file.
    pub secret: bool,
}

impl std::fmt::Debug for NewFile<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("NewFile")
            .field("name", &self.name)
            .field("secret", &self.secret)
            .finish_non_exhaustive()
    }
}

/// Writes `files` into `directory`, which is created if it is missing.
///
/// Writes nothing if one of the files exists and `overwrite` is false. Each file is renamed into place when
/// it is complete, so a server that watches the directory never reads a partial file. Other users can never
/// read a secret file, not even while it is written.
pub fn write_files(directory: &Path, files: &[NewFile<'_>], overwrite: bool) -> Result<(), CertsError> {
    if !overwrite {
        for file in files {
            let path = directory.join(file.name);
            // A dangling symbolic link counts as existing.
            if path.symlink_metadata().is_ok() {
                return Err(CertsError::Exists { path });
            }
        }
    }
    fs::create_dir_all(directory)
        .map_err(|source| CertsError::Write { path: directory.to_owned(), source })?;
    let mut staged = Staged(Vec::new());
    for file in files {
        let path = directory.join(file.name);
        let temporary = directory.join(format!(".{}.{}.tmp", file.name, std::process::id()));
        staged.0.push(temporary.clone());
        write_new(&temporary, file).map_err(|source| CertsError::Write { path, source })?;
    }
    for (file, temporary) in files.iter().zip(&staged.0) {
        let path = directory.join(file.name);
        fs::rename(temporary, &path).map_err(|source| CertsError::Write { path, source })?;
    }
    Ok(())
}

fn write_new(path: &Path, file: &NewFile<'_>) -> io::Result<()> {
    let mode = if file.secret { 0o600 } else { 0o644 };
    let mut options = fs::OpenOptions::new();
    options.write(true).create_new(true).mode(mode);
    let mut target = match options.open(path) {
        // Left by a run that was killed.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            fs::remove_file(path)?;
            options.open(path)?
        }
        opened => opened?,
    };
    target.write_all(file.contents)?;
    target.sync_all()
}

/// Temporary files. Those that have not been renamed are removed on drop.
struct Staged(Vec<PathBuf>);

impl Drop for Staged {
    fn drop(&mut self) {
        for path in &self.0 {
            // Most have been renamed and no longer exist.
            fs::remove_file(path).unwrap_or_default();
        }
    }
}
