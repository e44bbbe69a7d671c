//! Files that somebody takes away or changes while they are in use.

use std::io::Write as _;
use std::os::unix::fs::symlink;

use super::*;

/// A ledger with one entry, `a` in `x`.
fn ledger_in(path: &Path) -> FileLedger {
    let ledger = FileLedger::open(path).expect("a ledger");
    put(&ledger, "a", "x").expect("a usable ledger");
    ledger
}

/// Nothing can be written, again and again, because of `what`; what is known can be read.
fn refuses(ledger: &FileLedger, what: &str) {
    for name in ["a", "b", "b"] {
        let error = put(ledger, name, "y").unwrap_err();
        let (action, reason) = (error.to_string(), error.source.to_string());
        assert!(action.contains(ledger.path.to_str().unwrap()), "{action}");
        assert!(reason.starts_with(&format!("the file {what}; ")), "{reason}");
        assert!(reason.contains("restore it from a backup and restart reviser"), "{reason}");
        assert!(reason.contains("allocations are then chosen anew"), "{reason}");
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
    // Neither what holds the same nor a link to the file is the file.
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
    let written = fs::metadata(&path).unwrap().len();
    for len in [0, written - 1] {
        File::options().write(true).open(&path).unwrap().set_len(len).unwrap();
        refuses(&ledger, &format!("has {len} bytes, but {written} were written"));
        assert_eq!(fs::metadata(&path).unwrap().len(), len);
        // As if it had been restored by writing into the file.
        let mut whole = Vec::from(format::HEADER);
        format::write_record(&mut whole, &key("a"), &cluster("x")).unwrap();
        fs::write(&path, whole).unwrap();
    }
    put(&ledger, "b", "y").unwrap();
    drop(ledger);
    assert_eq!(found(&path), model(&[("a", "x"), ("b", "y")]));
}

#[test]
fn nothing_is_written_behind_what_somebody_else_wrote() {
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

#[test]
fn a_compacted_file_is_watched_like_the_first() {
    let (directory, path) = place();
    let ledger = open_compacting(&path, 2);
    for number in 0..20 {
        put(&ledger, "a", &number.to_string()).unwrap();
    }
    put(&ledger, "a", "x").unwrap();
    // The writer compacts after it has answered; when it takes up a swap that loses, it has done so.
    let lost = block_on(ledger.compare_and_swap(&key("a"), None, None, &cluster("z"))).unwrap();
    assert_eq!(lost, Swap::Lost(Some(cluster("x"))));
    let aside = directory.path().join("aside");
    fs::rename(&path, &aside).unwrap();
    refuses(&ledger, "was deleted");
    fs::rename(&aside, &path).unwrap();
    put(&ledger, "a", "y").unwrap();
}

/// The log as it is when a compaction is due, and the entries that it has led to.
fn due(path: &Path) -> (Log, Entries) {
    let ledger = FileLedger::open(path).expect("a ledger");
    for number in 0..10 {
        put(&ledger, "a", &number.to_string()).expect("a usable ledger");
    }
    drop(ledger);
    let (file, contents) = load(path).expect("a ledger");
    let identity = Identity::of(&file).expect("a file");
    let log = Log::new(path.to_owned(), Box::new(file), identity, contents.bytes, contents.records, 2);
    (log, contents.entries)
}

#[test]
fn a_compaction_takes_the_place_of_no_other_file() {
    let (_directory, path) = place();
    let (mut log, entries) = due(&path);
    // Those of another process that has begun anew.
    let (other, temporary) = ("another ledger", replacement::sibling(&path, ".tmp"));
    fs::remove_file(&path).unwrap();
    fs::write(&path, other).unwrap();
    fs::write(&temporary, other).unwrap();
    log.compact_if_due(&entries);
    assert_eq!(fs::read_to_string(&path).unwrap(), other);
    assert_eq!(fs::read_to_string(&temporary).unwrap(), other);
}

#[test]
fn a_compaction_brings_no_deleted_file_back() {
    let (_directory, path) = place();
    let (mut log, entries) = due(&path);
    fs::remove_file(&path).unwrap();
    log.compact_if_due(&entries);
    assert!(!path.exists() && !replacement::sibling(&path, ".tmp").exists());
}

#[test]
fn a_compaction_mends_no_file_that_was_truncated() {
    let (_directory, path) = place();
    let (mut log, entries) = due(&path);
    fs::write(&path, "").unwrap();
    log.compact_if_due(&entries);
    assert_eq!(fs::read(&path).unwrap(), b"");
}

#[test]
fn a_compaction_that_is_due_takes_the_place_of_its_own_file() {
    let (_directory, path) = place();
    let (mut log, entries) = due(&path);
    log.compact_if_due(&entries);
    assert_eq!(lines(&path), 2, "so that the other tests show something");
}
