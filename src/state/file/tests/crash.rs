//! Power failures, as far as they can be shown: files that end anywhere, and compactions that stop anywhere.

use super::*;

/// A ledger that has been written to, and what it held after each record.
fn history(path: &Path) -> (Vec<u8>, Vec<(usize, Model)>) {
    let ledger = FileLedger::open(path).expect("a ledger");
    let state = |ledger: &FileLedger| (fs::read(path).expect("the file").len(), entries(ledger));
    let mut states = vec![state(&ledger)];
    for (name, to) in [("a", "x"), ("b", "x"), ("a", "y"), ("\n\"ü", "z"), ("b", "z")] {
        put(&ledger, name, to).expect("a usable ledger");
        states.push(state(&ledger));
    }
    (fs::read(path).expect("the file"), states)
}

#[test]
fn a_ledger_that_ends_anywhere_gives_what_the_whole_records_say() {
    let (directory, path) = place();
    let (written, states) = history(&path);
    let cut = directory.path().join("cut");
    for len in format::HEADER.len()..=written.len() {
        fs::write(&cut, &written[..len]).unwrap();
        let (whole, expected) = states.iter().rfind(|(whole, _)| *whole <= len).unwrap();
        let ledger = FileLedger::open(&cut).unwrap();
        assert_eq!(entries(&ledger), *expected, "{len} bytes");
        assert_eq!(fs::read(&cut).unwrap(), written[..*whole], "{len} bytes");
        put(&ledger, "c", "new").unwrap();
        drop(ledger);
        let mut expected = expected.clone();
        expected.insert(key("c"), cluster("new"));
        assert_eq!(found(&cut), expected, "{len} bytes");
    }
}

/// The header comes with the file, by a rename. A part of one was therefore not left by a crash.
#[test]
fn a_part_of_a_header_is_no_ledger() {
    let (_directory, path) = place();
    for len in 1..format::HEADER.len() {
        fs::write(&path, &format::HEADER[..len]).unwrap();
        assert!(FileLedger::open(&path).unwrap_err().is_damaged(), "{len} bytes");
    }
}

/// Opens what a crash left, and checks that it is whole, tidy and can be used.
fn survives(path: &Path, expected: &Model) {
    let ledger = FileLedger::open(path).unwrap();
    assert_eq!(entries(&ledger), *expected);
    assert!(!replacement::sibling(path, ".tmp").exists());
    put(&ledger, "c", "new").unwrap();
    put(&ledger, "c", "newer").unwrap();
    drop(ledger);
    let mut expected = expected.clone();
    expected.insert(key("c"), cluster("newer"));
    assert_eq!(found(path), expected);
}

#[test]
fn a_compaction_may_stop_after_every_step() {
    for steps in 0..=4 {
        let (_directory, path) = place();
        let (written, states) = history(&path);
        let (_, expected) = states.last().unwrap();
        let (_file, contents) = load(&path).unwrap();
        compact_partly(&path, &contents.entries, steps);
        let compacted = fs::read(&path).unwrap() != written;
        assert_eq!(compacted, steps >= 3, "after {steps} steps");
        survives(&path, expected);
    }
}

/// What `Log::compact` does, no further than `steps`.
fn compact_partly(path: &Path, entries: &Entries, steps: usize) {
    if steps == 0 {
        return;
    }
    let replacement = Replacement::write(path, entries).unwrap();
    if steps >= 2 {
        replacement.sync().unwrap();
    }
    if steps >= 3 {
        replacement.publish(path).unwrap();
    }
    if steps >= 4 {
        replacement::sync_directory(path).unwrap();
    }
}

#[test]
fn a_compaction_may_stop_within_its_first_step() {
    let (_directory, path) = place();
    let (written, states) = history(&path);
    let (_, expected) = states.last().unwrap();
    let (_file, contents) = load(&path).unwrap();
    drop(Replacement::write(&path, &contents.entries).unwrap());
    let temporary = replacement::sibling(&path, ".tmp");
    let replacement = fs::read(&temporary).unwrap();
    for len in 0..=replacement.len() {
        fs::write(&temporary, &replacement[..len]).unwrap();
        let ledger = FileLedger::open(&path).unwrap();
        assert_eq!(entries(&ledger), *expected);
        drop(ledger);
        assert!(!temporary.exists());
        assert_eq!(fs::read(&path).unwrap(), written);
    }
}

#[test]
fn a_creation_may_stop_after_every_step() {
    for steps in 0..=4 {
        let (_directory, path) = place();
        compact_partly(&path, &Entries::default(), steps);
        survives(&path, &Model::new());
    }
}
