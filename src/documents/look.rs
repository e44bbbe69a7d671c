//! What the system says about files, to tell whether they have changed.

use std::fs::{self, Metadata};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::{Cause, Fault, Problem, list};

/// A file that was changed less than this before it was looked at may change again and show the same time: the clock of
/// the system that files are stamped with ticks every few milliseconds.
const TICK: Duration = Duration::from_millis(50);

/// The same where times have no fractions, as on some old file systems, which know seconds, or two of them.
const COARSE_TICK: Duration = Duration::from_millis(2_050);

/// How files are at one moment.
#[derive(Clone, Debug)]
pub struct Look {
    /// The files.
    pub files: Vec<PathBuf>,
    /// What is wrong with the paths to them.
    pub faults: Vec<Fault>,
    /// The directories in which there is nothing to read, told as faults. Whether that is one is for others to say.
    pub empty: Vec<Fault>,
    /// All that this depends on, as it is.
    places: Vec<(PathBuf, Option<Stamp>)>,
    /// Whether a later change is certain to show.
    settled: bool,
}

/// What changes when a file or a directory does. Links are followed, so one that is swung shows as well.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stamp {
    device: u64,
    inode: u64,
    size: u64,
    modified: (i64, i64),
    changed: (i64, i64),
}

impl Stamp {
    /// The stamp of what is at `path` now; `None` if it can't be looked at.
    fn of(path: &Path) -> Option<Self> {
        fs::metadata(path).ok().map(|metadata: Metadata| Self {
            device: metadata.dev(),
            inode: metadata.ino(),
            size: metadata.size(),
            modified: (metadata.mtime(), metadata.mtime_nsec()),
            changed: (metadata.ctime(), metadata.ctime_nsec()),
        })
    }

    /// Whether it is so old at `now` that every later change gets another one. The time of change can't be set from
    /// outside, unlike the time of modification.
    fn is_settled(&self, now: SystemTime) -> bool {
        let (seconds, nanos) = self.changed;
        let (Ok(seconds), Ok(nanos)) = (u64::try_from(seconds), u32::try_from(nanos)) else { return false };
        let tick = if nanos == 0 { COARSE_TICK } else { TICK };
        UNIX_EPOCH.checked_add(Duration::new(seconds, nanos) + tick).is_some_and(|settled| settled < now)
    }
}

impl Look {
    /// Looks at what `paths` name.
    pub fn at(paths: &[PathBuf]) -> Self {
        let now = SystemTime::now();
        let listing = list(paths);
        let is_empty = |problem: &&Problem| matches!(problem.cause(), Cause::EmptyDirectory);
        let (empty, wrong): (Vec<_>, Vec<_>) = listing.problems.iter().partition(is_empty);
        let faults = wrong.into_iter().map(Fault::from).collect();
        let empty = empty.into_iter().map(Fault::from).collect();
        let stamped = |path: PathBuf| (Stamp::of(&path), path);
        let places: Vec<_> =
            listing.places.into_iter().map(stamped).map(|(stamp, path)| (path, stamp)).collect();
        let settled = places.iter().all(|(_, stamp)| stamp.is_none_or(|stamp| stamp.is_settled(now)));
        Self { files: listing.files, faults, empty, places, settled }
    }

    /// Whether the files are certain to be as they were. A few microseconds for a file.
    pub fn is_current(&self) -> bool {
        self.settled && self.places.iter().all(|(path, stamp)| Stamp::of(path) == *stamp)
    }

    /// Whether both saw the same.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        self.files == other.files
            && self.faults == other.faults
            && self.empty == other.empty
            && self.places == other.places
    }

    /// The same, in which later changes may not show.
    pub(super) fn unsettled(self) -> Self {
        Self { settled: false, ..self }
    }
}
