//! Files that are deleted, replaced or changed while the ledger is open.

use std::fs::File;
use std::io::Write as _;
use std::os::unix::fs::symlink;

use super::*;

/// A ledger with one entry, `a` in `x`.
fn ledger_in(path: &Path) -> FileLedger {
    let ledger = FileLedger::open(path).expect("a ledger");
    put(&ledger, "a", "x").expect("a usable ledger");
    ledger
}

/// Asserts that every write fails with `what`, and that reads still work.
fn refuses(ledger: &FileLedger, what: &str) {
    for name in ["a", "b", "b"] {
        let error = put(ledger, name, "y").unwrap_err();
        let (action, reason) = (error.to_string(), error.source.to_string());
        assert!(action.contains(ledger.path.to_str().unwrap()), "{action}");
        assert!(reason.starts_with(&format!("the file {what}; ")), "{reason}");
        assert!(reason.contains("restore it from a backup and restart reviser"), "{reason}");
        assert!(reason.contains("to start with an empty ledger move away what is there"), "{reason}");
        assert_eq!(entries(ledger), model(&[("a", "x")]));
    }
}

#[test]
fn nothing_is_written_to_a_file_that_was_deleted() {
    let (_directory, path) = place();
    let ledger = ledger_in(&path);
    fs::remove_file(&path).unwrap();
    refuses(&ledger, "was deleted");
    assert!(!path.exists());
}

#[test]
fn nothing_is_written_when_the_directory_was_deleted() {
    let (directory, _) = place();
    let inner = directory.path().join("inner");
    fs::create_dir(&inner).unwrap();
    let ledger = ledger_in(&inner.join("ledger"));
    fs::remove_dir_all(&inner).unwrap();
    refuses(&ledger, "was deleted");
    fs::write(&inner, "no directory").unwrap();
    refuses(&ledger, "was deleted");
}

#[test]
fn nothing_is_written_when_another_file_is_in_the_place() {
    let (directory, path) = place();
    let ledger = ledger_in(&path);
    let aside = directory.path().join("aside");
    fs::rename(&path, &aside).unwrap();
    let written = fs::read(&aside).unwrap();
    // A copy of the file, or a link to it, is a different file.
    fs::copy(&aside, &path).unwrap();
    refuses(&ledger, "was replaced by another file");
    assert_eq!(fs::read(&path).unwrap(), written);
    fs::remove_file(&path).unwrap();
    symlink(&aside, &path).unwrap();
    refuses(&ledger, "was replaced by another file");
    assert_eq!(fs::read(&aside).unwrap(), written);
}

#[test]
fn nothing_is_written_to_a_file_that_was_truncated() {
    let (_directory, path) = place();
    let ledger = ledger_in(&path);
    let whole = fs::read(&path).unwrap();
    for len in [0, whole.len() - 1] {
        File::options().write(true).open(&path).unwrap().set_len(len as u64).unwrap();
        refuses(&ledger, &format!("has {len} bytes, but {} were written", whole.len()));
        assert_eq!(fs::metadata(&path).unwrap().len(), len as u64);
        // Restores the content in place, as some backup programs do.
        fs::write(&path, &whole).unwrap();
    }
    put(&ledger, "b", "y").unwrap();
    drop(ledger);
    assert_eq!(found(&path), model(&[("a", "x"), ("b", "y")]));
}

#[test]
fn nothing_is_written_to_a_file_that_another_process_wrote_to() {
    let (_directory, path) = place();
    let ledger = ledger_in(&path);
    let written = fs::metadata(&path).unwrap().len();
    File::options().append(true).open(&path).unwrap().write_all(b"more\n").unwrap();
    refuses(&ledger, &format!("has {} bytes, but {written} were written", written + 5));
    assert_eq!(fs::metadata(&path).unwrap().len(), written + 5, "it is not cut off either");
}

#[test]
fn a_file_that_is_moved_away_and_back_works_again() {
    let (directory, path) = place();
    let ledger = ledger_in(&path);
    let aside = directory.path().join("aside");
    fs::rename(&path, &aside).unwrap();
    refuses(&ledger, "was deleted");
    fs::rename(&aside, &path).unwrap();
    put(&ledger, "b", "y").unwrap();
    drop(ledger);
    assert_eq!(found(&path), model(&[("a", "x"), ("b", "y")]));
}
