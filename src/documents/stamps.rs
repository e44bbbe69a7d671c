//! Detects changes of files by their metadata.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::{Diagnostic, FileErrorKind, list};

/// The kernel takes timestamps from a clock that ticks every few milliseconds. A file that changed less than
/// this before its metadata was read may change again with the same timestamp.
const TICK: Duration = Duration::from_millis(50);

/// The same for file systems that store times in seconds, or in steps of two seconds.
const COARSE_TICK: Duration = Duration::from_millis(2_050);

/// The metadata of files at one moment.
#[derive(Clone, Debug)]
pub struct FileStamps {
    /// The files.
    pub files: Vec<PathBuf>,
    /// What is wrong with the given paths.
    pub errors: Vec<Diagnostic>,
    /// Directories without a file to read. Callers decide whether that is an error.
    pub empty_directories: Vec<Diagnostic>,
    dependencies: Vec<(PathBuf, Option<Stamp>)>,
    /// Whether each later change is certain to change the metadata.
    settled: bool,
}

/// Metadata that changes with a file or directory. Links are followed, so that a replaced link changes it
/// too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stamp {
    device: u64,
    inode: u64,
    size: u64,
    modified: (i64, i64),
    changed: (i64, i64),
}

impl Stamp {
    /// `None` if the metadata can't be read.
    fn of(path: &Path) -> Option<Self> {
        let metadata = fs::metadata(path).ok()?;
        Some(Self {
            device: metadata.dev(),
            inode: metadata.ino(),
            size: metadata.size(),
            modified: (metadata.mtime(), metadata.mtime_nsec()),
            changed: (metadata.ctime(), metadata.ctime_nsec()),
        })
    }

    /// Whether a change after `now` is certain to change the stamp. Uses ctime, because programs can set
    /// mtime.
    fn is_settled(&self, now: SystemTime) -> bool {
        let (seconds, nanos) = self.changed;
        let (Ok(seconds), Ok(nanos)) = (u64::try_from(seconds), u32::try_from(nanos)) else { return false };
        let tick = if nanos == 0 { COARSE_TICK } else { TICK };
        UNIX_EPOCH.checked_add(Duration::new(seconds, nanos) + tick).is_some_and(|settled| settled < now)
    }
}

impl FileStamps {
    /// Lists the files at `paths` and reads their metadata.
    pub fn read(paths: &[PathBuf]) -> Self {
        let now = SystemTime::now();
        let listing = list(paths);
        let (empty_directories, errors): (Vec<_>, Vec<_>) =
            listing.errors.iter().partition(|error| matches!(error.kind(), FileErrorKind::EmptyDirectory));
        let dependencies: Vec<_> = listing
            .dependencies
            .into_iter()
            .map(|path| (Stamp::of(&path), path))
            .map(|(stamp, path)| (path, stamp))
            .collect();
        let settled = dependencies.iter().all(|(_, stamp)| stamp.is_none_or(|stamp| stamp.is_settled(now)));
        Self {
            files: listing.files,
            errors: errors.into_iter().map(Diagnostic::from).collect(),
            empty_directories: empty_directories.into_iter().map(Diagnostic::from).collect(),
            dependencies,
            settled,
        }
    }

    /// Whether the files are certain to be unchanged. Takes a few microseconds for each file.
    pub fn is_current(&self) -> bool {
        self.settled && self.dependencies.iter().all(|(path, stamp)| Stamp::of(path) == *stamp)
    }

    pub(super) fn is_same(&self, other: &Self) -> bool {
        self.files == other.files
            && self.errors == other.errors
            && self.empty_directories == other.empty_directories
            && self.dependencies == other.dependencies
    }

    /// The same stamps, for which [`is_current`](Self::is_current) is always false.
    pub(super) fn unsettled(self) -> Self {
        Self { settled: false, ..self }
    }
}
